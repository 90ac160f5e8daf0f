"""Execute one plan: hand it to the running room, and record what its author expected beside what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bbfalsify.campaigns.categories import category, run_category
from bbfalsify.campaigns.plan import Campaign, RunPlan
from bbfalsify.campaigns.requirements.stl import PlannedRequirement
from bbfalsify.core.events import Event
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.records.run_directory import RunDirectory, file_hash
from bbfalsify.registry import engine_kind
from bbfalsify.systems.loading import resolve_reference


@dataclass(frozen=True)
class Recording:
    """Place and manner of recording a run; the plan says what is run."""

    campaign: Campaign
    out: Path
    directory: Path | None = None
    """Exactly this run directory, or a new one."""
    listeners: Sequence[Callable[[Event], None]] = ()
    executor: str | Executor | None = None
    configuration: dict[str, Any] | None = None
    """The configuration of the run, if it has been made already."""

    def configuration_of(self, plan: RunPlan) -> dict[str, Any]:
        return self.configuration or configuration_of(plan, self.campaign)


def execute(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Return the results of the run, as they are also stored in its directory."""
    run = engine_kind(plan.engine.kind).named("run")
    data: dict[str, Any] = run(plan, recording)
    if "varies" not in data:
        data = annotated(plan, data)
        # The same without these notes is on disk already, and they can be made again.
        RunDirectory(data["run_directory"]).write_results(data, durable=False)
    return data


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
    return SystemRecord(reference, str(base), sha256, "" if system is None else system.name)


def origin_of(campaign: Campaign) -> dict[str, Any]:
    """Return what records say about the campaign file; a campaign that was begun is found again by it."""
    file = str(Path(campaign.file).resolve()) if campaign.file else None
    return {"file": file, "sha256": file_hash(file), "drawn_seed": campaign.drawn_seed}


def configuration_of(plan: RunPlan, campaign: Campaign, origin: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return everything needed to write this run down as a campaign; `origin` is `origin_of` the campaign."""
    subject = {"system": plan.system_reference} if plan.model is None else {"model": plan.model.reference}
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
