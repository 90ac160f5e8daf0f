"""Names of the places in the five flat arrays on which the kernel works; the header file of all compiled modules.

    T  int32    the model: header, tables of locations, edges, branches, atoms, lists, and all bytecode
    F  float64  the model's real constants
    S  int64    one walker: integers, locations, candidate lists, tournament tree, integer stack and frame
    X  float64  one walker: clocks (value, since, rate), deadlines, window buffer, real stack and frame, ODE grid
    R  uint64   one walker: the random stream

The arrays are few and flat, because a compiled call passes each of them as seven words.  The constants below are
compiled into the code; sizes that depend on the model are in the header of T.
"""

from __future__ import annotations

# --- header of T: sizes and offsets ----------------------------------------------------------------------------------
(
    H_PROCESSES,
    H_INTEGERS,
    H_REALS,
    H_EDGES,
    H_LOCATION_TABLE,
    H_EDGE_TABLE,
    H_BRANCH_TABLE,
    H_FUNCTION_TABLE,
    H_FIRST_LOCATION,  # list: global number of each process's first location
    H_GROUPS,  # number of candidate groups
    H_GROUP_START,  # list: where each group's members start
    H_KEYS,  # number of indexed integer slots
    H_KEY_TABLE,
    H_HANDSHAKES,  # number of handshake groups
    H_HANDSHAKE_TABLE,  # (group, partners of each member, 1 if the members send)
    H_HUBS,  # number of rows of the next table
    H_HUB_TABLE,  # handshakes whose partners are all in one process (see HUB_…)
    H_BROADCAST_TABLE,  # per channel: offset and length of the list of processes that have a receiving edge
    H_CLOCK_TABLE,
    H_FLAGS,
    H_DEFAULT_RATE,  # code of the rate 1
    H_URGENT_EDGES,  # offset and length: edges that send on an urgent channel
    H_URGENT_COUNT,
    H_URGENT_PLACES,  # process, location, first and number of the edges above, index (see PLACE_…)
    H_URGENT_PLACE_COUNT,
    H_ODE_SLOTS,  # clocks whose ODE is integrated
    H_ODE_COUNT,
    H_SOLVED_SLOTS,  # clocks whose ODE y' = a·y + b is solved; this list continues the one before
    H_SOLVED_COUNT,
    H_NUMERIC_PROCESSES,  # processes that have some invariant that needs numeric scanning
    H_NUMERIC_COUNT,
    H_TREE_LEAVES,
    H_RATED_SLOTS,  # clocks some location gives a rate
    H_RATED_COUNT,
    H_RATE_READS,  # integers that rates read (see READ_…); the number is −1 if rates read anything else
    H_RATE_READ_COUNT,
    # offsets into S
    H_S_LOCATIONS,
    H_S_SCRATCH_INTEGERS,
    H_S_SCRATCH_LOCATIONS,
    H_S_GROUP_COUNT,
    H_S_GROUP_MEMBERS,
    H_S_EDGE_POSITION,
    H_S_TREE,
    H_S_STACK,
    H_S_FRAME,
    H_S_RATE_CODE,
    H_S_RATE_VALUES,  # values of those integers when rates were refreshed last
    H_S_MOVES,
    H_S_CHOICE,
    H_S_COMMITTED,  # processes in a committed location, as many as S_COMMITTED says
    H_S_COMMITTED_PLACE,  # per process its place in that list
    H_S_UNLISTED,  # per process 1 if it is in a committed location whose edges are in no group yet
    H_S_ASLEEP,  # edges that clocks do not allow yet, as many as S_ASLEEP says; they are in no group
    H_S_ASLEEP_PLACE,  # per edge its place in that list, if it is there
    H_S_SIZE,
    # offsets into X
    H_X_SCRATCH_CLOCKS,
    H_X_VALUES,
    H_X_DEADLINE,
    H_X_EARLIEST,  # per edge a moment before which its clocks do not allow it, −inf if none is known
    H_X_STACK,
    H_X_FRAME,
    H_X_WINDOWS,
    H_X_PIECES,
    H_X_RACERS,
    H_X_RACE_WINDOWS,
    H_X_RACE_POINTS,
    H_X_ODE_WORK,
    H_X_SOLVED,  # a and b of each
    H_X_GRID,
    H_X_SIZE,
    HEADER_SIZE,
) = range(71)

