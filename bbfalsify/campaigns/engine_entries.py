"""The entries under `engine:`: settings with one value each, and what they mean for the rest of the campaign."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from typing import Any

from bbfalsify.campaigns.reading import Reader
from bbfalsify.core.engine_kind import EngineKind, Engines
from bbfalsify.core.errors import UserError
from bbfalsify.core.setting_values import closest_choice, shown
from bbfalsify.core.settings import Settings
from bbfalsify.modelling.formats.yaml_reader import VALUE_KEYS
from bbfalsify.records.documents import KeyPath


def read_engines(reader: Reader, value: Any, engines: Engines) -> list[Any]:
    """Return the settings of every engine entry, its lists multiplied: one value each."""
    points: list[Any] = []
    entries = value if isinstance(value, list) else [] if value is None else [value]
    for index, item in enumerate(entries):
        path: KeyPath = ("engine", index) if isinstance(value, list) else ("engine",)
        model = _settings_model(reader, item, path, engines)
        points += [] if model is None else model.read(item, path, reader)
    return points


def named_kinds(value: Any, engines: Engines) -> dict[str, EngineKind]:
    """Return the engines that the campaign names, by their names; others are a problem already."""
    names = [item.get("kind") for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    kinds = {}
    for name in dict.fromkeys(name for name in names if isinstance(name, str) and name in engines.names()):
        with contextlib.suppress(UserError):
            kinds[name] = engines.kind(name)
    return kinds


def _settings_model(reader: Reader, item: Any, path: KeyPath, engines: Engines) -> type[Settings] | None:
    """Return the settings of the engine that the entry names; which keys are allowed depends on it."""
    if not isinstance(item, dict):
        reader.wrong(path, f"must be a mapping of keys to values; found {shown(item)}.")
        return None
    kind, at = item.get("kind"), (*path, "kind")
    if kind is None and "kind" not in item:
        reader.wrong(at, "is missing.", allowed=tuple(engines.names()))
    elif not isinstance(kind, str):
        reader.wrong(at, f"must be text; found {shown(kind)}.")
    elif kind not in engines.names():
        reader.wrong(at, f"cannot be {shown(kind)}.", **closest_choice(kind, engines.names()))
    else:
        return reader.attempt(path, lambda: engines.kind(kind).named("settings"))
    return None


def check_needs(reader: Reader, kinds: Mapping[str, EngineKind]) -> None:
    """Note sections that the engines need and the campaign lacks, and sections that mean nothing to them."""
    data = reader.document.data if isinstance(reader.document.data, dict) else {}
    needed = dict.fromkeys(section for kind in kinds.values() for section in kind.needs)
    for section in needed if kinds else ("system", "requirements"):
        given = VALUE_KEYS if section == "profile" else ()  # signals and parameters are a profile
        if data and not any(key in data for key in (section, *given)):
            _missing(reader, section)
    for section in data:
        if kinds and all(section in kind.ignores for kind in kinds.values()):
            reader.wrong((section,), f"means nothing to the engine {' or '.join(kinds)}.")


def _missing(reader: Reader, section: str, hint: str = "") -> None:
    """Note a section that is not there, unless a key that looks like it was noted as unknown."""
    if section not in {problem.closest for problem in reader.problems}:
        reader.problem((), f"{reader.label((section,))} is missing{hint}.")


def spoken_about(engine: Any, kinds: Mapping[str, EngineKind]) -> str:
    """Return what requirements speak about; an engine that samples a system takes signals and makes symbols of them."""
    own = getattr(engine, "about", None)
    sampled = "signals" if getattr(engine, "period", None) is not None else None
    return own or sampled or kinds[engine.kind].about


def named_subjects(reader: Reader, kinds: Mapping[str, EngineKind]) -> set[str]:
    """Return what engines whose settings are wrong speak about: those that need nothing take a system or a model."""
    data = reader.document.data if isinstance(reader.document.data, dict) else {}
    return {"signals" if not kind.needs and "system" in data else kind.about for kind in kinds.values()}


def check_subjects(reader: Reader, about: Collection[str], kinds: Mapping[str, EngineKind]) -> None:
    """Note what is missing for engines that take a model, or a system with a profile."""
    data = reader.document.data if isinstance(reader.document.data, dict) else {}
    if data and kinds and not any(kind.needs for kind in kinds.values()):
        states = set(about) == {"states"}
        for section in ("model",) if states else ("system", "profile", "requirements"):
            given = VALUE_KEYS if section == "profile" else ()
            if not any(key in data for key in (section, *given)):
                hint = " (or engine.horizon, for a system with a profile)" if states else ""
                _missing(reader, section, hint)
        for section in ("system", "profile", *VALUE_KEYS) if states else ("model", "constants"):
            if section in data:
                reader.wrong((section,), f"means nothing with{'out' if states else ''} a horizon.")
