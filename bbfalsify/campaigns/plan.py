"""From a campaign file to run plans, with every mistake reported before anything runs.

    campaign = load_campaign("experiments/heater/campaign.yaml")
    for plan in campaign.runs: ...

A `RunPlan` holds loaded objects: one system, one profile, the requirements, one engine setting, one seed.  Lists in the
file multiply into plans in the order written, the last key varying fastest; a list of requirements does not multiply.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.campaigns.compatibility import port_problems
from bbfalsify.campaigns.engine_entries import check_needs, named_kinds, read_engines, spoken_about
from bbfalsify.campaigns.inputs import (
    acceptances_of,
    check_early_stop,
    model_of,
    profile_of,
    signals_of,
    system_of,
)
from bbfalsify.campaigns.reading import Reader, dotted
from bbfalsify.campaigns.requirements.stl import PlannedRequirement, RequirementItem, collect_items, parse_items
from bbfalsify.core.budget import Budget
from bbfalsify.core.engine_kind import EngineKind, Engines
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.seeds import draw_seed
from bbfalsify.records.documents import Document, KeyPath, read_yaml
from bbfalsify.running.execution import Execution

if TYPE_CHECKING:
    from bbfalsify.campaigns.requirements.queries import PlannedModel
    from bbfalsify.modelling import Profile
    from bbfalsify.records.accepted import Acceptances
    from bbfalsify.systems import System


TIME_LIMIT_S = 60.0
"""A simulation that takes longer than this is taken to hang, unless the campaign says otherwise."""


@dataclass(frozen=True)
class RunPlan:
    name: str
    system: System | None
    """None where the engine looks at a model instead."""
    system_reference: str | None
    base: Path
    """The folder that the reference is relative to."""
    profile: Profile | None
    """None where the engine needs none."""
    requirements: tuple[PlannedRequirement, ...]
    engine: Any
    """Its settings, one value each; a frozen dataclass with the keys that stand under `engine:`."""
    kind: EngineKind
    seed: int
    execution: Execution
    budget: Budget = Budget()
    model: PlannedModel | None = None
    store: Path | None = None
    """Where counterexamples are kept from run to run."""
    accepted: Acceptances | None = None
    """Failures that are no news."""
    varies: Mapping[str, Any] = field(default_factory=dict)
    """The keys whose lists made several runs, with this run's values: what tells it from its neighbours."""


@dataclass(frozen=True)
class Campaign:
    name: str
    file: str
    runs: tuple[RunPlan, ...]
    drawn_seed: int | None = None
    """Where nobody gave a seed: the one that was drawn."""


def load_campaign(
    path: str | Path,
    engines: Engines,
    *,
    seed: int | None = None,
    jobs: int | None = None,
    executor: str | None = None,
    store: Path | None = None,
    accepted: Path | None = None,
    drawn_seed: int | None = None,
) -> Campaign:
    """Read and check a campaign file; what is given here overrules the file, but `drawn_seed`: that is the seed that
    was drawn for it before.
    """
    file = Path(path)
    document = read_yaml(file)
    return plan_document(
        document,
        engines,
        base=file.parent,
        seed=seed,
        jobs=jobs,
        executor=executor,
        store=store,
        accepted=accepted,
        drawn_seed=drawn_seed,
    )


