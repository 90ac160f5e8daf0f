"""Pack a network into the tables of `layout`, in milliseconds and without compiling machine code.

Guards are split: comparisons `integer ⋈ constant` and `clock ⋈ bound` become *atoms* that are decided without the
interpreter, the rest becomes bytecode, sorted by its kind of change during a delay.  Updates `x = 0`, `v = 3`, `v++`
become fast rows.  Read and write sets give the dependency index: which deadlines a branch may change, and which edges
must check the invariants of the state they enter.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bbfalsify.core.collector import collector_paused
from bbfalsify.core.errors import UserError
from bbfalsify.kernel import layout as at
from bbfalsify.kernel.analysis import (
    Analysis,
    Place,
)
from bbfalsify.kernel.candidate_groups import Groups, candidate_groups
from bbfalsify.kernel.channel_tables import pack_channels
from bbfalsify.kernel.compiled_model import CompiledModel, text_of_edge
from bbfalsify.kernel.dependencies import Dependencies
from bbfalsify.kernel.edge_families import EdgeFamily, edge_family, starts_of
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.guard_atoms import GuardSplitter, Split, constant_value
from bbfalsify.kernel.table_pool import TablePool, lay_out_walker
from bbfalsify.modelling.language.receiver_choices import has_open_choices
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind
from bbfalsify.modelling.network.network import Edge, Location, Network

DEFAULT_ODE_STEP = 1.0 / 64.0


def compile_network(network: Network, *, ode_step: float | None = None) -> CompiledModel:
    """Pack a network; `ode_step` overrides the step of the model."""
    if ode_step is None:
        ode_step = DEFAULT_ODE_STEP if network.ode_step is None else network.ode_step
    if not ode_step > 0:
        raise UserError(f"ode_step is {ode_step}; it must be positive.")
    with collector_paused():
        return _Packer(network, ode_step).pack()


def _by_value(pool: TablePool, pairs: list[tuple[int, int]]) -> tuple[int, int, int]:
    """Pack (value, word), sorted: least and largest value, and the place of each value's first word."""
    if not pairs:
        return 0, -1, 0
    values = [value for value, _ in pairs]
    words = pool.add(word for _, word in pairs)
    return values[0], values[-1], pool.add(starts_of(values, values[0], values[-1], words))


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
        self.index = Dependencies(network, self.analysis)
        self.splitter = GuardSplitter(network, self.analysis, self.compiler, self.index.intervals)
        self.edges, self.locations = self.index.edges, self.index.locations
        self.actions = network.actions
        self.rate_rows: list[int] = []
        self.leaving: list[list[int]] = [[] for _ in self.locations]
        for number, (process, edge) in enumerate(self.edges):
            self.leaving[self.compiler.first_location[process] + edge.source].append(number)

    # --- packing -----------------------------------------------------------------------------------------------------

    def pack(self) -> CompiledModel:
        network, compiler = self.network, self.compiler
        compiler.site("(unknown place)")
        one = compiler.number(Constant(1, Kind.INT), "")
        functions = [[compiler.function(f), f.frame_size] for f in network.functions]
        invariants = [
            self.splitter.split(loc.invariant, self._location_text(p, loc), integers=False) for p, loc in self.locations
        ]
        guards = [
            self.splitter.split(edge.guard, f"guard of {text_of_edge(network, p, edge)}", integers=True)
            for p, edge in self.edges
        ]
        self.index.note_clock_guards(guards)
        rates = [
            [[r.slot, self._rate_code(p, loc, r.expression), compiler.constant(self._constant_rate(r.expression))]
             for r in loc.rates]
            for p, loc in self.locations
        ]  # fmt: skip
        exponentials = [
            -1 if loc.exponential_rate is None else compiler.number(loc.exponential_rate, self._location_text(p, loc))
            for p, loc in self.locations
        ]
        families = [
            edge_family([(e, self.edges[e][1]) for e in own], compiler, self.analysis) if location.committed else None
            for (_, location), own in zip(self.locations, self.leaving, strict=True)
        ]
        weights = [
            -1 if edge.weight is None else compiler.number(edge.weight, f"weight of {text_of_edge(network, p, edge)}")
            for p, edge in self.edges
        ]
        branch_code = []
        for p, edge in self.edges:
            place = compiler.place = f"update of {text_of_edge(network, p, edge)}"
            branch_code.append([
                (self.splitter.fast_updates(b.updates),
                 compiler.updates(b.updates, b.frame_size, place) if b.updates else -1,
                 -1 if b.weight is None else compiler.number(b.weight, place))
                for b in edge.branches
            ])  # fmt: skip
        if any(rates):
            self.flags |= at.FLAG_RATES
        if any(e.is_output and self.analysis.expression(e.weight).reads & self.analysis.clocks for _, e in self.edges):
            self.flags |= at.FLAG_TIMED_WEIGHTS
        self.flags |= at.FLAG_ANY_BRANCH * network.as_uppaal | at.FLAG_CHOICES * has_open_choices(network)

        pool = TablePool(at.HEADER_SIZE + len(compiler.code))
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
        self._pack_locations(pool, invariants, guards, groups, rates, exponentials, families)
        self._pack_edges(pool, guards, weights, branch_code, groups)
        pack_channels(pool, network, self.edges, compiler.first_location, [g.integer_atoms for g in guards])
        self._pack_clocks(pool, rates)
        rate_reads = len(self._rate_reads())
        lay_out_walker(header, network, self.analysis, members=sum(groups.sizes), rate_reads=rate_reads)
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
        value = constant_value(e)
        return 0 if value is None else value

    def _rate_code(self, process: int, location: Location, e: Expression) -> int:
        """Compile a rate; −1 for a constant, unless there are ODEs, which are always integrated from code."""
        if constant_value(e) is not None and not self.analysis.ode_slots:
            return -1
        return self.compiler.number(e, f"rate in {self._location_text(process, location)}")

    def _pack_locations(
        self,
        pool: TablePool,
        invariants: list[Split],
        guards: list[Split],
        groups: Groups,
        rates: list[list[list[int]]],
        exponentials: list[int],
        families: list[EdgeFamily | None],
    ) -> None:
        rows = []
        for number, (_, location) in enumerate(self.locations):
            split, own, family = invariants[number], self.leaving[number], families[number]
            outputs = [e for e in own if self.edges[e][1].is_output]
            inputs = [e for e in own if not self.edges[e][1].is_output]
            clocked = [e for e in own if guards[e].clock_atoms]
            listed = [e for e in outputs + inputs if groups.of_edge[e] >= 0]
            hears = any(self._kind(self.edges[e][1]) == at.KIND_BROADCAST_RECEIVE for e in inputs)
            flags = at.LOCATION_URGENT * location.urgent | at.LOCATION_COMMITTED * location.committed
            flags |= at.LOCATION_HEARS * hears
            channels = [(self.network.channels[c], c, e) for e in own if (c := self.edges[e][1].channel) is not None]
            hurries = any(channel.urgent and self.edges[e][1].sends for channel, _, e in channels)
            flags |= at.LOCATION_HURRIES * hurries
            heard = {c % at.HEARD_BITS for _, c, e in channels if not self.edges[e][1].sends}
            self.rate_rows.append(pool.add_rows(rates[number]))
            rows.append([
                flags, pool.add_rows(split.clock_atoms), len(split.clock_atoms), split.timed, split.numeric,
                split.whole, self.rate_rows[number], len(rates[number]), exponentials[number],
                pool.add(outputs + inputs), len(outputs), len(inputs), pool.add(clocked), len(clocked),
                pool.add(listed), len(listed), -1 if family is None else family.pack(pool),
                sum(1 << bit for bit in heard),
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

    def _pack_groups(self, pool: TablePool, guards: list[Split]) -> Groups:
        """Add the lists of candidates, and the partners of each handshake channel."""
        kinds = [self._kind(edge) for _, edge in self.edges]
        groups = candidate_groups(self.edges, kinds, [split.integer_atoms for split in guards])
        header = pool.header
        rows = [(slot, low, high, pool.add(values)) for slot, low, high, values in groups.keys]
        header[at.H_KEYS], header[at.H_KEY_TABLE] = len(rows), pool.add_rows(rows)
        header[at.H_HANDSHAKES] = len(groups.handshakes)
        header[at.H_HANDSHAKE_TABLE] = pool.add_rows(groups.handshakes)
        first = self.compiler.first_location
        hubs = [
            (process, first[process] + location, slot, low, high, pool.add(values), sends)
            for process, location, slot, low, high, values, sends in groups.hubs
        ]
        header[at.H_HUBS], header[at.H_HUB_TABLE] = len(hubs), pool.add_rows(hubs)
        header[at.H_GROUPS] = len(groups.sizes)
        header[at.H_GROUP_START] = pool.add(np.cumsum([0, *groups.sizes[:-1]]).tolist())
        return groups

    def _pack_edges(
        self,
        pool: TablePool,
        guards: list[Split],
        weights: list[int],
        branch_code: list[list[tuple[list[list[int]] | None, int, int]]],
        groups: Groups,
    ) -> None:
        partners = {key: pool.add(edges) for key, edges in groups.partners.items()}
        entries = []
        for p, edge in self.edges:
            entries.append(max(self.index.entry(p, edge, b) for b in edge.branches))
        rate_reads = self._rate_reads()
        self._pack_rate_reads(pool, rate_reads)
        copied: dict[tuple[int, ...], int] = {}
        checking = {e.channel for (_, e), entry in zip(self.edges, entries, strict=True) if entry != at.ENTRY_FREE}
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
            needs = -1
            if entry != at.ENTRY_FREE or edge.channel is not None and edge.channel in checking:
                words = tuple(self.index.copied(p, edge))
                needs = copied[words] if words in copied else copied.setdefault(words, pool.add(words))
            first = len(branch_rows)
            for branch, (fast, code, weight) in zip(edge.branches, branch_code[number], strict=True):
                refresh = self.index.refreshed(p, branch)
                earliest = sorted(self.index.read_by(self.index.clock_guards, p, branch) - {p})
                rated = self._rated(p, edge.source, branch.target)
                branch_rows.append([
                    self.compiler.first_location[p] + branch.target, pool.add_rows(fast or []),
                    -1 if fast is None else len(fast), code, weight, pool.add(refresh), len(refresh),
                    int(bool(self.index.writes(p, branch) & rate_reads)), p, pool.add(earliest), len(earliest),
                    pool.add(rated), len(rated),
                ])  # fmt: skip
            edge_rows.append([
                p, self.compiler.first_location[p] + edge.source, pool.add_rows(split.integer_atoms),
                len(split.integer_atoms), pool.add_rows(split.clock_atoms), len(split.clock_atoms), split.discrete,
                split.timed, split.numeric, split.whole, first, len(edge.branches),
                -1 if edge.channel is None else edge.channel, kind, groups.of_edge[number],
                action_index[edge.action] if edge.is_output else -1, weights[number], entry,
                partners.get((edge.channel, kind), 0), len(groups.partners.get((edge.channel, kind), ())), needs,
            ])  # fmt: skip
        branch_table = pool.header[at.H_BRANCH_TABLE] = pool.add_rows(branch_rows)
        for row in edge_rows:
            row[at.E_BRANCHES] = branch_table + at.BRANCH_WIDTH * row[at.E_BRANCHES]
        pool.header[at.H_EDGE_TABLE] = pool.add_rows(edge_rows)

    def _rated(self, process: int, source: int, target: int) -> list[int]:
        """Clocks to which two locations of a process give different rates."""
        locations = self.network.processes[process].locations
        before, after = ({r.slot: r.expression for r in locations[i].rates} for i in (source, target))
        return sorted(slot for slot in before | after if before.get(slot) != after.get(slot))

    def _rate_reads(self) -> frozenset[Place]:
        """Find the places that some rate reads."""
        read: frozenset[Place] = frozenset()
        return read.union(
            *(self.analysis.expression(r.expression).reads for _, loc in self.locations for r in loc.rates)
        )

    def _pack_rate_reads(self, pool: TablePool, rate_reads: frozenset[Place]) -> None:
        """Pack the integers that rates read, each with the clocks whose rates do."""
        rates: dict[Place, dict[int, list[Expression]]] = {}
        for _, location in self.locations:
            for rate in location.rates:
                for place in self.analysis.expression(rate.expression).reads:
                    rates.setdefault(place, {}).setdefault(rate.slot, []).append(rate.expression)
        rows = []
        for slot in (slot for store, slot in sorted(rate_reads) if store == "i"):
            always: list[int] = []
            special: list[tuple[int, int]] = []
            for clock, expressions in sorted(rates["i", slot].items()):
                values = [self.splitter.tables.special_values(e, slot) for e in dict.fromkeys(expressions)]
                if None in values:
                    always.append(clock)
                else:
                    special += [(value, clock) for value in set().union(*(v or () for v in values))]
            rows.append((slot, pool.add(always), len(always), *_by_value(pool, sorted(special))))
        pool.header[at.H_RATE_READS] = pool.add_rows(rows)
        pool.header[at.H_RATE_READ_COUNT] = len(rows) if len(rows) == len(rate_reads) else -1

    def _pack_clocks(self, pool: TablePool, rates: list[list[list[int]]]) -> None:
        rows: list[int] = []
        rating: dict[int, dict[int, list[int]]] = {}
        for number, ((p, _), given) in enumerate(zip(self.locations, rates, strict=True)):
            first = self.compiler.first_location[p]
            for k, (slot, *_) in enumerate(given):
                row = rating.setdefault(slot, {}).setdefault(p, [-1] * len(self.network.processes[p].locations))
                row[number - first] = self.rate_rows[number] + at.RATE_WIDTH * k
        for slot in range(self.network.real_count):
            readers = sorted(self.index.invariant_readers.get(("r", slot), ()))
            raters = [(p, pool.add(row)) for p, row in sorted(rating.get(slot, {}).items())]
            ode = slot in self.analysis.ode_slots
            default = int(("r", slot) in self.analysis.clocks and not ode)
            guarded = sorted(self.index.clock_guards.get(("r", slot), ()))
            rows += [pool.add(readers), len(readers), pool.add_rows(raters), len(raters), int(ode), default]
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
