"""Find the parts of a state on which the law of the next step depends, and whether the word alone determines them.

A `Situation` is a state in which every value that depends on a delay or on a random draw is UNKNOWN.  Code runs on it
as in the reference interpreter: arithmetic propagates UNKNOWN, and a decision on it raises.  So nothing is assumed
about resets: executing the updates shows them.

    relevant places     may influence some law, now or later (closure over guards, invariants, rates, weights, updates)
    needed reals        those the law of the next step reads here; a needed real that is UNKNOWN makes the step's law
                        depend on more than the word
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.kernel.analysis import Analysis, Place, conjuncts
from bbfalsify.modelling.network.expressions import Expression, Kind
from bbfalsify.modelling.network.network import Branch, Edge, Network
from bbfalsify.modelling.reference.evaluation import Evaluator, Memory
from bbfalsify.modelling.reference.exact_code import ExactCode
from bbfalsify.modelling.reference.exact_values import UNKNOWN, DependsOnDraw, ModelRuntimeError, Sample, Value


@dataclass(frozen=True)
class Situation:
    locations: tuple[int, ...]
    integers: tuple[Value, ...]
    reals: tuple[Value, ...]


class Dependence:
    def __init__(self, network: Network) -> None:
        self.network = network
        self.code = ExactCode(network)
        self.analysis = Analysis(network)
        self.relevant = self._relevant_places()
        self._initial_integers = tuple(int(v) for v in network.initial_integers())
        self._needed: dict[Situation, dict[int, str]] = {}

    def initial(self) -> Situation:
        locations = tuple(p.initial for p in self.network.processes)
        return self.canonical(locations, self._initial_integers, [Fraction(v) for v in self.network.initial_reals()])

    def canonical(self, locations: Iterable[int], integers: Iterable[Value], reals: Iterable[Value]) -> Situation:
        """Make a situation without values that no law ever reads, and without clocks that are not read here."""
        whole = tuple(
            value if ("i", slot) in self.relevant else start
            for slot, (value, start) in enumerate(zip(integers, self._initial_integers, strict=True))
        )
        real = tuple(v if ("r", slot) in self.relevant else UNKNOWN for slot, v in enumerate(reals))
        situation = Situation(tuple(locations), whole, real)
        if UNKNOWN in whole or self._at_once(situation):
            return situation  # clocks that stand still are perhaps read in the next location
        needed = self.needed(situation)
        kept = (
            value if slot in needed or ("r", slot) not in self.analysis.clocks else UNKNOWN
            for slot, value in enumerate(real)
        )
        return Situation(situation.locations, whole, tuple(kept))

    # --- relevant places ---------------------------------------------------------------------------------------------

    def _relevant_places(self) -> frozenset[Place]:
        edges = [e for p in self.network.processes for e in p.edges]
        locations = [at for p in self.network.processes for at in p.locations]
        conditions = [e.guard for e in edges] + [e.weight for e in edges]
        conditions += [b.weight for e in edges for b in e.branches]
        conditions += [at.invariant for at in locations] + [at.exponential_rate for at in locations]
        relevant = frozenset().union(*(self.analysis.expression(c).reads for c in conditions))
        rates = [(("r", r.slot), self.analysis.expression(r.expression).reads) for at in locations for r in at.rates]
        updates = [self.analysis.statements((s,)) for e in edges for b in e.branches for s in b.updates]
        while True:
            more = relevant.union(*(reads for clock, reads in rates if clock in relevant))
            for effects in updates:
                if effects.may_fail and (effects.reads or effects.random):
                    more |= effects.reads | effects.writes  # whether it fails is part of the law
                elif effects.writes & relevant:
                    more |= effects.reads
            if more == relevant:
                return relevant
            relevant = more

    # --- what matters here -------------------------------------------------------------------------------------------

    def after_delay(self, situation: Situation) -> Evaluator:
        """A machine at the unknown moment of the next transition: clocks are UNKNOWN unless they stand still."""
        reals = list(situation.reals)
        machine = Evaluator(self.code, Memory(list(situation.locations), list(situation.integers), reals), _SAMPLE)
        if self._at_once(situation):
            return machine
        for _, slot in self.analysis.clocks:
            rate: Value = Fraction(1)
            for expression in self._rates(situation, slot):
                rate = machine.value(expression) if _is_discrete(self.analysis, expression) else UNKNOWN
            if rate is UNKNOWN or rate != 0:
                reals[slot] = UNKNOWN
        return machine

    def _at_once(self, situation: Situation) -> bool:
        """Tell whether no time passes before the next transition: a location is committed or urgent."""
        here = zip(self.network.processes, situation.locations, strict=True)
        return any(p.locations[at].committed or p.locations[at].urgent for p, at in here)

    def needed(self, situation: Situation) -> dict[int, str]:
        """Find the slots of the reals that the law of the next step reads, each with the process and location."""
        if situation not in self._needed:
            found: dict[int, str] = {}
            for place, where in self._read_places(situation):
                if place[0] == "r":
                    found.setdefault(place[1], where)
            waiting = list(found)
            while waiting:
                slot = waiting.pop()
                for expression in self._rates(situation, slot):
                    for store, other in self.analysis.expression(expression).reads:
                        if store == "r" and other not in found:
                            found[other] = found[slot]
                            waiting.append(other)
            self._needed[situation] = found
        return self._needed[situation]

    def _rates(self, situation: Situation, slot: int) -> list[Expression]:
        """Rates of a clock in the current locations; the last one counts."""
        here = zip(self.network.processes, situation.locations, strict=True)
        return [r.expression for p, at in here for r in p.locations[at].rates if r.slot == slot]

    def _read_places(self, situation: Situation) -> Iterator[tuple[Place, str]]:
        reals = [UNKNOWN if ("r", i) in self.analysis.clocks else v for i, v in enumerate(situation.reals)]
        machine = Evaluator(self.code, Memory(list(situation.locations), list(situation.integers), reals), _SAMPLE)
        entries: list[tuple[Place, str]] = []
        for p, process in enumerate(self.network.processes):
            location = process.locations[situation.locations[p]]
            where = f"{process.name}.{location.name}"
            reads = self._undecided(machine, location.invariant) or frozenset()
            reads |= self.analysis.expression(location.exponential_rate).reads
            for edge in process.edges:
                if edge.source != situation.locations[p]:
                    continue
                guard = self._undecided(machine, edge.guard)
                if guard is not None:
                    reads |= guard | self.analysis.expression(edge.weight).reads
                    for branch in edge.branches:
                        reads |= self.analysis.expression(branch.weight).reads
                        entries += [(r, where) for r in sorted(self._entry(situation, machine, p, edge, branch))]
            yield from ((place, where) for place in sorted(reads))
        yield from entries

    def _undecided(self, machine: Evaluator, condition: Expression | None) -> frozenset[Place] | None:
        """Find the places read by conjuncts whose truth is unknown; None if the condition is false at every delay."""
        reads: frozenset[Place] = frozenset()
        for part in conjuncts(condition):
            try:
                if not machine.holds(part):
                    return None
            except (DependsOnDraw, ModelRuntimeError):
                reads |= self.analysis.expression(part).reads
        return reads

    def _entry(
        self, situation: Situation, machine: Evaluator, process: int, edge: Edge, branch: Branch
    ) -> frozenset[Place]:
        """Find the places that decide whether the state entered satisfies all invariants."""
        updates = self.analysis.statements(branch.updates)
        invariants = [
            p.locations[at].invariant for p, at in zip(self.network.processes, situation.locations, strict=True)
        ]
        invariants[process] = self.network.processes[process].locations[branch.target].invariant
        everything = updates.reads.union(*(self.analysis.expression(i).reads for i in invariants))
        if edge.channel is not None and self._others_take_part(situation, process, edge.channel):
            return everything
        memory = machine.memory
        after = Evaluator(self.code, Memory(list(memory.locations), list(memory.integers), list(memory.reals)), _SAMPLE)
        try:
            after.run(branch.updates)
        except (DependsOnDraw, ModelRuntimeError):
            return everything
        after.memory.locations[process] = branch.target
        reads: frozenset[Place] = frozenset()
        for invariant in invariants:
            undecided = self._undecided(after, invariant)
            if undecided is None:
                return frozenset()  # it never holds, so the edge is never taken
            reads |= {(s, i) for s, i in undecided if s == "r" and after.memory.reals[i] is UNKNOWN}
        return reads | updates.reads if reads & updates.writes else reads

    def _others_take_part(self, situation: Situation, process: int, channel: int) -> bool:
        here = zip(self.network.processes, situation.locations, strict=True)
        return any(
            edge.channel == channel and edge.source == at
            for p, (other, at) in enumerate(here)
            for edge in other.edges
            if p != process
        )


_SAMPLE = Sample(Fraction(0), set())


def _is_discrete(analysis: Analysis, expression: Expression) -> bool:
    return not any(store == "r" for store, _ in analysis.expression(expression).reads)


def real_name(network: Network, slot: int) -> str:
    """Kind and name of a real, for a message."""
    v = next(v for v in network.variables if v.kind.is_real and v.slot <= slot < v.slot + v.size)
    return f"{'clock' if v.kind == Kind.CLOCK else 'double'} '{v.element_names()[slot - v.slot]}'"
