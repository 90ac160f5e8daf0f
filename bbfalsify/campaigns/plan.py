"""From a campaign file to run plans, with every mistake reported before anything runs.

    campaign = load_campaign("experiments/heater/campaign.yaml")
    for plan in campaign.runs: ...

A `RunPlan` holds loaded objects: one system, one profile, the requirements, one engine setting, one seed.  Lists in the
file multiply into plans in the order written, the last key varying fastest; a list of requirements does not multiply.
"""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.campaigns.kinds import engine_kind, engine_names
from bbfalsify.campaigns.ports import port_problems
from bbfalsify.campaigns.reading import Reader, dotted
from bbfalsify.campaigns.requirements import PlannedRequirement, RequirementItem, collect_items, parse_items
from bbfalsify.campaigns.temporal import plan_claims, settings_problems
from bbfalsify.core.budget import Budget
from bbfalsify.core.documents import Document, KeyPath, read_yaml
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.seeds import draw_seed

if TYPE_CHECKING:
    from bbfalsify.modelling import Network, Profile
    from bbfalsify.running.accepted import Acceptances
    from bbfalsify.systems import System


TIME_LIMIT_S = 60.0
"""A simulation that takes longer than this is taken to hang, unless the campaign says otherwise."""


@dataclass(frozen=True)
class RunPlan:
    name: str
    system: System
    system_reference: str
    base: Path
    """The folder that the reference is relative to."""
    profile: Profile | None
    """None where the engine needs none."""
    requirements: tuple[PlannedRequirement, ...]
    engine: Any
    """Its settings, one value each; a frozen dataclass with the keys that stand under `engine:`."""
    seed: int
    jobs: int
    time_limit: float
    on_failure: str
    budget: Budget = Budget()
    executor: str | None = None
    votes: int = 1
    memory_limit: float | None = None
    """Megabytes a worker may take, on top of what it has when it starts."""
    early_stop: bool = False
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
    engines = _engines(reader, sections.get("engine"))
    _check_needs(reader, engines)
    kinds = {_answers(engine) for engine in engines}
    systems = {s: _system(reader, base, s, kinds) for s in dict.fromkeys(sections.get("system", []))}
    profiles = {p: _profile(reader, base, p, kinds) for p in dict.fromkeys(sections.get("profile", []))}
    for profile in filter(None, profiles.values()) if kinds != {"symbols"} else ():
        for system in filter(None, systems.values()):
            reader.adopt(("profile",), port_problems(profile, system))
    items = collect_items(reader, sections["requirements"], base) if "requirements" in sections else []
    if len(kinds) > 1:
        reader.problem(("engine",), "engines about signals and engines about symbols need campaigns of their own.")
    if kinds == {"symbols"}:
        boxes = [box for box in systems.values() if box is not None]
        requirements = plan_claims(items, boxes, sections.get("expected"))
        reader.adopt(("engine",), settings_problems(engines, boxes, base))
    else:
        requirements = parse_items(items, _signals(profiles, systems), sections.get("expected"))
    if store is None and "store" in sections:
        store = base / sections["store"]
    if store is not None and store.exists() and not store.is_dir():
        reader.problem(("store",), f"{label(('store',))}: '{store}' is not a folder.")
    if executor is not None:
        executor = reader.check(CAMPAIGN_SECTIONS["executor"], executor, ("executor",))
    if "memory_limit" in sections and not sys.platform.startswith("linux"):
        reader.problem(("memory_limit",), f"{label(('memory_limit',))}: a memory limit can be set on Linux only.")
    if True in sections.get("early_stop", []):
        _check_early_stop(reader, filter(None, systems.values()))
    if accepted is None and "accepted" in sections:
        accepted = base / sections["accepted"]
    acceptances = None if accepted is None else _acceptances(reader, accepted, items, profiles)
    if reader.problems:
        raise UserError(_in_order(reader.problems, document.file))
    if seed is None and "seed" not in sections:
        drawn_seed = draw_seed() if drawn_seed is None else drawn_seed
    else:
        drawn_seed = None
    name = sections.get("name") or Path(document.file or "falsify").stem
    settings = {
        "system": list(systems),
        "profile": list(profiles) or [None],
        "engine": engines,
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
                system=systems[point["system"]],
                system_reference=point["system"],
                base=base,
                profile=profiles.get(point["profile"]),
                requirements=tuple(requirements),
                engine=point["engine"],
                seed=point["seed"],
                jobs=jobs if jobs is not None else sections.get("jobs", 1),
                budget=point["budget"],
                executor=executor or sections.get("executor"),
                time_limit=point["time_limit"],
                on_failure=point["on_failure"],
                votes=point["votes"],
                memory_limit=point["memory_limit"],
                early_stop=point["early_stop"],
                store=store,
                accepted=acceptances,
                varies=_varies(settings, point),
            )
        )
    return Campaign(name, document.file, tuple(runs), drawn_seed)


