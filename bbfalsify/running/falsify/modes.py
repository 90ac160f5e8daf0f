"""Name the failure modes of a run: learn patterns, then estimate them on simulations that no pattern was learned from.

The engine learns and estimates (`engines/falsification/modes`); here it gets its simulations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bbfalsify.core.estimate import LEVELS, TimeDistribution
from bbfalsify.core.events import StageStarted
from bbfalsify.core.query import Answer, Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.coverage import Visits, path_of
from bbfalsify.engines.falsification.engine import pass_plan
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.modes.estimating import Beside
from bbfalsify.engines.falsification.modes.naming import Costs, Named, name_modes_of
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.ranks import rank_changes
from bbfalsify.engines.falsification.modes.sampling import PlainUses, plain_simulations
from bbfalsify.engines.falsification.modes.wording import names_of, sentence_of
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk
from bbfalsify.logic import Requirement
from bbfalsify.results.falsify_insights import Swap
from bbfalsify.results.falsify_modes import FailureMode, RequirementModes, Unseen, ViolationTimes
from bbfalsify.results.falsify_result import RankedCounterexample
from bbfalsify.running.falsify.finding_listener import Scribe
from bbfalsify.running.falsify.task import Task
from bbfalsify.running.falsify.typical_uses import show_modes
from bbfalsify.stats.estimates import half_each


@dataclass
class Naming:
    """Failure modes by requirement; a requirement without any was not falsified, or the run was stopped before."""

    named: dict[int, Named] = field(default_factory=dict)
    swaps: dict[int, dict[Pattern, Swap]] = field(default_factory=dict)
    """The change of the profile that changes each pattern's rank."""
    shown: dict[int, dict[Pattern, Finding]] = field(default_factory=dict)
    """A confirmed violation of each pattern that no row shows."""
    visits: Visits = field(default_factory=Visits)
    """Parts of the profile that the plain simulations used."""

    def notes(self, requirements: Sequence[Requirement]) -> list[str]:
        """Work that was cut."""
        return [
            f"{requirements[number].id}: naming failure modes is limited: {cut}"
            for number, named in self.named.items()
            for cut in named.work.cuts
        ]

    def result(
        self,
        requirement: int,
        name: str,
        ranks: Mapping[Finding, int],
        files: Mapping[int, str],
        task: Task,
        listed: Callable[[Finding, int], RankedCounterexample],
    ) -> RequirementModes | None:
        """The modes of a requirement as results hold them; `listed` writes what shows one without rows."""
        usage, units = task.usage, task.units
        if requirement not in self.shown:
            return None
        named, avoided = self.named[requirement].modes, self.named[requirement].avoided
        names = names_of([mode.pattern for mode in named.modes])
        rows = []
        for rank, (mode, called) in enumerate(zip(named.modes, names, strict=True), start=1):
            own, shown = tuple(sorted(ranks[row] for row in mode.rows)), self.shown[requirement].get(mode.pattern)
            typical = None if shown is None else listed(shown, rank)
            walked = mode.rows[0] if own else shown
            rows.append(
                FailureMode(
                    rank=rank,
                    requirement=name,
                    name=called,
                    sentence=sentence_of(mode.pattern, units, mode.precision.value),
                    actions=mode.pattern.core,
                    probability=mode.probability,
                    precision=mode.precision,
                    share=mode.share,
                    time_to_violation=_times(mode.times),
                    counterexamples=own,
                    typical_file=files.get(own[0]) if own else None if typical is None else typical.file,
                    typical=typical,
                    avoided_by=avoided.get(mode.pattern),
                    path=() if walked is None else _path(usage, walked),
                    rank_changes=self.swaps[requirement].get(mode.pattern),
                )
            )
        unseen = None if named.unseen is None else Unseen(named.unseen, named.total.confidence)
        return RequirementModes(tuple(rows), named.other, named.total, unseen)


def name_modes(
    ask: Ask,
    usage: Usage,
    scribe: Scribe,
    naming: Naming,
    units: Mapping[str, str],
    seeds: SeedTree,
    known_beside: Callable[[int, float], Beside | None] = lambda _requirement, _confidence: None,
) -> None:
    """Name the modes of every requirement that was falsified; `known_beside` tells what plain simulation knows."""
    ranked = {number: scribe.progress.ranking(number) for number in range(len(scribe.requirements))}
    lists = {number: [row for row in rows if not row.exact_moments] for number, rows in ranked.items()}
    lists = {number: rows for number, rows in lists.items() if rows}
    plan, options = pass_plan(scribe.options), scribe.options
    if not lists:
        return
    plain = plain_simulations(usage, sum(map(len, lists.values())), plan)
    costs = {number: Costs.of(usage, len(rows), plan, options.mode_simulations) for number, rows in lists.items()}
    simulations = plain + sum(cost.total for cost in costs.values())
    scribe.driver.recorder.record(StageStarted("naming failure modes", simulations))
    known = _simulate_plainly(ask, usage, scribe, naming, lists, plain, "learn", seeds)
    for number, rows in lists.items():
        further = scribe.progress.search.further[number] if scribe.progress.search.further else ()

        def beside(number: int = number) -> Beside | None:
            return known_beside(number, half_each(options.confidence))

        named = name_modes_of(
            ask, usage, rows, known[number], plan, costs[number], seeds, further=further, units=units, beside=beside
        )
        found = named.modes
        naming.named[number] = named
        naming.swaps[number] = rank_changes(usage, found.modes, options.confidence) if options.sensitivity else {}
        naming.shown[number] = show_modes(scribe, usage, number, named.patterns, found, named.violating)


def _times(found: TimeDistribution | None) -> ViolationTimes | None:
    if found is None:
        return None
    first, median, last = (found.quantiles[LEVELS.index(level)] for level in (0.0, 0.5, 1.0))
    return ViolationTimes(samples=found.samples, first=first, median=median, last=last)


def _path(usage: Usage, row: Finding) -> tuple[int, ...]:
    """The way of a row's typical trace through the automata of the profile, up to the action after the violation."""
    walk = row.walk if row.estimate is None else row.estimated.evidence.example or row.walk
    return () if walk is None or not usage.profile.has_actions else path_of(usage.model, walk.prefix(len(row.actions)))


def _simulate_plainly(
    ask: Ask,
    usage: Usage,
    scribe: Scribe,
    naming: Naming,
    lists: Mapping[int, list[Finding]],
    simulations: int,
    name: str,
    seeds: SeedTree,
) -> dict[int, PlainUses]:
    """Simulate the profile as it is; the number of simulations does not depend on what they show."""
    uses = {
        number: PlainUses(usage, number, frozenset(row.actions for row in rows), simulations)
        for number, rows in lists.items()
    }

    def judged(walk: Walk, answer: Answer) -> None:
        for of_one in uses.values():
            of_one.add(walk, answer)

    never = smc.SmcOptions(epsilon=1e-12, simulations=simulations)  # so narrow that only the number ends it
    progress = smc.Progress(on_answer=judged, names=f"modes/{name}")
    smc.run(
        ask, usage, progress, never, requirements=len(scribe.requirements), seeds=seeds.child(name), listener=scribe
    )
    naming.visits = progress.visits
    return uses
