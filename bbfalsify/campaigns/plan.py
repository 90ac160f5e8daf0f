"""From a campaign file to run plans, with every mistake reported before anything runs.

    campaign = load_campaign("experiments/heater/campaign.yaml")
    for plan in campaign.runs: ...

A `RunPlan` holds loaded objects: one system, one profile, the requirements, one value for each setting, one seed.
Lists in the file multiply into plans in the order in which keys are declared, the last one varying fastest; a list of
requirements does not multiply.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from bbfalsify.campaigns.engine_entries import (
    check_needs,
    check_subjects,
    named_kinds,
    named_subjects,
    read_engines,
    spoken_about,
)
from bbfalsify.campaigns.inputs import Inputs, acceptances_of, check_early_stop, check_lengths, load_inputs, signals_of
from bbfalsify.campaigns.reading import Reader
from bbfalsify.campaigns.requirements.stl import PlannedRequirement, RequirementItem, collect_items, fits, parse_items
from bbfalsify.campaigns.schema import CAMPAIGN_SECTIONS
from bbfalsify.core.budget import Budget
from bbfalsify.core.engine_kind import EngineKind, Engines
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.seeds import draw_seed
from bbfalsify.core.setting_values import dotted
from bbfalsify.core.settings import keys_of
from bbfalsify.records.documents import Document, KeyPath, read_yaml
from bbfalsify.running.execution import Execution

if TYPE_CHECKING:
    from bbfalsify.campaigns.requirements.queries import PlannedModel
    from bbfalsify.modelling import Network, Profile
    from bbfalsify.records.accepted import Acceptances
    from bbfalsify.systems import SymbolSystem, System

T = TypeVar("T")


@dataclass(frozen=True)
class RunPlan:
    name: str
    system: System | SymbolSystem | None
    """None where the engine looks at a model instead."""
    system_reference: str | None
    base: Path
    """The folder that the reference is relative to."""
    profile: Profile | Network | None
    """None where the engine needs none."""
    model: PlannedModel | None
    requirements: tuple[PlannedRequirement, ...]
    engine: Any
    """Its settings, one value each."""
    kind: EngineKind
    seed: int
    execution: Execution
    budget: Budget
    store: Path | None = None
    """The folder in which counterexamples are kept from run to run."""
    accepted: Acceptances | None = None
    """Failures that are no news."""
    varies: Mapping[str, Any] = field(default_factory=dict)
    """The keys whose lists made several runs, with this run's values: what tells it from its neighbours."""

    def stated(self, kind: type[T]) -> list[T]:
        """Return the requirements, which are all of this type."""
        return [p.requirement for p in self.requirements if isinstance(p.requirement, kind)]


@dataclass(frozen=True)
class Campaign:
    name: str
    file: str
    runs: tuple[RunPlan, ...]
    drawn_seed: int | None = None
    """The seed that was drawn, where none was given."""
    not_checked: tuple[Problem, ...] = ()
    """What could not be checked without running code of a system; only where that was asked."""


class Given(TypedDict, total=False):
    """Values that overrule a campaign; None is not given."""

    seed: int | None
    jobs: int | None
    executor: str | None
    executor_lost: str | None
    store: Path | None
    accepted: Path | None
    drawn_seed: int | None
    """Overrules nothing: the seed that was drawn for the campaign before."""
    declared_only: bool
    """Run no code of a system: read what it declares.  Such plans can be looked at, not executed."""


def load_campaign(path: str | Path, engines: Engines, **given: Unpack[Given]) -> Campaign:
    """Read and check a campaign file."""
    file = Path(path)
    return plan_document(read_yaml(file), engines, base=file.parent, **given)


def plan_document(
    document: Document,
    engines: Engines,
    *,
    base: Path,
    label: Callable[[KeyPath], str] = dotted,
    **given: Unpack[Given],
) -> Campaign:
    """Check a campaign given as a document; relative paths are relative to `base`."""
    reader = Reader(document, [], label)
    _refuse_models(document)
    sections = reader.sections(CAMPAIGN_SECTIONS, "campaign")
    sections |= _overruling(given, reader)
    [engine] = sections.get("engine", [None])
    points_of_engines, kinds = read_engines(reader, engine, engines), named_kinds(engine, engines)
    check_needs(reader, kinds)
    about = {spoken_about(point, kinds) for point in points_of_engines}
    about = about or named_subjects(reader, kinds) or {"signals"}
    check_subjects(reader, about, kinds)
    inputs = load_inputs(reader, sections, base, about, declared_only=given.get("declared_only", False))
    items = collect_items(reader, sections["requirements"][0], base) if "requirements" in sections else None
    if len(about) > 1:
        names = " and ".join(f"about {what}" for what in sorted(about))
        reader.problem(("engine",), f"engines {names} need campaigns of their own.")
    [expected] = sections.get("expected", [None])
    items = None if items is None else [item for item in items if fits(item, about)]
    requirements = _requirements(reader, base, items, points_of_engines, about, inputs, expected, kinds)
    _check_sections(reader, sections, about, inputs)
    if "signals" in about:
        check_lengths(reader, inputs, points_of_engines)
    store = _path(given.get("store"), sections, "store", base)
    if store is not None and store.exists() and not store.is_dir():
        reader.problem(("store",), f"{label(('store',))}: '{store}' is not a folder.")
    accepted = _path(given.get("accepted"), sections, "accepted", base)
    acceptances = None if accepted is None else acceptances_of(reader, accepted, items or (), inputs)
    if reader.problems:
        raise UserError(_in_order(reader.problems, document.file))
    drawn_seed = None
    if "seed" not in sections:
        drawn_seed = given.get("drawn_seed")
        drawn_seed = draw_seed() if drawn_seed is None else drawn_seed
    [name] = sections.get("name", [Path(document.file).stem or inputs.own_name(next(iter(kinds), "run"))])
    points = _points(sections, inputs, points_of_engines, drawn_seed)
    runs = tuple(
        RunPlan(
            name=name if len(points) == 1 else f"{name}-{number}",
            system=inputs.systems.get(point["system"]),
            system_reference=point["system"],
            base=base,
            profile=inputs.profiles.get(point["profile"]),
            model=inputs.models.get(point["model"]),
            requirements=tuple(requirements[point["model"]]),
            engine=point["engine"],
            kind=kinds[point["engine"].kind],
            seed=point["seed"],
            execution=Execution(**{key: point[key] for key in keys_of(Execution)}),
            budget=point["budget"],
            store=store,
            accepted=acceptances,
            varies=varies,
        )
        for number, (point, varies) in enumerate(points, start=1)
    )
    return Campaign(name, document.file, runs, drawn_seed, tuple(inputs.not_checked))


