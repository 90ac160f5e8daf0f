"""The engines that a campaign may name (`engine: {kind: …}`): what each may be told, what it needs, who executes it.

To add one, write

    its settings     a model in `schema.py` (keys, types, defaults; `OneOrMore` where a list makes several runs)
    its execution    a function that is given a plan and where to record it, and returns results (`execute.py`)
    a line           in `ENGINES` below; a package of your own names an `EngineKind` as an entry point of the group
                     `bbfalsify.engines` instead

and the campaign file, the JSON Schema, `validate`, `new campaign`, `list engines` and run directories follow.  Models
and functions are named as text, because looking at a campaign must not import what it does not use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

ENTRY_POINTS = "bbfalsify.engines"


@dataclass(frozen=True)
class EngineKind:
    says: str
    """What it does, in a few words."""
    settings: str
    """module:Model of what stands under `engine:`."""
    run: str
    """module:function(plan, recording) that executes a plan and returns its results (see `execute.py`)."""
    needs: tuple[str, ...] = ("system", "profile", "requirements")
    """Sections of the campaign without which it cannot run."""
    answers: str = "signals"
    """What its systems answer: signals over time, or symbols."""

    def settings_model(self) -> Any:
        return _named(self.settings)

    def runner(self) -> Callable[..., dict[str, Any]]:
        return _named(self.run)


ENGINES = {
    "falsify": EngineKind(
        "usage-aware falsification: find failures, rank them by how probable they are in use",
        "bbfalsify.campaigns.schema:FalsifyEntry",
        "bbfalsify.campaigns.execute:run_falsify",
    ),
    "check": EngineKind(
        "black box checking: learn a system that answers symbols, model-check it, test it up to a bound",
        "bbfalsify.campaigns.schema:CheckEntry",
        "bbfalsify.campaigns.checking:run_check",
        needs=("system", "requirements"),
        answers="symbols",
    ),
}


def engine_names() -> list[str]:
    """Built-in ones first; those of other packages are named, not imported."""
    from importlib.metadata import entry_points

    return [*ENGINES, *sorted({e.name for e in entry_points(group=ENTRY_POINTS)} - set(ENGINES))]


def engine_kind(name: str) -> EngineKind:
    """The engine of that name, which must be one of `engine_names()`."""
    if name in ENGINES:
        return ENGINES[name]
    from importlib.metadata import entry_points

    from bbfalsify.core.errors import UserError

    [entry, *_] = entry_points(group=ENTRY_POINTS, name=name)
    try:
        kind = entry.load()
    except Exception as error:
        owner = entry.dist.name if entry.dist is not None else entry.value
        raise UserError(f"the engine '{name}' of the package '{owner}' cannot be loaded: {error}.") from None
    if not isinstance(kind, EngineKind):
        raise UserError(f"the entry point '{name}' ({entry.value}) is {type(kind).__name__}, not an EngineKind.")
    return kind


def _named(reference: str) -> Any:
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
