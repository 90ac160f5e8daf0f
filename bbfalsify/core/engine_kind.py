"""The declaration of an engine: its settings, who executes it, how its results are shown.

Functions are named as text ("module:function"), because looking at a campaign must not import what it does not use.
The table of all engines is `registry.py`, above every room that it names; lower rooms are handed an `EngineKind`, or
the table as `Engines`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from bbfalsify.core.errors import UserError, unknown_name


@dataclass(frozen=True)
class EngineKind:
    says: str
    """Its purpose, in a few words."""
    settings: str
    """The model of the keys under `engine:`."""
    run: str
    """(plan, recording) -> results; executes a plan."""
    needs: tuple[str, ...] = ("system", "profile", "requirements")
    """Sections of the campaign without which it cannot run."""
    ignores: tuple[str, ...] = ("model", "constants")
    """Sections that mean nothing to it, and are refused rather than left unread."""
    about: str = "signals"
    """Subject of its requirements: signals over time, symbols, or states of a model."""
    query: str | None = None
    """(text, network, file, line) -> None; checks a query about states.  None: those of `reach`."""
    stored: str | None = None
    """(text) -> bool; tells which of the queries stored with a model it answers.  None: all."""
    shown: str | None = None
    """(results, width, verbose) -> the lines and tables of a terminal."""
    finding: str | None = None
    """(row of `counterexamples`) -> (the row with all its steps, its lines), for looking at one finding."""
    page: str | None = None
    """(directory, results) -> the values of the template, for the report."""
    template: str = "plain.html"
    found: str | None = None
    """(results) -> its findings by what makes two of them the same, for comparing runs."""
    files: str | None = None
    """(results) -> None; writes pictures into the run directory, from what is recorded."""
    progress: str | None = None
    """(progress, place, clock) -> a listener of the run's events."""
    compiling: str | None = None
    """(settings) -> a sentence about what will be compiled before the first run, or None."""

    def named(self, what: str) -> Any:
        """Import the function or model that a field names; None where a generic one does."""
        reference = getattr(self, what)
        if reference is None:
            return None
        place, _, name = reference.partition(":")
        where = f"in {what}='{reference}' of its EngineKind"
        try:
            module = import_module(place)
        except ModuleNotFoundError as error:
            if error.name != place:
                raise
            raise UserError(f"the engine names a module that is not there, '{place}', {where}.") from None
        if not hasattr(module, name):
            raise UserError(unknown_name("name", name, [n for n in vars(module) if n[0] != "_"], where=where))
        return getattr(module, name)


class Engines(Protocol):
    """The engines by name."""

    def names(self) -> list[str]: ...

    def kind(self, name: str) -> EngineKind:
        """Return the engine of that name, which must be one of `names()`."""

    def of(self, results: Mapping[str, Any], *, file: str | None = None) -> EngineKind:
        """Return the engine that made these results; one whose package is not installed here is named."""
