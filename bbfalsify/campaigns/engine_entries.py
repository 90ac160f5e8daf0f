"""What stands under `engine:`: settings with one value each, and what they mean for the rest of the campaign."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Mapping
from dataclasses import make_dataclass
from typing import Any

from bbfalsify.campaigns.reading import Reader
from bbfalsify.core.engine_kind import EngineKind, Engines
from bbfalsify.core.errors import UserError
from bbfalsify.records.documents import KeyPath


def read_engines(reader: Reader, value: Any, engines: Engines) -> list[Any]:
    """Every engine entry, its lists multiplied: settings with one value each."""
    points: list[Any] = []
    entries = value if isinstance(value, list) else [] if value is None else [value]
    for index, item in enumerate(entries):
        path: KeyPath = ("engine", index) if isinstance(value, list) else ("engine",)
        model = _settings_model(reader, item, path, engines)
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


def named_kinds(value: Any, engines: Engines) -> dict[str, EngineKind]:
    """The engines that the campaign names, by their names; others are a problem already."""
    names = [item.get("kind") for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    kinds = {}
    for name in dict.fromkeys(name for name in names if isinstance(name, str) and name in engines.names()):
        with contextlib.suppress(UserError):
            kinds[name] = engines.kind(name)
    return kinds


def _settings_model(reader: Reader, item: Any, path: KeyPath, engines: Engines) -> Any | None:
    """The model of the engine that the entry names; which keys are allowed depends on it."""
    names = engines.names()
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
        return engines.kind(item["kind"]).named("settings")
    except UserError as error:
        reader.adopt(path, error.problems)
        return None


@functools.cache
def settings_class(model: Any) -> type:
    """A frozen dataclass with the fields of a model."""
    return make_dataclass(model.__name__.replace("Entry", "Settings"), list(model.model_fields), frozen=True)


def check_needs(reader: Reader, kinds: Mapping[str, EngineKind]) -> None:
    data = reader.document.data if isinstance(reader.document.data, dict) else {}
    needed = dict.fromkeys(section for kind in kinds.values() for section in kind.needs)
    for section in needed if kinds else ("system", "requirements"):
        if data and section not in data:
            reader.problem((), f"{reader.label((section,))} is missing.")
    for section in data:
        if kinds and all(section in kind.ignores for kind in kinds.values()):
            reader.problem((section,), f"{reader.label((section,))} means nothing to the engine {' or '.join(kinds)}.")


def spoken_about(engine: Any, kinds: Mapping[str, EngineKind]) -> str:
    """What requirements speak about; an engine that samples a system takes signals and makes symbols of them itself."""
    return "signals" if getattr(engine, "period", None) is not None else kinds[engine.kind].about
