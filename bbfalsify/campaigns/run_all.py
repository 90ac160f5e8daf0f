"""Execute a campaign: every run that is not finished, one after the other, each recorded before it is told about.

    for done in run_all(load_campaign("campaign.yaml"), out=Path("runs")):
        done.plan.name, done.results["outcome"], done.executed

What is yielded can be forgotten: nothing is kept but a line per run for the summary, so a thousand runs need no more
memory than one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from bbfalsify.campaigns.categories import run_category
from bbfalsify.campaigns.directory import CampaignDirectory
from bbfalsify.campaigns.execute import Done, annotated, configuration_of, origin_of, run_one
from bbfalsify.campaigns.plan import Campaign, RunPlan
from bbfalsify.core.errors import SystemFailure, UserError
from bbfalsify.core.events import Event
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.records.disk import together
from bbfalsify.records.json_files import WritingFailed, write_json
from bbfalsify.records.recording import Recording
from bbfalsify.records.run_files import SUMMARY
from bbfalsify.results.run_result import RequirementRow, RunResult
from bbfalsify.running.execution import Execution
from bbfalsify.running.workers.executors import opened

Listeners = Callable[[RunPlan], Sequence[Callable[[Event], None]]]


def run_all(
    campaign: Campaign,
    *,
    out: Path,
    directory: Path | None = None,
    listeners: Listeners = lambda plan: (),
    executor: str | Executor | None = None,
    extend: bool = False,
) -> Iterator[Done]:
    """`directory`: of the same campaign, begun before; it is continued.  `executor` overrules the campaign's.  With
    `extend` a single run goes on even if it was finished: a check, say, that has a larger budget now.
    """
    first = campaign.runs[0].execution
    with opened(replace(first, executor=executor or first.executor)) as where:
        if len(campaign.runs) == 1:
            [plan] = campaign.runs
            written = configuration_of(plan, campaign)  # with the name of the executor, not with the one that is open
            recording = Recording(out, directory, listeners=listeners(plan), configuration=written)
            yield run_one(_executed_at(where, plan), campaign, recording, extend=extend)
        else:
            with together():  # hundreds of short runs would wait for the disk as long as they simulate
                yield from _run_several(campaign, out, directory, where, listeners)


def _executed_at(where: Execution, plan: RunPlan) -> RunPlan:
    return replace(plan, execution=replace(plan.execution, executor=where.executor))


def _run_several(
    campaign: Campaign, out: Path, directory: Path | None, where: Execution, listeners: Listeners
) -> Iterator[Done]:
    origin = origin_of(campaign)  # the same for all, and it reads the file
    configurations = [configuration_of(plan, campaign, origin) for plan in campaign.runs]
    if directory is None:
        place = CampaignDirectory.create(out, campaign, configurations)
    else:
        place = CampaignDirectory(directory)
        place.check_same(campaign, configurations)
    with place.locked():
        yield from _run_in(place, campaign, configurations, where, listeners)


def _run_in(
    place: CampaignDirectory,
    campaign: Campaign,
    configurations: Sequence[Mapping[str, Any]],
    where: Execution,
    listeners: Listeners,
) -> Iterator[Done]:
    rows: list[dict[str, Any]] = []
    counts: Counter[str | None] = Counter()
    for number, plan in enumerate(campaign.runs, start=1):
        recording = Recording(
            directory=place.run(number), listeners=listeners(plan), configuration=configurations[number - 1]
        )
        try:
            done = run_one(_executed_at(where, plan), campaign, recording)
        except WritingFailed:
            raise
        except (UserError, SystemFailure) as error:  # one run that cannot be made must not cost the others
            done = Done(plan, _failed(plan, place.run(number), str(error)))
        yield done
        if done.results["stop_reason"] == StopReason.INTERRUPTED:
            return
        rows.append(_summary_row(done))
        counts[rows[-1]["category"]] += 1
    summary = {"name": campaign.name, "categories": dict(counts), "runs": rows}
    write_json(place.path / SUMMARY, summary)


def _failed(plan: RunPlan, directory: Path, message: str) -> dict[str, Any]:
    """Return the results of a run that could not be made; it is tried again when resumed."""
    stated = [planned.requirement for planned in plan.requirements]
    results = RunResult(
        engine=plan.engine.kind,
        name=plan.name,
        outcome=Outcome.ERROR,
        seed=plan.seed,
        stop_reason=StopReason.ERROR,
        requirements=tuple(RequirementRow(id=r.id, text=r.text, outcome=Outcome.ERROR) for r in stated),
        directory=directory,
        notes=(message,),
    )
    return annotated(plan, results.as_json()) | {"category": "error"}


def _summary_row(done: Done) -> dict[str, Any]:
    results = done.results
    return {
        "name": done.plan.name,
        "run_directory": results["run_directory"],
        "varies": dict(done.plan.varies),
        "outcome": results["outcome"],
        "category": run_category(results),
        "stop_reason": results["stop_reason"],
        "simulations": results["simulations"],
        "seconds": results.get("seconds"),
        "counterexamples": len(results["counterexamples"]),
        "found_probability": results["found_probability"],
    }
