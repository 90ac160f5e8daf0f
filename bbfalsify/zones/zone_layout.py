"""Names of the places in the arrays of the zone graph; the header file of its compiled modules.

    Z  int32    tables: conditions split into data and clocks, largest constants, places in the arrays below
    D  int32    matrices to work with, each n × n: M_STATE and so on number them
    W  int64    work space: values of clocks after an update, bounds, choices
    found       successors, one record after the other

A *row* is the discrete part of a state: locations, then the integers that something writes.  The places in the arrays
of the kernel come with them.
"""

from __future__ import annotations

from bbfalsify.kernel.layout import *

# --- header of Z -----------------------------------------------------------------------------------------------------
(
    Z_CLOCKS,  # n: clocks that something compares, and the constant 0
    Z_WIDTH,  # length of a row
    Z_INTEGERS,  # list: slots of the integers in a row
    Z_INTEGER_COUNT,
    Z_CLOCK_OF_SLOT,  # list: clock of each real slot, −1 if nothing compares it
    Z_SLOT_OF_CLOCK,  # list: slot of clocks 1 … n − 1
    Z_SCALE,  # constants are multiplied by this, so that all are integers
    Z_GUARDS,  # list: condition of each edge
    Z_REFUSALS,  # list: condition "the guard does not hold" of each edge that receives broadcasts, −1 elsewhere
    Z_INVARIANTS,  # list: condition of each location, −1 for none
    Z_BOUNDS,  # list: per location the place of [number, (clock, lower, upper)…]
    Z_EXTRAPOLATION,
    Z_ALIVE,  # condition: the target, in states from which something can fire; −1: never
    Z_DEAD,  # the target in deadlocks; −1: never
    Z_DEADLOCKS,  # 1 if the two differ
    Z_KEPT,  # condition that a run must keep, −1 for none
    Z_RECORD,  # length of a record of `found`
    Z_MOVES,  # in a record: place of the moves
    Z_DETAILS,  # in a record: place of the details
    # places in W
    Z_PASSES,  # 1 if time may pass in the state entered last
    Z_SOURCES,
    Z_SHIFTS,
    Z_LOWER,
    Z_UPPER,
    Z_ATOMS,
    Z_PARTIES,
    Z_OPTIONS,
    Z_CELLS,
    Z_PIECES,  # most pieces of a state that is cut
    Z_LEAST,  # bounds that hold in all locations: places of the query's constants
    Z_TIME,  # clock that measures the time, 0 for none
    Z_STOPWATCHES,  # 1 if clocks may stop
    Z_RATES,  # list: per location the place of [number, (clock, rate)…]; rates: RATE_ZERO, RATE_ONE, or a code
    Z_STOPPED,  # place in W: 1 for each clock that stops in the state entered last
    Z_MEASURED,  # list: number, then atoms: left − right + bound is an expression of which the largest value is asked
    Z_SIZE,
) = range(36)

NO_EXTRAPOLATION, LOWER_UPPER, MAXIMUM = range(3)

RATE_ZERO, RATE_ONE = -1, -2

# --- conditions: [number of cases, cases …] ---------------------------------------------------------------------------
(CASE_INTEGERS, CASE_INTEGER_COUNT, CASE_CODE, CASE_ATOMS, CASE_ATOM_COUNT, CASE_WIDTH) = range(6)
(I_SLOT, I_OPERATOR, I_VALUE, INTEGER_WIDTH) = range(4)
(ZA_LEFT, ZA_LEFT_CODE, ZA_LEFT_SIZE, ZA_RIGHT, ZA_RIGHT_CODE, ZA_RIGHT_SIZE, ZA_SOURCE, ZA_VALUE, ZA_STRICT,
 ZONE_ATOM_WIDTH) = range(10)  # fmt: skip
FROM_CONSTANT, FROM_SLOT, FROM_NEGATED_SLOT, FROM_CODE = range(4)
"""Sources of the value of a bound."""

# --- matrices in D ---------------------------------------------------------------------------------------------------
(M_STATE, M_CELL, M_FIRED, M_NEXT, M_SPARE, M_WHOLE, M_PIECES) = range(7)

# --- details in a record: matrix of the firing states, of the states entered, clocks' sources, shifts, which stop ---

# --- outcomes of compiled functions, all negative: successors are counted by numbers from 0 on ------------------------
(NO_ROOM, FAILED, CLOCKED_URGENCY, SPLIT_INVARIANT, BAD_CLOCK, TOO_MANY_PIECES, BAD_BOUND, WIDE_INTEGER, BAD_RATE,
 WIDE_BOUND) = (-1, -2, -3, -4, -5, -6, -7, -8, -9, -10)  # fmt: skip

MARK = float(1 << 34)
"""While updates run, clock i has the value i · MARK: what they assign tells which clock was copied."""

# --- the passed list: lines of nodes, counters of progress ------------------------------------------------------------
(N_ROW, N_PARENT, N_CHOICE, N_NEXT, N_MATRIX, N_DEPTH, N_FLAGS, NODE_WIDTH) = range(8)
COVERED, EXPANDED = 1, 2
"""Flags of nodes: covered by a larger one; successors are known."""

(
    P_NODES,
    P_ROWS,
    P_MATRICES,
    P_FREE,  # first free matrix, −1 for none; stored[free, 0] is the next
    P_NEXT,  # breadth first: the next node; depth first: size of the stack in `waiting`
    P_VISITED,
    P_TRANSITIONS,
    P_COVERED,
    P_DEPTH,
    P_MET,  # node that met the target
    P_KIND,  # how a run lasts there: LASTS_WAITING, LASTS_STUCK
    P_LINKS,
    P_RANDOM,
    P_LATEST,  # in the order of time: key of the earliest target so far, or NEVER
    P_SIZE,
) = range(15)
NEVER = 1 << 40

INCLUSION, EQUALITY = 0, 1

# --- waiting nodes, and how an exploration ended ----------------------------------------------------------------------
BREADTH, DEPTH, RANDOM_DEPTH, EARLIEST = range(4)
DONE, PAUSED, MET = range(3)