def _in_order(problems: list[Problem], campaign: str) -> list[Problem]:
    """Each once; those of the campaign first, then file by file, from top to bottom."""
    return sorted(dict.fromkeys(problems), key=lambda p: (p.file != campaign, p.file or "", p.line or 0))


def _varies(settings: Mapping[str, list], point: Mapping[str, Any]) -> dict[str, Any]:
    structured = ("engine", "budget")
    varies = {key: point[key] for key, values in settings.items() if key not in structured and len(values) > 1}
    for key in structured:
        for option in fields(point[key]):
            values = {getattr(other, option.name, None) for other in settings[key]}
            if len(values) > 1:
                varies[option.name if key == "engine" else f"budget.{option.name}"] = getattr(point[key], option.name)
    return varies


def _engines(reader: Reader, value: Any) -> list[Any]:
    """Every engine entry, its lists multiplied: settings with one value each."""
    points: list[Any] = []
    entries = value if isinstance(value, list) else [] if value is None else [value]
    for index, item in enumerate(entries):
        path: KeyPath = ("engine", index) if isinstance(value, list) else ("engine",)
        model = _settings_model(reader, item, path)
        entry = None if model is None else reader.check(model, item, path)
        if entry is None:
            continue
        given = {name: getattr(entry, name) for name in model.model_fields}
        choices = {name: value if isinstance(value, list) else [value] for name, value in given.items()}
        settings = settings_class(model)
        points += [settings(*values) for values in itertools.product(*choices.values())]
        if True in given.get("quasi_random", ()) and "splitting" in given["estimator"]:
            at = (*path, "quasi_random")
            reader.problem(at, f"{reader.label(at)} needs the conditional estimator, and estimator is splitting.")
    return points


def _settings_model(reader: Reader, item: Any, path: KeyPath) -> Any | None:
    """The model of the engine that the entry names; which keys are allowed depends on it."""
    names = engine_names()
    if not isinstance(item, dict) or not isinstance(item.get("kind"), str) or item["kind"] not in names:
        from bbfalsify.campaigns.schema import AnyEngine

        # Only to say what is wrong with it; everything else is checked when that is known.
        kind = item.get("kind", "") if isinstance(item, dict) else item
        if isinstance(item, dict) and isinstance(kind, str) and kind:
            reader.not_a_choice((*path, "kind"), kind, names)
        else:
            reader.check(AnyEngine, item, path)
        return None
    try:
        return engine_kind(item["kind"]).settings_model()
    except UserError as error:
        reader.adopt(path, error.problems)
        return None


@functools.cache
def settings_class(model: Any) -> type:
    """A frozen dataclass with the fields of a model."""
    return make_dataclass(model.__name__.replace("Entry", "Settings"), list(model.model_fields), frozen=True)