def plan_document(
    document: Document,
    engines: Engines,
    *,
    base: Path,
    seed: int | None = None,
    jobs: int | None = None,
    executor: str | None = None,
    store: Path | None = None,
    accepted: Path | None = None,
    drawn_seed: int | None = None,
    label: Callable[[KeyPath], str] = dotted,
) -> Campaign:
    """Check a campaign given as a document; relative paths are relative to `base`."""
    from bbfalsify.campaigns.schema import CAMPAIGN_SECTIONS, REQUIRED_SECTIONS

    reader = Reader(document, [], label)
    sections = reader.sections(CAMPAIGN_SECTIONS, REQUIRED_SECTIONS, "campaign")
    settings_of_engines = read_engines(reader, sections.get("engine"), engines)
    kinds = named_kinds(sections.get("engine"), engines)
    check_needs(reader, kinds)
    # Where an engine's settings are wrong, its name still says what the rest of the campaign is about.
    about = (
        {spoken_about(engine, kinds) for engine in settings_of_engines}
        or {kind.about for kind in kinds.values()}
        or {"signals"}
    )
    systems = {s: system_of(reader, base, s, about) for s in dict.fromkeys(sections.get("system", []))}
    profiles = {p: profile_of(reader, base, p, about) for p in dict.fromkeys(sections.get("profile", []))}
    models = {m: model_of(reader, base, m) for m in dict.fromkeys(sections.get("model", []))}
    for profile in filter(None, profiles.values()) if "signals" in about else ():
        for system in filter(None, systems.values()):
            reader.adopt(("profile",), port_problems(profile, system))
    items = collect_items(reader, sections["requirements"], base) if "requirements" in sections else None
    if len(about) > 1:
        names = " and ".join(f"about {what}" for what in sorted(about))
        reader.problem(("engine",), f"engines {names} need campaigns of their own.")
    requirements = _requirements(
        reader, base, items, settings_of_engines, about, systems, profiles, models, sections.get("expected")
    )
    reader.adopt(("budget",), _budget_problems(about, sections.get("budget", ())))
    if store is None and "store" in sections:
        store = base / sections["store"]
    if store is not None and store.exists() and not store.is_dir():
        reader.problem(("store",), f"{label(('store',))}: '{store}' is not a folder.")
    if executor is not None:
        executor = reader.check(CAMPAIGN_SECTIONS["executor"], executor, ("executor",))
    if "memory_limit" in sections and not sys.platform.startswith("linux"):
        reader.problem(("memory_limit",), f"{label(('memory_limit',))}: a memory limit can be set on Linux only.")
    if True in sections.get("early_stop", []):
        check_early_stop(reader, filter(None, systems.values()))
    if accepted is None and "accepted" in sections:
        accepted = base / sections["accepted"]
    acceptances = None if accepted is None else acceptances_of(reader, accepted, items or (), profiles)
    if reader.problems:
        raise UserError(_in_order(reader.problems, document.file))
    if seed is None and "seed" not in sections:
        drawn_seed = draw_seed() if drawn_seed is None else drawn_seed
    else:
        drawn_seed = None
    name = sections.get("name") or Path(document.file).stem or _own_name(systems, models)
    settings = {
        "system": list(systems) or [None],
        "profile": list(profiles) or [None],
        "model": list(models) or [None],
        "engine": settings_of_engines,
        "seed": [seed] if seed is not None else sections.get("seed", [drawn_seed]),
        "budget": [Budget(b.simulations, b.seconds) for b in sections.get("budget", ())] or [Budget()],
        "time_limit": sections.get("time_limit", [TIME_LIMIT_S]),
        "on_failure": sections.get("on_failure", ["inconclusive"]),
        "votes": sections.get("votes", [1]),
        "memory_limit": sections.get("memory_limit", [None]),
        "early_stop": sections.get("early_stop", [False]),
    }
    runs, count = [], math.prod(map(len, settings.values()))
    for values in itertools.product(*settings.values()):
        point = dict(zip(settings, values, strict=True))
        runs.append(
            RunPlan(
                name=name if count == 1 else f"{name}-{len(runs) + 1}",
                system=systems.get(point["system"]),
                system_reference=point["system"],
                base=base,
                profile=profiles.get(point["profile"]),
                model=models.get(point["model"]),
                requirements=tuple(requirements[point["model"]]),
                engine=point["engine"],
                kind=kinds[point["engine"].kind],
                seed=point["seed"],
                execution=Execution(
                    jobs=jobs if jobs is not None else sections.get("jobs", 1),
                    executor=executor or sections.get("executor"),
                    **{key: point[key] for key in ("time_limit", "memory_limit", "votes", "early_stop", "on_failure")},
                ),
                budget=point["budget"],
                store=store,
                accepted=acceptances,
                varies=_varies(settings, point),
            )
        )
    return Campaign(name, document.file, tuple(runs), drawn_seed)


def _own_name(systems: Mapping[str, System], models: Mapping[str, PlannedModel]) -> str:
    """Of a run that is described on the command line."""
    named = next(iter(systems.values()), None)
    return named.name if named is not None else f"reach-{next(iter(models.values())).name}"


def _in_order(problems: list[Problem], campaign: str) -> list[Problem]:
    """Each once; those of the campaign first, then file by file, from top to bottom."""
    return sorted(dict.fromkeys(problems), key=lambda p: (p.file != campaign, p.file or "", p.line or 0))


def _varies(settings: Mapping[str, list], point: Mapping[str, Any]) -> dict[str, Any]:
    structured = ("engine", "budget")
    varies = {key: point[key] for key, values in settings.items() if key not in structured and len(values) > 1}
    for key in structured:
        for option in fields(point[key]):
            # By their text: a mapping (the symbols of a check) is not hashable.
            values = {repr(getattr(other, option.name, None)) for other in settings[key]}
            if len(values) > 1:
                varies[option.name if key == "engine" else f"budget.{option.name}"] = getattr(point[key], option.name)
    return varies


def _requirements(
    reader: Reader,
    base: Path,
    items: list[RequirementItem] | None,
    engines: Iterable[Any],
    about: Collection[str],
    systems: Mapping[str, Any],
    profiles: Mapping[str, Profile | None],
    models: Mapping[str, PlannedModel | None],
    expected: str | None,
) -> dict[str | None, list[PlannedRequirement]]:
    """Those of each model that is named; where none is, those of the campaign."""
    if about == {"states"}:
        from bbfalsify.campaigns.requirements.queries import plan_queries

        loaded = {name: model for name, model in models.items() if model is not None}
        return {name: plan_queries(reader, items, model, expected) for name, model in loaded.items()}
    if about == {"symbols"}:
        from bbfalsify.campaigns.requirements.ltl import plan_claims, settings_problems

        boxes = [box for box in systems.values() if box is not None]
        reader.adopt(("engine",), settings_problems(engines, boxes, base))
        return {None: plan_claims(items or [], boxes, expected)}
    return {None: parse_items(items or [], signals_of(profiles, systems), expected)}


def _budget_problems(about: Collection[str], budgets: Iterable[Any]) -> list[Problem]:
    limited = "states" in about and any(budget.simulations is not None for budget in budgets)
    return [Problem("reach simulates nothing: engine.walks limits its walks.")] if limited else []
