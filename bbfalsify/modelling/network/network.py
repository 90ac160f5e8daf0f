"""A resolved network of automata, and its semantics.

Readers (YAML, UPPAAL) and the builder end here; the kernel, the reference interpreter and the engines start here.
Templates are instantiated, `select` bindings and channel-array indices are expanded into separate edges, names are
slots.

State = one location per process, `integers` (int and bool slots), `reals` (double and clock slots), and the time.

Delays.  Time passes while every invariant holds.  Clocks flow at the rate their process's current location gives
(default 1; 0 is a stopwatch; any expression over continuous variables is an ODE), doubles only change by assignment.
A transition can fire after delay d when: all invariants hold throughout [0, d]; the guards of its edges hold at d; and
all invariants hold in the state entered.  No time passes in an urgent or committed location, nor while a transition on
an urgent channel is enabled; while some process is in a committed location, only transitions that leave a committed
location may fire.

Transitions.  An internal edge alone; a handshake `c!` with one `c?` of another process; a broadcast `c!` together with
one enabled `c?` edge of every other process that has one (a process with none stays).  All guards are evaluated before
any update; then the sender's branch and updates, then each receiver's in the order of the processes.

Branches.  Where an edge has several, one is drawn in proportion to the weights (evaluated before the updates).

Several receiving edges.  One of the enabled edges of each process is drawn.

What is drawn must be possible to enter.  Each choice of receiving edges with which all invariants hold is a transition:
with every branch of positive weight; in UPPAAL's dialect each branch by itself is one.  Draws are among the choices
that remain, in the same proportions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product, repeat

from bbfalsify.modelling.network.expressions import Expression, Function, Kind, Statement

HIDDEN = "select "
"""Begins the names of variables that only stand for a selected value during a transition."""


@dataclass(frozen=True)
class Variable:
    """A scalar or an array of consecutive slots of the integer or of the real store."""

    name: str
    """The name in the model; a local one is "Process.name"."""
    kind: Kind
    slot: int
    size: int = 1
    dimensions: tuple[int, ...] = ()
    low: int = -(2**31) + 1
    high: int = 2**31 - 1
    initial: tuple[object, ...] = (0,)
    """One int or Fraction per slot."""
    origins: tuple[int, ...] = ()
    """Lowest index in each dimension; empty: all 0."""

    def element_names(self) -> list[str]:
        """The name of each slot: "x", or "a[0][1]"."""
        ranges = [range(low, low + n) for n, low in zip(self.dimensions, self.origins or repeat(0), strict=False)]
        return [self.name + "".join(f"[{i}]" for i in indices) for indices in product(*ranges)]


@dataclass(frozen=True)
class Channel:
    name: str
    broadcast: bool = False
    urgent: bool = False


@dataclass(frozen=True)
class Rate:
    """The rate of a clock while the process is in a location: clock' == expression."""

    slot: int
    """Slot of the clock in the real store."""
    expression: Expression


@dataclass(frozen=True)
class Location:
    name: str
    invariant: Expression | None = None
    rates: tuple[Rate, ...] = ()
    exponential_rate: Expression | None = None
    """Used if no invariant bounds the stay; None: rate 1."""
    urgent: bool = False
    committed: bool = False
    cost_rate: Expression | None = None
    line: int | None = None


@dataclass(frozen=True)
class Branch:
    target: int
    updates: tuple[Statement, ...] = ()
    frame_size: int = 0
    """Frame slots the updates use (quantifiers)."""
    weight: Expression | None = None
    """None: weight 1."""


@dataclass(frozen=True)
class Edge:
    source: int
    branches: tuple[Branch, ...]
    guard: Expression | None = None
    guard_frame_size: int = 0
    channel: int | None = None
    sends: bool = False
    """With a channel: True for `c!`, False for `c?`.  An edge without a channel is internal."""
    action: str = ""
    """The label in words: the channel of an output, else the edge's name, else "Source->Target"."""
    weight: Expression | None = None
    """Weight in the choice among the enabled output edges of the winning component; None: 1."""
    cost: Expression | None = None
    line: int | None = None

    @property
    def is_output(self) -> bool:
        """Tell whether the component itself decides when it fires: the edge is internal or sends."""
        return self.channel is None or self.sends


@dataclass(frozen=True)
class Process:
    name: str
    locations: tuple[Location, ...]
    initial: int
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Network:
    name: str
    variables: tuple[Variable, ...]
    channels: tuple[Channel, ...]
    functions: tuple[Function, ...]
    processes: tuple[Process, ...]
    integer_count: int
    real_count: int
    file: str | None = field(default=None, compare=False)
    largest_constant: int = 0
    """Largest constant that a clock is compared with; an unbounded window is cut one after its start plus this."""
    ode_step: float | None = None
    """Step for ODEs without a plain solution and for the scan of guards; None: the default."""
    scope: object | None = field(default=None, compare=False, repr=False)
    """The scope of the model's text (constants, types, functions), for queries and inputs."""
    as_uppaal: bool = field(default=False, compare=False)
    """True: queries and inputs may mix ints and bools, and a transition needs one branch that can be entered."""

    def variable(self, name: str) -> Variable:
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise KeyError(name)

    @property
    def actions(self) -> tuple[str, ...]:
        """All labels of output edges, each once, in the order of first appearance."""
        return tuple(dict.fromkeys(e.action for p in self.processes for e in p.edges if e.is_output))

    def initial_integers(self) -> list[int]:
        return self._initial(real=False, count=self.integer_count)

    def initial_reals(self) -> list:
        return self._initial(real=True, count=self.real_count)

    def _initial(self, *, real: bool, count: int) -> list:
        values: list = [0] * count
        for v in self.variables:
            if v.kind.is_real == real:
                values[v.slot : v.slot + v.size] = v.initial
        return values
