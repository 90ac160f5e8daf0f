"""Pack a network into the tables of `layout`, in milliseconds and without compiling machine code.

Guards are split: comparisons `integer ⋈ constant` and `clock ⋈ bound` become *atoms* that are decided without the
interpreter, the rest becomes bytecode, sorted by its kind of change during a delay.  Updates `x = 0`, `v = 3`, `v++`
become fast rows.  Read and write sets give the dependency index: which deadlines a branch may change, and which edges
must check the invariants of the state they enter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.kernel import layout as at
from bbfalsify.kernel.analysis import (
    Analysis,
    Flow,
    Place,
    certainly_true,
    conjunction,
    conjuncts,
    implies,
    plain_assignments,
    substituted,
)
from bbfalsify.kernel.candidate_groups import Groups, candidate_groups
from bbfalsify.kernel.expression_compiler import COMPARISONS, Code, Compiler
from bbfalsify.kernel.guard_tables import GuardTables
from bbfalsify.modelling.network.expressions import Assign, Binary, Constant, Expression, Kind, Read, Statement, Unary
from bbfalsify.modelling.network.network import Branch, Edge, Location, Network

DEFAULT_ODE_STEP = 1.0 / 64.0
_MIRRORED = {"<": ">", "<=": ">=", ">=": "<=", ">": "<", "==": "==", "!=": "!="}


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """A network packed for the kernel."""

    network: Network
    actions: tuple[str, ...]
    edge_action: np.ndarray
    """Global edge number → index in `actions`, −1 for receiving edges."""
    ode_step: float
    T: np.ndarray
    F: np.ndarray
    sites: tuple[str, ...]
    first_edge: tuple[int, ...]
    compiler: Compiler
    analysis: Analysis
    codes: tuple[Code, ...]
    """All code in T that can become machine code."""

    def edge(self, number: int) -> tuple[int, Edge]:
        """Process index and edge of a global edge number."""
        process = int(self.T[self.T[at.H_EDGE_TABLE] + at.EDGE_WIDTH * number + at.E_PROCESS])
        return process, self.network.processes[process].edges[number - self.first_edge[process]]

    def digest(self) -> str:
        """SHA-256 of the packed tables, equal for models with the same walks for the same seed."""
        return hashlib.sha256(self.T.tobytes() + self.F.tobytes() + repr(self.actions).encode()).hexdigest()

    def edge_number(self, process: int, edge: int) -> int:
        return self.first_edge[process] + edge

    def edge_text(self, number: int) -> str:
        process, edge = self.edge(number)
        return _edge_text(self.network, process, edge)


def compile_network(network: Network, *, ode_step: float | None = None) -> CompiledModel:
    """Pack a network; `ode_step` overrides the step of the model."""
    if ode_step is None:
        ode_step = DEFAULT_ODE_STEP if network.ode_step is None else network.ode_step
    if not ode_step > 0:
        raise UserError(f"ode_step is {ode_step}; it must be positive.")
    return _Packer(network, ode_step).pack()


def _edge_text(network: Network, process: int, edge: Edge) -> str:
    p = network.processes[process]
    target = " | ".join(p.locations[b.target].name for b in edge.branches)
    line = f" (line {edge.line})" if edge.line else ""
    return f"edge {p.name}: {p.locations[edge.source].name} -> {target} '{edge.action}'{line}"


def _constant_value(e: Expression) -> Fraction | int | None:
    """Value of an expression of constants, or None."""
    if isinstance(e, Constant):
        return e.value
    if isinstance(e, Unary) and e.operator == "-" and isinstance(e.operand, Constant):
        return -e.operand.value
    return None


def _slot_of(e: Expression) -> int | None:
    """Slot of a scalar or of an element with a constant index inside the bounds."""
    if not isinstance(e, Read):
        return None
    if e.index is None:
        return e.slot
    index = _constant_value(e.index)
    return e.slot + int(index) if index is not None and 0 <= index < e.size else None


def integer_atom(e: Expression) -> list[int] | None:
    """Row of `integer ⋈ constant`, None for anything else."""
    negated = isinstance(e, Unary) and e.operator == "!"
    read = e.operand if isinstance(e, Unary) and negated else e
    if read.kind == Kind.BOOL and (slot := _slot_of(read)) is not None:
        return [slot, at.EQUAL if negated else at.NOT_EQUAL, at.BOUND_CONSTANT, 0]
    if not isinstance(e, Binary) or e.operator not in COMPARISONS:
        return None
    for left, right, operator in ((e.left, e.right, e.operator), (e.right, e.left, _MIRRORED[e.operator])):
        slot, value = _slot_of(left), _constant_value(right)
        if slot is None or value is None or left.kind.is_real or right.kind.is_real:
            continue
        if abs(int(value)) < 2**31:
            return [slot, COMPARISONS[operator], at.BOUND_CONSTANT, int(value)]
    return None


class _Pool:
    """Header of T, and the rows and lists behind the code."""

    def __init__(self, offset: int) -> None:
        self.header = np.zeros(at.HEADER_SIZE, np.int64)
        self.offset = offset
        self.words: list[int] = []

    def add(self, words: Iterable[int]) -> int:
        place = self.offset + len(self.words)
        self.words.extend(int(w) for w in words)
        return place

    def add_rows(self, rows: Iterable[Iterable[int]]) -> int:
        return self.add(word for row in rows for word in row)

    def add_list(self, place: int, count: int, words: list[int]) -> None:
        """Add a list whose place and length are in the header."""
        self.header[place], self.header[count] = self.add(words), len(words)


@dataclass
class _Split:
    """The parts of a guard or invariant."""

    integer_atoms: list[list[int]]
    clock_atoms: list[list[int]]
    discrete: int = -1
    timed: int = -1
    numeric: int = -1
    whole: int = -1


class _Packer:
    def __init__(self, network: Network, ode_step: float) -> None:
        self.network = network
        self.ode_step = ode_step
        self.analysis = Analysis(network)
        self.compiler = Compiler(network)
        self.flags = 0
        self.first_edge: list[int] = []
        total = 0
        for p in network.processes:
            self.first_edge.append(total)
            total += len(p.edges)
        self.edges = [(p, edge) for p, process in enumerate(network.processes) for edge in process.edges]
        self.locations = [(p, loc) for p, process in enumerate(network.processes) for loc in process.locations]
        self.actions = network.actions
        self.invariant_readers = self._invariant_readers()
        self.guard_tables = GuardTables(self.analysis)
        self.clock_guards: dict[Place, set[int]] = {}

    def _invariant_readers(self) -> dict[Place, set[int]]:
        """Map each place to the processes that have an invariant reading it."""
        readers: dict[Place, set[int]] = {}
        for p, location in self.locations:
            for place in self.analysis.expression(location.invariant).reads:
                readers.setdefault(place, set()).add(p)
        return readers

    def _clock_guards(self, guards: list[_Split]) -> dict[Place, set[int]]:
        """Map each clock, and each integer that bounds one, to the processes with such an atom in a guard."""
        readers: dict[Place, set[int]] = {}
        for (p, _), split in zip(self.edges, guards, strict=True):
            for slot, _, source, bound in split.clock_atoms:
                readers.setdefault(("r", slot), set()).add(p)
                if source == at.BOUND_INTEGER:
                    readers.setdefault(("i", bound), set()).add(p)
        return readers

    # --- parts -------------------------------------------------------------------------------------------------------

    def _clock_atom(self, e: Expression) -> list[int] | None:
        if not isinstance(e, Binary) or e.operator not in COMPARISONS or e.operator == "!=":
            return None
        for left, right, operator in ((e.left, e.right, e.operator), (e.right, e.left, _MIRRORED[e.operator])):
            slot = _slot_of(left)
            if slot is None or left.kind != Kind.CLOCK or slot in self.analysis.ode_slots:
                continue
            value = _constant_value(right)
            if value is not None:
                return [slot, COMPARISONS[operator], at.BOUND_CONSTANT, self.compiler.constant(value)]
            bound = _slot_of(right)
            if bound is not None and not right.kind.is_real:
                return [slot, COMPARISONS[operator], at.BOUND_INTEGER, bound]
        return None

    def _split(self, e: Expression | None, place: str, *, integers: bool) -> _Split:
        result = _Split([], [])
        discrete: list[Expression] = []
        timed: list[Expression] = []
        worst = Flow.DISCRETE
        parts = [simple for given in conjuncts(e) for simple in self._simplified(given, integers)]
        for part in parts:
            if isinstance(part, Constant) and part.value != 0:
                continue
            atom = integer_atom(part) if integers else None
            if atom is not None:
                result.integer_atoms.append(atom)
                continue
            atom = self._clock_atom(part)
            if atom is not None:
                result.clock_atoms.append(atom)
                continue
            flow = self.analysis.flow(part)
            # A part that may fail behind a condition on time must not be evaluated before that condition holds.
            guarded = bool(timed or result.clock_atoms) and self.analysis.expression(part).may_fail
            if flow == Flow.DISCRETE and integers and not guarded:
                discrete.append(part)
            else:
                timed.append(part)
                worst = max(worst, flow)
        if discrete:
            result.discrete = self.compiler.condition(conjunction(discrete), place)
        if timed:
            code = self.compiler.condition(conjunction(timed), place)
            if worst == Flow.NUMERIC:
                result.numeric = code
                self.flags |= at.FLAG_NUMERIC
            else:
                result.timed = code
        if e is not None and conjuncts(e):
            result.whole = self.compiler.condition(e, place)
        return result

    def _simplified(self, part: Expression, integers: bool) -> list[Expression]:
        if integer_atom(part) is not None or self._clock_atom(part) is not None:
            return [part]
        return self.guard_tables.simplified(part) if integers else [part]

    def _fast_updates(self, statements: tuple[Statement, ...]) -> list[list[int]] | None:
        """Make rows for updates that are all of the common shapes, or return None."""
        rows = []
        for s in statements:
            if not isinstance(s, Assign) or not isinstance(s.target, Read) or (slot := _slot_of(s.target)) is None:
                return None
            value = _constant_value(s.value)
            low, high = (-(2**31) + 1, 2**31 - 1) if s.low is None or s.high is None else (s.low, s.high)
            site = self.compiler.site(f"variable '{self._name(s.target)}' with range [{low}, {high}]", s.line)
            if s.target.kind.is_real:
                if value is None:
                    return None
                rows.append([at.UPDATE_REAL, slot, self.compiler.constant(value), 0, 0, site])
            elif value is not None and s.value.kind in (Kind.INT, Kind.BOOL) and low <= value <= high:
                stored = int(value != 0) if s.target.kind == Kind.BOOL else int(value)
                rows.append([at.UPDATE_INTEGER, slot, stored, low, high, site])
            elif s.target.kind == Kind.INT and isinstance(s.value, Binary) and s.value.operator in ("+", "-"):
                step = _constant_value(s.value.right)
                if step is None or _slot_of(s.value.left) != slot or s.value.left.kind != Kind.INT:
                    return None
                if s.value.right.kind != Kind.INT or abs(int(step)) >= 2**31:
                    return None
                rows.append([at.UPDATE_ADD, slot, int(step if s.value.operator == "+" else -step), low, high, site])
            else:
                return None
        return rows

    def _name(self, target: Read) -> str:
        for v in self.network.variables:
            if v.kind.is_real == target.kind.is_real and v.slot <= target.slot < v.slot + v.size:
                return v.name
        return f"slot {target.slot}"

    # --- the state entered -------------------------------------------------------------------------------------------

    def _writes(self, process: int, branch: Branch) -> frozenset[Place]:
        return self.analysis.statements(branch.updates).writes | {("l", process)}

    def _refreshed(self, process: int, branch: Branch) -> list[int]:
        """Find other processes with an invariant that reads what the branch writes."""
        return sorted(self._read_by(self.invariant_readers, process, branch) - {process})

    def _read_by(self, readers: dict[Place, set[int]], process: int, branch: Branch) -> set[int]:
        return set().union(*(readers.get(place, ()) for place in self._writes(process, branch)))

    def _entry(self, process: int, source: Location, branch: Branch) -> int:
        """Find out whether and how firing must check the invariants of the state entered."""
        writes = self._writes(process, branch)
        values = plain_assignments(self.analysis, branch.updates)
        target = self.network.processes[process].locations[branch.target]
        kept = conjuncts(source.invariant)

        def free(part: Expression, known: list[Expression]) -> bool:
            if not self.analysis.expression(part).reads & writes:
                return part in known or any(implies(other, part) for other in known)
            after = substituted(part, values)
            return after is not None and certainly_true(after)

        checked = [part for part in conjuncts(target.invariant) if not free(part, kept)]
        relevant = [target.invariant]
        for q in self._refreshed(process, branch):
            for location in self.network.processes[q].locations:
                parts = conjuncts(location.invariant)
                checked += [part for part in parts if not free(part, parts)]
                relevant.append(location.invariant)
        if not checked:
            return at.ENTRY_FREE
        worst = self.analysis.flow_of_statements(branch.updates)
        for invariant in relevant:
            if invariant is not None:
                worst = max(worst, self.analysis.flow(invariant))
        if worst == Flow.NUMERIC:
            self.flags |= at.FLAG_NUMERIC
            return at.ENTRY_NUMERIC
        return at.ENTRY_AFFINE

    # --- packing -----------------------------------------------------------------------------------------------------

    def pack(self) -> CompiledModel:
        network, compiler = self.network, self.compiler
        compiler.site("(unknown place)")
        one = compiler.number(Constant(1, Kind.INT), "")
        functions = [[compiler.function(f), f.frame_size] for f in network.functions]
        invariants = [
            self._split(loc.invariant, self._location_text(p, loc), integers=False) for p, loc in self.locations
        ]
        guards = [
            self._split(edge.guard, f"guard of {_edge_text(network, p, edge)}", integers=True) for p, edge in self.edges
        ]
        self.clock_guards = self._clock_guards(guards)
        rates = [
            [[r.slot, self._rate_code(p, loc, r.expression), compiler.constant(self._constant_rate(r.expression))]
             for r in loc.rates]
            for p, loc in self.locations
        ]  # fmt: skip
        exponentials = [
            -1 if loc.exponential_rate is None else compiler.number(loc.exponential_rate, self._location_text(p, loc))
            for p, loc in self.locations
        ]
        weights = [
            -1 if edge.weight is None else compiler.number(edge.weight, f"weight of {_edge_text(network, p, edge)}")
            for p, edge in self.edges
        ]
        branch_code = []
        for p, edge in self.edges:
            place = compiler.place = f"update of {_edge_text(network, p, edge)}"
            branch_code.append([
                (self._fast_updates(b.updates),
                 compiler.updates(b.updates, b.frame_size, place) if b.updates else -1,
                 -1 if b.weight is None else compiler.number(b.weight, place))
                for b in edge.branches
            ])  # fmt: skip
        if any(rates):
            self.flags |= at.FLAG_RATES
        if self.analysis.ode_slots:
            self.flags |= at.FLAG_ODE
        if any(e.is_output and self.analysis.expression(e.weight).reads & self.analysis.clocks for _, e in self.edges):
            self.flags |= at.FLAG_TIMED_WEIGHTS

        pool = _Pool(at.HEADER_SIZE + len(compiler.code))
        header = pool.header
        header[at.H_PROCESSES] = len(network.processes)
        header[at.H_INTEGERS] = network.integer_count
        header[at.H_REALS] = network.real_count
        header[at.H_EDGES] = len(self.edges)
        header[at.H_FIRST_LOCATION] = pool.add(compiler.first_location)
        header[at.H_FUNCTION_TABLE] = pool.add_rows(functions)
        header[at.H_FLAGS] = self.flags
        header[at.H_DEFAULT_RATE] = one
        groups = self._pack_groups(pool, guards)
        self._pack_locations(pool, invariants, guards, groups, rates, exponentials)
        self._pack_edges(pool, guards, weights, branch_code, groups)
        self._pack_channels(pool)
        self._pack_clocks(pool, rates)
        self._layout_walker(header, sum(groups.sizes))
        table = np.concatenate([header, np.array(compiler.code, np.int64), np.array(pool.words, np.int64)])
        action_index = {a: i for i, a in enumerate(self.actions)}
        return CompiledModel(
            network=network,
            actions=self.actions,
            edge_action=np.array([action_index[e.action] if e.is_output else -1 for _, e in self.edges], np.int32),
            ode_step=self.ode_step,
            T=table.astype(np.int32),
            F=np.array(compiler.constants or [0.0], np.float64),
            sites=tuple(compiler.sites),
            first_edge=tuple(self.first_edge),
            compiler=compiler,
            analysis=self.analysis,
            codes=tuple(compiler.codes),
        )

    def _location_text(self, process: int, location: Location) -> str:
        return f"location {self.network.processes[process].name}.{location.name}"

    def _constant_rate(self, e: Expression) -> Fraction | int:
        value = _constant_value(e)
        return 0 if value is None else value

    def _rate_code(self, process: int, location: Location, e: Expression) -> int:
        """Compile a rate; −1 for a constant, unless there are ODEs, which are always integrated from code."""
        if _constant_value(e) is not None and not self.analysis.ode_slots:
            return -1
        return self.compiler.number(e, f"rate in {self._location_text(process, location)}")

    def _pack_locations(
        self,
        pool: _Pool,
        invariants: list[_Split],
        guards: list[_Split],
        groups: Groups,
        rates: list[list[list[int]]],
        exponentials: list[int],
    ) -> None:
        rows = []
        leaving: list[list[int]] = [[] for _ in self.locations]
        for number, (p, edge) in enumerate(self.edges):
            leaving[self.compiler.first_location[p] + edge.source].append(number)
        for number, (_, location) in enumerate(self.locations):
            split, own = invariants[number], leaving[number]
            outputs = [e for e in own if self.edges[e][1].is_output]
            inputs = [e for e in own if not self.edges[e][1].is_output]
            clocked = [e for e in own if guards[e].clock_atoms]
            listed = [e for e in outputs + inputs if groups.of_edge[e] >= 0]
            flags = at.LOCATION_URGENT * location.urgent | at.LOCATION_COMMITTED * location.committed
            rows.append([
                flags, pool.add_rows(split.clock_atoms), len(split.clock_atoms), split.timed, split.numeric,
                split.whole, pool.add_rows(rates[number]), len(rates[number]), exponentials[number],
                pool.add(outputs + inputs), len(outputs), len(inputs), pool.add(clocked), len(clocked),
                pool.add(listed), len(listed),
            ])  # fmt: skip
        pool.header[at.H_LOCATION_TABLE] = pool.add_rows(rows)
        numeric = sorted({p for (p, _), split in zip(self.locations, invariants, strict=True) if split.numeric >= 0})
        pool.add_list(at.H_NUMERIC_PROCESSES, at.H_NUMERIC_COUNT, numeric)

    def _kind(self, edge: Edge) -> int:
        if edge.channel is None:
            return at.KIND_INTERNAL
        if self.network.channels[edge.channel].broadcast:
            return at.KIND_BROADCAST_SEND if edge.sends else at.KIND_BROADCAST_RECEIVE
        return at.KIND_HANDSHAKE_SEND if edge.sends else at.KIND_HANDSHAKE_RECEIVE

    def _pack_groups(self, pool: _Pool, guards: list[_Split]) -> Groups:
        """Add the lists of candidates, and the partners of each handshake channel."""
        kinds = [self._kind(edge) for _, edge in self.edges]
        groups = candidate_groups(self.edges, kinds, [split.integer_atoms for split in guards])
        header = pool.header
        rows = [(slot, low, high, pool.add(values)) for slot, low, high, values in groups.keys]
        header[at.H_KEYS], header[at.H_KEY_TABLE] = len(rows), pool.add_rows(rows)
        header[at.H_HANDSHAKES] = len(groups.handshakes)
        header[at.H_HANDSHAKE_TABLE] = pool.add_rows(groups.handshakes)
        header[at.H_GROUPS] = len(groups.sizes)
        header[at.H_GROUP_START] = pool.add(np.cumsum([0, *groups.sizes[:-1]]).tolist())
        return groups

    def _pack_edges(
        self,
        pool: _Pool,
        guards: list[_Split],
        weights: list[int],
        branch_code: list[list[tuple[list[list[int]] | None, int, int]]],
        groups: Groups,
    ) -> None:
        partners = {key: pool.add(edges) for key, edges in groups.partners.items()}
        entries = []
        for p, edge in self.edges:
            source = self.network.processes[p].locations[edge.source]
            entries.append(max(self._entry(p, source, b) for b in edge.branches))
        rate_reads = self._rate_reads()
        plain = [slot for store, slot in sorted(rate_reads) if store == "i"]
        pool.add_list(at.H_RATE_READS, at.H_RATE_READ_COUNT, plain)
        if len(plain) < len(rate_reads):
            pool.header[at.H_RATE_READ_COUNT] = -1
        action_index = {a: i for i, a in enumerate(self.actions)}
        receiving: dict[int | None, list[tuple[int, int]]] = {}
        for number, (p, edge) in enumerate(self.edges):
            if not edge.sends:
                receiving.setdefault(edge.channel, []).append((p, number))
        edge_rows: list[list[int]] = []
        branch_rows: list[list[int]] = []
        for number, (p, edge) in enumerate(self.edges):
            kind, split = self._kind(edge), guards[number]
            entry = entries[number]
            if kind == at.KIND_BROADCAST_SEND:
                receivers = [r for q, r in receiving.get(edge.channel, ()) if q != p]
                entry = max([entry, *(entries[r] for r in receivers)])
                if entry != at.ENTRY_FREE and any(guards[r].numeric >= 0 for r in receivers):
                    entry = at.ENTRY_NUMERIC
            first = len(branch_rows)
            for branch, (fast, code, weight) in zip(edge.branches, branch_code[number], strict=True):
                refresh = self._refreshed(p, branch)
                earliest = sorted(self._read_by(self.clock_guards, p, branch) - {p})
                branch_rows.append([
                    self.compiler.first_location[p] + branch.target, pool.add_rows(fast or []),
                    -1 if fast is None else len(fast), code, weight, pool.add(refresh), len(refresh),
                    int(bool(self._writes(p, branch) & rate_reads)), p, pool.add(earliest), len(earliest),
                ])  # fmt: skip
            edge_rows.append([
                p, self.compiler.first_location[p] + edge.source, pool.add_rows(split.integer_atoms),
                len(split.integer_atoms), pool.add_rows(split.clock_atoms), len(split.clock_atoms), split.discrete,
                split.timed, split.numeric, split.whole, first, len(edge.branches),
                -1 if edge.channel is None else edge.channel, kind, groups.of_edge[number],
                action_index[edge.action] if edge.is_output else -1, weights[number], entry,
                partners.get((edge.channel, kind), 0), len(groups.partners.get((edge.channel, kind), ())),
            ])  # fmt: skip
        branch_table = pool.header[at.H_BRANCH_TABLE] = pool.add_rows(branch_rows)
        for row in edge_rows:
            row[at.E_BRANCHES] = branch_table + at.BRANCH_WIDTH * row[at.E_BRANCHES]
        pool.header[at.H_EDGE_TABLE] = pool.add_rows(edge_rows)

    def _rate_reads(self) -> frozenset[Place]:
        """Find the places that some rate reads."""
        read: frozenset[Place] = frozenset()
        return read.union(
            *(self.analysis.expression(r.expression).reads for _, loc in self.locations for r in loc.rates)
        )

    def _pack_channels(self, pool: _Pool) -> None:
        listeners: dict[int, set[int]] = {}
        for p, edge in self.edges:
            if edge.channel is not None and not edge.sends:
                listeners.setdefault(edge.channel, set()).add(p)
        rows: list[int] = []
        for number, channel in enumerate(self.network.channels):
            listening = sorted(listeners.get(number, ())) if channel.broadcast else []
            rows += [pool.add(listening), len(listening)]
        sending = [(e.channel, i) for i, (_, e) in enumerate(self.edges) if e.channel is not None and e.sends]
        urgent: dict[tuple[int, int], list[int]] = {}
        for number, i in sorted(sending):
            if self.network.channels[number].urgent:
                p, edge = self.edges[i]
                urgent.setdefault((p, self.compiler.first_location[p] + edge.source), []).append(i)
        pool.header[at.H_BROADCAST_TABLE] = pool.add(rows)
        pool.add_list(at.H_URGENT_EDGES, at.H_URGENT_COUNT, [e for edges in urgent.values() for e in edges])
        places, first = [], 0
        for (p, location), edges in urgent.items():
            places.append((p, location, first, len(edges)))
            first += len(edges)
        pool.header[at.H_URGENT_PLACES], pool.header[at.H_URGENT_PLACE_COUNT] = pool.add_rows(places), len(places)

    def _pack_clocks(self, pool: _Pool, rates: list[list[list[int]]]) -> None:
        rows: list[int] = []
        rating: dict[int, set[int]] = {}
        for (p, _), given in zip(self.locations, rates, strict=True):
            for slot, *_ in given:
                rating.setdefault(slot, set()).add(p)
        for slot in range(self.network.real_count):
            readers = sorted(self.invariant_readers.get(("r", slot), ()))
            raters = sorted(rating.get(slot, ()))
            ode = slot in self.analysis.ode_slots
            default = int(("r", slot) in self.analysis.clocks and not ode)
            guarded = sorted(self.clock_guards.get(("r", slot), ()))
            rows += [pool.add(readers), len(readers), pool.add(raters), len(raters), int(ode), default]
            rows += [pool.add(guarded), len(guarded)]
        header = pool.header
        header[at.H_CLOCK_TABLE] = pool.add(rows)
        pool.add_list(at.H_RATED_SLOTS, at.H_RATED_COUNT, sorted({r[0] for given in rates for r in given}))
        solved = self.analysis.solved_slots
        integrated = self.analysis.ode_slots - solved
        header[at.H_ODE_SLOTS] = pool.add(sorted(integrated) + sorted(solved))
        header[at.H_ODE_COUNT] = len(integrated)
        header[at.H_SOLVED_SLOTS] = header[at.H_ODE_SLOTS] + len(integrated)
        header[at.H_SOLVED_COUNT] = len(solved)

    def _layout_walker(self, header: np.ndarray, members: int) -> None:
        """Lay out S and X of one walker of this model."""
        processes, integers, reals = len(self.network.processes), self.network.integer_count, self.network.real_count
        leaves = 1
        while leaves < processes:
            leaves *= 2
        header[at.H_TREE_LEAVES] = leaves
        options = sum(len(e.branches) for _, e in self.edges)
        header[at.H_S_SIZE] = _lay_out(header, at.INTEGERS + integers, (
            (at.H_S_LOCATIONS, processes),
            (at.H_S_SCRATCH_INTEGERS, integers),
            (at.H_S_SCRATCH_LOCATIONS, processes),
            (at.H_S_GROUP_COUNT, int(header[at.H_GROUPS])),
            (at.H_S_GROUP_MEMBERS, members),
            (at.H_S_EDGE_POSITION, len(self.edges)),
            (at.H_S_TREE, 2 * leaves),
            (at.H_S_STACK, at.STACK_SIZE + 2 * at.CALL_DEPTH + 8),
            (at.H_S_FRAME, at.FRAME_SIZE),
            (at.H_S_RATE_CODE, reals),
            (at.H_S_RATE_VALUES, len(self._rate_reads())),
            (at.H_S_MOVES, 2 * processes),
            (at.H_S_CHOICE, 4 * processes + 2 * options + 8),
        ))  # fmt: skip
        solved = len(self.analysis.solved_slots)
        ode = len(self.analysis.ode_slots) - solved
        racers = sum(any(e.is_output for e in p.edges) for p in self.network.processes)
        header[at.H_X_SIZE] = _lay_out(header, at.CLOCKS + 3 * reals, (
            (at.H_X_SCRATCH_CLOCKS, 3 * reals),
            (at.H_X_VALUES, reals),
            (at.H_X_DEADLINE, 2 * processes),
            (at.H_X_EARLIEST, len(self.edges)),
            (at.H_X_STACK, 3 * at.STACK_SIZE),
            (at.H_X_FRAME, 3 * at.FRAME_SIZE),
            (at.H_X_WINDOWS, 5 * at.MAXIMUM_WINDOWS),
            (at.H_X_PIECES, 4 * at.MAXIMUM_WINDOWS),
            (at.H_X_RACERS, at.RACE_WIDTH * racers),
            (at.H_X_RACE_WINDOWS, at.RACE_WINDOW_WIDTH * at.MAXIMUM_WINDOWS * racers),
            (at.H_X_RACE_POINTS, 2 * at.MAXIMUM_WINDOWS * racers),
            (at.H_X_ODE_WORK, 8 * ode + 8),
            (at.H_X_SOLVED, 2 * solved),
            (at.H_X_GRID, at.GRID_ROWS * ode),
        ))  # fmt: skip


def _lay_out(header: np.ndarray, place: int, sizes: tuple[tuple[int, int], ...]) -> int:
    """Put parts of these sizes one after the other, their places into the header; return the end."""
    for name, size in sizes:
        header[name] = place
        place += size
    return place
