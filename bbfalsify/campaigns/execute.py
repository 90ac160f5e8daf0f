"""Execute one plan: hand it to its engine, and record what its author expected beside what came out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bbfalsify.campaigns.categories import category, run_category
from bbfalsify.campaigns.plan import Campaign, RunPlan
from bbfalsify.campaigns.requirements.stl import PlannedRequirement
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.records.manifest import file_hash
from bbfalsify.records.recording import Recording
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.results.recorded import recorded_results
from bbfalsify.systems.references import resolve_reference


@dataclass(frozen=True)
class Done:
    """One run, executed now or before."""

    plan: RunPlan
    results: dict[str, Any]
    executed: bool = True
    """False where it was finished before the campaign was interrupted."""


def run_one(plan: RunPlan, campaign: Campaign, recording: Recording, *, extend: bool = False) -> Done:
    """Execute a plan, unless it was finished before (and is not to be extended)."""
    if recording.directory is not None and not extend:
        begun = RunDirectory(recording.directory)
        if begun.begun and begun.finished:
            begun.check_same_question(recording.configuration or configuration_of(plan, campaign))
            _, results = recorded_results(begun.path)  # which names its files from here: it may have been moved
            return Done(plan, annotated(plan, results), executed=False)
    told: dict[str, Any] = {}

    def annotate(results: dict[str, Any]) -> dict[str, Any]:
        told.update(annotated(plan, results))
        return told

    complete = replace(
        recording,
        name=plan.name,
        configuration=recording.configuration or configuration_of(plan, campaign),
        system=None if plan.system is None else system_record(plan),
        annotate=annotate,
    )
    results = plan.kind.named("run")(plan, complete)
    if told or "varies" in results:
        return Done(plan, told or results)
    if results["run_directory"] is not None:  # an engine of another package, which stored them without these notes
        RunDirectory(results["run_directory"]).write_results(annotate(results), durable=False)
    return Done(plan, told or annotate(results))


def annotated(plan: RunPlan, data: dict[str, Any]) -> dict[str, Any]:
    """Add what was expected, and what tells this run from others."""
    for row, planned in zip(data["requirements"], plan.requirements, strict=True):
        row["expected"] = planned.expected
        row["category"] = category(row["outcome"], planned.expected)
    data["category"] = run_category(data)
    data["varies"] = dict(plan.varies)
    return data


def _written(planned: PlannedRequirement) -> dict[str, Any]:
    requirement = planned.requirement
    words = {"id": requirement.id, "text": requirement.text, "expected": planned.expected}
    return words | requirement.written()


def system_record(plan: RunPlan) -> SystemRecord:
    """Return where the system of the plan was found; it has one."""
    base, reference, system = plan.base.resolve(), str(plan.system_reference), plan.system
    sha256 = resolve_reference(reference, base).file_hash()
    return SystemRecord.found(reference, str(base), sha256, "" if system is None else system.name)


def origin_of(campaign: Campaign) -> dict[str, Any]:
    """Return what records say about the campaign file; a campaign that was begun is found again by it."""
    file = str(Path(campaign.file).resolve()) if campaign.file else None
    return {"file": file, "sha256": file_hash(file), "drawn_seed": campaign.drawn_seed}


def configuration_of(plan: RunPlan, campaign: Campaign, origin: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return everything needed to write this run down as a campaign; `origin` is `origin_of` the campaign."""
    subject: dict[str, Any] = {"system": plan.system_reference}
    if plan.model is not None:
        subject = {"model": plan.model.reference}
        if "constants" in plan.model.about:
            subject["constants"] = plan.model.about["constants"]
    return {
        "campaign": origin or origin_of(campaign),
        "name": plan.name,
        **subject,
        "base": str(plan.base.resolve()),
        "profile": getattr(plan.profile, "file", None),
        "requirements": [_written(p) for p in plan.requirements],
        "engine": plan.engine.as_json(),
        "seed": plan.seed,
        "budget": asdict(plan.budget),
        **plan.execution.as_json(),
        "store": None if plan.store is None else str(plan.store),
        "accepted": None if plan.accepted is None else plan.accepted.file,
    }
