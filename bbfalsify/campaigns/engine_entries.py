"""What stands under `engine:`: settings with one value each, and what they mean for the rest of the campaign."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Mapping
from dataclasses import make_dataclass
from typing import Any

from bbfalsify.campaigns.reading import Reader
from bbfalsify.core.errors import UserError
from bbfalsify.records.documents import KeyPath
from bbfalsify.registry import EngineKind, engine_kind, engine_names


def read_engines(reader: Reader, value: Any) -> list[Any]:
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


def named_kinds(value: Any) -> dict[str, EngineKind]:
    """The engines that the campaign names, by their names; others are a problem already."""
    names = [item.get("kind") for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    kinds = {}
    for name in dict.fromkeys(name for name in names if isinstance(name, str) and name in engine_names()):
        with contextlib.suppress(UserError):
            kinds[name] = engine_kind(name)
    return kinds


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
        return engine_kind(item["kind"]).named("settings")
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


def spoken_about(engine: Any) -> str:
    """What requirements speak about; an engine that samples a system takes signals and makes symbols of them itself."""
    return "signals" if getattr(engine, "period", None) is not None else engine_kind(engine.kind).about