FLAG_RATES = 1  # some location gives a rate
FLAG_CHOICES = 2  # what is drawn may be impossible to enter while something else is not
FLAG_ANY_BRANCH = 4  # UPPAAL's dialect: a transition needs one branch that can be entered, else all
FLAG_TIMED_WEIGHTS = 8  # the weight of some edge reads a clock

# --- fixed places in S and X -----------------------------------------------------------------------------------------
(S_ERROR, S_SITE, S_ERROR_VALUE, S_COMMITTED, S_URGENT, S_INTEGER_BASE, S_LOCATION_BASE, S_CLOCK_BASE, S_TAINT, S_GRID,
 S_SCANNED, S_NATIVE, S_LOOPS, S_ASLEEP, S_LAZY, S_HURRIED, S_FIXED) = range(17)  # fmt: skip
INTEGERS = S_FIXED  # the integers of the state start here
(X_NOW, X_BREAKPOINT, X_LARGEST, X_ODE_STEP, X_DEADLINE, X_WAKE, X_FIXED) = range(7)
CLOCKS = X_FIXED  # the reals of the state start here: value, since, rate of each

# --- rows of the tables ----------------------------------------------------------------------------------------------
(L_FLAGS, L_ATOMS, L_ATOM_COUNT, L_TIMED, L_NUMERIC, L_INVARIANT, L_RATES, L_RATE_COUNT, L_EXPONENTIAL, L_EDGES,
 L_OUTPUTS, L_INPUTS, L_CLOCKED, L_CLOCKED_COUNT, L_LISTED, L_LISTED_COUNT, L_FAMILY, L_HEARD,
 LOCATION_WIDTH) = range(19)  # fmt: skip
# hears: has a receiving edge of a broadcast; hurries: has a sending edge on an urgent channel
LOCATION_URGENT, LOCATION_COMMITTED, LOCATION_HEARS, LOCATION_HURRIES = 1, 2, 4, 8
HEARD_BITS = 30  # L_HEARD has bit c mod this for each channel c on which the location receives

(E_PROCESS, E_SOURCE, E_INTEGER_ATOMS, E_INTEGER_COUNT, E_CLOCK_ATOMS, E_CLOCK_COUNT, E_DISCRETE, E_TIMED, E_NUMERIC,
 E_GUARD, E_BRANCHES, E_BRANCH_COUNT, E_CHANNEL, E_KIND, E_GROUP, E_ACTION, E_WEIGHT, E_ENTRY, E_PARTNERS,
 E_PARTNER_COUNT, E_COPIED, EDGE_WIDTH) = range(22)  # fmt: skip
KIND_INTERNAL, KIND_HANDSHAKE_SEND, KIND_HANDSHAKE_RECEIVE, KIND_BROADCAST_SEND, KIND_BROADCAST_RECEIVE = range(5)
ENTRY_FREE, ENTRY_AFFINE, ENTRY_NUMERIC = 0, 1, 2

(B_TARGET, B_FAST, B_FAST_COUNT, B_CODE, B_WEIGHT, B_REFRESH, B_REFRESH_COUNT, B_RATES_CHANGE,
 B_PROCESS, B_EARLIEST, B_EARLIEST_COUNT, B_RATED, B_RATED_COUNT, BRANCH_WIDTH) = range(14)  # fmt: skip

(A_SLOT, A_OPERATOR, A_SOURCE, A_BOUND, ATOM_WIDTH) = range(5)
BOUND_CONSTANT, BOUND_INTEGER, BOUND_CODE = 0, 1, 2
LESS, LESS_EQUAL, GREATER_EQUAL, GREATER, EQUAL, NOT_EQUAL = range(6)