def _check_needs(reader: Reader, engines: Iterable[Any]) -> None:
    data = reader.document.data
    needed = dict.fromkeys(section for engine in engines for section in engine_kind(engine.kind).needs)
    for section in needed if engines else ("system", "requirements"):
        if isinstance(data, dict) and section not in data:
            reader.problem((), f"{reader.label((section,))} is missing.")


def _answers(engine: Any) -> str:
    """What the engine's systems answer; one that samples them takes signals and makes symbols of them itself."""
    return "signals" if getattr(engine, "period", None) is not None else engine_kind(engine.kind).answers


def _key_path(reader: Reader, key: str, value: str) -> KeyPath:
    given = reader.document.data[key]
    return (key, given.index(value)) if isinstance(given, list) else (key,)


def _profile(reader: Reader, base: Path, name: str, answers: Collection[str]) -> Profile | Network | None:
    from bbfalsify.campaigns.temporal import load_usage
    from bbfalsify.modelling import Profile, check_profile, load_profile

    path = _key_path(reader, "profile", name)
    if not (base / name).is_file():
        reader.problem(path, f"{reader.label(path)}: there is no file '{base / name}'.")
        return None
    try:
        profile = load_usage(base / name) if set(answers) == {"symbols"} else load_profile(base / name)
    except UserError as error:
        reader.adopt(path, error.problems)
        return None
    problems = check_profile(profile) if isinstance(profile, Profile) else []
    reader.adopt(path, problems)
    return None if problems else profile


def _system(reader: Reader, base: Path, reference: str, answers: Collection[str]) -> System | None:
    from bbfalsify.systems import SymbolSystem, load_system

    path = _key_path(reader, "system", reference)
    try:
        system = load_system(reference, base=base)
    except UserError as error:
        reader.adopt(path, error.problems)
        return None
    if isinstance(system, SymbolSystem) and "symbols" not in answers:
        reader.problem(path, f"'{reference}' answers symbols, not signals; falsify needs inputs and outputs over time.")
        return None
    if not isinstance(system, SymbolSystem) and set(answers) == {"symbols"}:
        reader.problem(path, f"'{reference}' takes signals; check needs a system that answers symbols.")
        return None
    return system


def _check_early_stop(reader: Reader, systems: Iterable[System]) -> None:
    from bbfalsify.systems.interface import CapabilityMissing, require_capability

    for system in systems:
        try:
            require_capability(system, "stepwise", reader.label(("early_stop",)))
        except CapabilityMissing as missing:
            reader.adopt(("early_stop",), missing.problems)


def _acceptances(
    reader: Reader, file: Path, items: Iterable[RequirementItem], profiles: Mapping[str, Profile | None]
) -> Acceptances | None:
    """The accepted failures; names that this campaign does not know are slips of the pen."""
    from bbfalsify.running.accepted import load_acceptances

    if not file.is_file():
        reader.problem(("accepted",), f"{reader.label(('accepted',))}: there is no file '{file}'.")
        return None
    try:
        acceptances = load_acceptances(file)
    except UserError as error:
        reader.adopt(("accepted",), error.problems)
        return None
    names = [item.data["id"] for item in items if isinstance(item.data, dict) and "id" in item.data]
    if names and profiles and None not in profiles.values():
        actions = {action for profile in profiles.values() for action in profile.network.actions}
        reader.adopt(("accepted",), acceptances.problems(names, actions))
    return acceptances


def _signals(profiles: Mapping[str, Profile | None], systems: Mapping[str, System | None]) -> list[str] | None:
    """What formulas may name: every input and output; None while a profile or system could not be loaded."""
    if not systems or None in profiles.values() or None in systems.values():
        return None
    names: dict[str, None] = {}
    for profile in profiles.values():
        names.update(dict.fromkeys(port.name for port in profile.inputs))
    for system in systems.values():
        ports = system.outputs if profiles else (*system.inputs, *system.outputs)
        names.update(dict.fromkeys(port.name for port in ports))
    return list(names)
