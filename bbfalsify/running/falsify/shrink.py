"""Shrinking: after the estimates, find which actions of each listed counterexample matter.

The engine finds a core of each (`engines/falsification/shrink/shrinking.py`); here the cores are confirmed like every
finding, those that are not on the list anyway are estimated, and written down beside their originals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from bbfalsify.core.events import CounterexampleShrunk, StageStarted
from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.engine import estimate_finding
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.insights import insights_of
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.shrink.shrinking import Core, Shrunk, Tools, shrink
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.results.falsify_result import RankedCounterexample, ShrunkCounterexample
from bbfalsify.running.falsify.finding_listener import Scribe


@dataclass
class Shrinking:
    """Filled in place, so that Ctrl-C keeps what is there."""

    shrunk: dict[Finding, Shrunk] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def shrink_list(
    ask: Ask, usage: Usage, scribe: Scribe, shrinking: Shrinking, *, seeds: SeedTree, out_of_time: Callable[[], bool]
) -> None:
    """Shrink what is confirmed, short ones first: a short one may be what matters of a long one."""
    options, listed = scribe.options, [scribe.listed(r) for r in range(len(scribe.requirements))]
    if not options.shrink:
        if any(listed):
            shrinking.notes.append("shrink is 0: nobody asked which actions of a counterexample matter")
        return
    tools = Tools(usage, seeds)
    chosen = [[(rank, finding) for rank, finding in enumerate(row) if finding.status == "confirmed"] for row in listed]
    scribe.driver.recorder.record(StageStarted("shrinking", options.shrink * sum(map(len, chosen))))
    left = 0
    for rows in chosen:
        ranks = {finding.actions: rank for rank, finding in rows}
        cores: dict[Finding, Core] = {}
        for _, finding in sorted(rows, key=lambda row: (len(row[1].actions), row[0])):
            if out_of_time():
                left += 1
                continue
            # Of equally short ones, the more probable first.
            known = sorted(cores.values(), key=lambda core: ranks.get(core.actions, len(rows)))
            name = seeds.child(finding.requirement, finding.name)
            found = shrink(ask, tools, finding, budget=options.shrink, seeds=name, cores=known)
            core = found.core.finding
            status = (core.confirmation or scribe.confirm(core)).status
            cores[core] = found.core
            shrinking.shrunk[finding] = found
            requirement = scribe.requirements[finding.requirement].id
            scribe.driver.recorder.record(
                CounterexampleShrunk(requirement, finding.actions, core.actions, found.simulations, status)
            )
    if left:
        what = "a counterexample" if left == 1 else f"{left} counterexamples"
        shrinking.notes.append(f"max_time was over before {what} could be shrunk")
    _estimate(ask, usage, scribe, shrinking, options, seeds.child("estimate"))


def _estimate(ask: Ask, usage: Usage, scribe: Scribe, shrinking: Shrinking, options: Options, seeds: SeedTree) -> None:
    """Cores that are not on the list; the others have their numbers already."""
    listed = {(f.requirement, f.actions) for f in scribe.progress.search.findings}
    cores = dict.fromkeys(found.core.finding for found in shrinking.shrunk.values())
    missing = [core for core in cores if (core.requirement, core.actions) not in listed]
    if missing:
        scribe.driver.recorder.record(
            StageStarted("estimating shrunk ones", len(missing) * options.passes * options.traces)
        )
    for core in missing:
        estimate_finding(ask, usage, core, replace(options, fan=0), seeds)
        scribe.estimated(core)


def shrunk_rows(
    rows: Sequence[RankedCounterexample],
    listed: Sequence[Finding],
    shrinking: Shrinking,
    confidence: float,
    usage: Usage,
    write: Callable[[Finding, int], str | None],
) -> list[RankedCounterexample]:
    """The rows of one requirement, each with its core; a core's file bears the rank of the first that has it."""
    by_key = {finding.actions: (row, finding) for row, finding in zip(rows, listed, strict=True)}
    space = ProfileSpace(usage)
    told: dict[Finding, ShrunkCounterexample] = {}
    result = []
    for row, finding in zip(rows, listed, strict=True):
        found = shrinking.shrunk.get(finding)
        if found is None:
            result.append(row)
            continue
        core = found.core.finding
        if core not in told:
            told[core] = _row(found.core, row, by_key.get(core.actions), confidence, space, write)
        result.append(replace(row, shrunk=replace(told[core], simulations=found.simulations)))
    return result


def _row(
    core: Core,
    first: RankedCounterexample,
    listed: tuple[RankedCounterexample, Finding] | None,
    confidence: float,
    space: ProfileSpace,
    write: Callable[[Finding, int], str | None],
) -> ShrunkCounterexample:
    finding = core.finding
    widened, same_as, file = None, None, None
    if listed is not None:
        row, same = listed
        file = row.file if same is finding else None  # none of its actions can be left out
        finding.estimate, widened, same_as = same.estimate, row.probability_with_uncertainty, row.rank
    elif finding.estimate is not None:
        wide = insights_of(space.usage, [finding], None, None, sensitivity=False, confidence=confidence)
        widened = wide.probabilities.get(1)
    estimate, seen = finding.estimate, finding.whole_judgement
    return ShrunkCounterexample(
        actions=finding.actions,
        same_as=same_as,
        settled=core.settled,
        simulations=0,
        status=finding.status,
        probability=finding.probability(confidence),
        cylinder=None if estimate is None else estimate.cylinder,
        columns={} if estimate is None else estimate.columns,
        first_violation_time=seen.first_violation_time,
        robustness=seen.robustness,
        delay_quantiles=core.places,
        file=file or write(finding, same_as or first.rank),
        probability_with_uncertainty=widened,
        values=() if finding.walk is None else tuple(space.drawn_values(finding.walk, seen.first_violation_time)),
    )