def _refuse_models(document: Document) -> None:
    """Say where a profile or a model was given; each of its keys would be a problem of its own."""
    if isinstance(document.data, dict) and "automata" in document.data and "engine" not in document.data:
        name = document.file
        text = (
            "this is a profile or a model, not a campaign: 'bbfalsify falsify --profile' takes one, "
            "'bbfalsify simulate' walks in one, 'bbfalsify new campaign NAME' writes a campaign."
        )
        raise UserError(Problem(text, file=name or None, line=document.line(("automata",))))


def _overruling(given: Given, reader: Reader) -> dict[str, list[Any]]:
    """Return the sections that were given beside the document, checked like those in it."""
    values = {
        key: given.get(key) for key in ("seed", "jobs", "executor", "executor_lost") if given.get(key) is not None
    }
    declared = {key: CAMPAIGN_SECTIONS[key] for key in values}
    return Reader(Document("", values, {}), reader.problems, reader.label).sections(declared, "campaign")


def _path(given: Path | None, sections: Mapping[str, Sequence[Any]], key: str, base: Path) -> Path | None:
    return base / sections[key][0] if given is None and key in sections else given


def _check_sections(
    reader: Reader, sections: Mapping[str, Sequence[Any]], about: Collection[str], inputs: Inputs
) -> None:
    """Note values that are right alone, and wrong for this campaign or this machine."""
    if "states" in about and any(budget.simulations is not None for budget in sections.get("budget", ())):
        reader.adopt(("budget",), [Problem("reach simulates nothing: engine.walks limits its walks.")])
    if "memory_limit" in sections and not sys.platform.startswith("linux"):
        reader.problem(
            ("memory_limit",), f"{reader.label(('memory_limit',))}: a memory limit can be set on Linux only."
        )
    if True in sections.get("early_stop", []):
        check_early_stop(reader, inputs.of_signals())


def _points(
    sections: Mapping[str, Sequence[Any]], inputs: Inputs, engines: Sequence[Any], drawn_seed: int | None
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the values of every run, and those of them that tell it from its neighbours."""
    settings: dict[str, Sequence[Any]] = {
        "system": list(inputs.systems) or [None],
        "profile": list(inputs.profiles) or [None],
        "model": list(inputs.models) or [None],
        "engine": engines,
        "seed": sections.get("seed", [drawn_seed]),
        "budget": sections.get("budget", [Budget()]),
        **{key: sections.get(key, [declared.default]) for key, declared in keys_of(Execution).items()},
    }
    points = [dict(zip(settings, values, strict=True)) for values in itertools.product(*settings.values())]
    return [(point, _varies(settings, point)) for point in points]


def _in_order(problems: list[Problem], campaign: str) -> list[Problem]:
    """Return each problem once: those of the campaign first, then file by file, from top to bottom."""
    return sorted(dict.fromkeys(problems), key=lambda p: (p.file != campaign, p.file or "", p.line or 0))


def _varies(settings: Mapping[str, Sequence[Any]], point: Mapping[str, Any]) -> dict[str, Any]:
    structured = ("engine", "budget")
    varies = {key: point[key] for key, values in settings.items() if key not in structured and len(values) > 1}
    for key in structured:
        for option in fields(point[key]):
            value = getattr(point[key], option.name)
            if any(getattr(other, option.name, None) != value for other in settings[key]):
                varies[option.name if key == "engine" else f"budget.{option.name}"] = value
    return varies


def _requirements(
    reader: Reader,
    base: Path,
    items: list[RequirementItem] | None,
    engines: Iterable[Any],
    about: Collection[str],
    inputs: Inputs,
    expected: str | None,
    kinds: Mapping[str, EngineKind],
) -> dict[str | None, list[PlannedRequirement]]:
    """Return the requirements of each model that is named; where none is, those of the campaign under None."""
    if about == {"states"}:
        from bbfalsify.campaigns.requirements.queries import plan_queries

        loaded = {name: model for name, model in inputs.models.items() if model is not None}
        kind = next(iter(kinds.values()))
        return {name: plan_queries(reader, items, model, expected, kind) for name, model in loaded.items()}
    if about == {"symbols"}:
        from bbfalsify.campaigns.requirements.ltl import note_settings, plan_claims
        from bbfalsify.systems import SymbolSystem

        boxes = [box for box in inputs.systems.values() if isinstance(box, SymbolSystem)]
        note_settings(reader, engines, boxes, base)
        return {None: plan_claims(items or [], boxes, expected)}
    return {None: parse_items(items or [], signals_of(inputs), expected)}