(U_OPERATION, U_SLOT, U_VALUE, U_LOW, U_HIGH, U_SITE, UPDATE_WIDTH) = range(7)
UPDATE_INTEGER, UPDATE_REAL, UPDATE_ADD = range(3)

(RATE_SLOT, RATE_CODE, RATE_CONSTANT, RATE_WIDTH) = range(4)
# clocks to look at whenever the integer changes; those whose rate is special at a value low … high: first of each value
(READ_SLOT, READ_CLOCKS, READ_CLOCK_COUNT, READ_LOW, READ_HIGH, READ_STARTS, READ_WIDTH) = range(7)
(RATER_PROCESS, RATER_ROWS, RATER_WIDTH) = range(3)  # row of the rate per location of the process, −1 for none
HANDSHAKE_WIDTH = 3
# partners in this location of this process, if an integer (slot, −1: none) is in low … high: group of each value
(HUB_PROCESS, HUB_LOCATION, HUB_SLOT, HUB_LOW, HUB_HIGH, HUB_GROUPS, HUB_SENDS, HUB_WIDTH) = range(8)
# edges of a location whose guards compare one expression with a constant: its code, constants low … high, the first
# edge of each value, the number of other edges; then all edges, those others first
(FAMILY_CODE, FAMILY_LOW, FAMILY_HIGH, FAMILY_STARTS, FAMILY_OTHERS, FAMILY_EDGES) = range(6)
# edges of an urgent place that compare one integer (slot, −1: none) with low … high: first edge of each value
(PLACE_PROCESS, PLACE_LOCATION, PLACE_FIRST, PLACE_COUNT, PLACE_SLOT, PLACE_LOW, PLACE_HIGH, PLACE_STARTS,
 PLACE_WIDTH) = range(9)  # fmt: skip
(KEY_SLOT, KEY_LOW, KEY_HIGH, KEY_GROUPS, KEY_WIDTH) = range(5)  # the first four as from HUB_SLOT on
# per real slot: processes whose invariants read it; that may give it a rate; whose guards compare it
(C_READERS, C_READER_COUNT, C_RATERS, C_RATER_COUNT, C_IS_ODE, C_DEFAULT, C_GUARDED, C_GUARDED_COUNT,
 CLOCK_WIDTH) = range(9)  # fmt: skip
(FUNCTION_START, FUNCTION_FRAME, FUNCTION_WIDTH) = range(3)

# per component in a race (`race_law`), in X; its windows are rows of low, strict, high, strict, edge, weight
(RACE_FIRST, RACE_WINDOWS, RACE_BOUND, RACE_RATE, RACE_MOMENT, RACE_POINT, RACE_SHARE, RACE_WIDTH) = range(8)
RACE_WINDOW_WIDTH = 6

STACK_SIZE = 512
FRAME_SIZE = 4096
TOP_FRAME = 256  # frame slots of code outside functions
CALL_DEPTH = 64
MAXIMUM_WINDOWS = 512  # intervals of all edges of one process, or of one transition
MAXIMUM_BREAKPOINTS = 4096
LOOP_LIMIT = 1_000_000
GRID_ROWS = 65_536

# --- modes in which the interpreter reads reals ----------------------------------------------------------------------
MODE_AT, MODE_AFTER, MODE_FROZEN, MODE_NUMERIC = range(4)

(ERROR_NONE, ERROR_RANGE, ERROR_INDEX, ERROR_DIVISION, ERROR_LOOP, ERROR_CALLS, ERROR_DOMAIN, ERROR_WEIGHT,
 ERROR_AFFINE, ERROR_WINDOWS, ERROR_RATE) = range(11)  # fmt: skip

# --- how a walk ends --------------------------------------------------------------------------------------------------
REACHED_END, DEADLOCK, TIMELOCK, STEP_LIMIT, RUNTIME_ERROR = range(1, 6)
