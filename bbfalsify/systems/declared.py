"""The declaration of a system, read without running any of its code.

`validate` and the collection of tests check a campaign against the ports of its system.  A machine, a model or an FMU
is data and is loaded as usual.  An adapter is Python: its text is parsed, and declarations that are written out (a
decorator, a class, a call with `inputs=` and `outputs=`) are taken from there.  A program is looked up and not started.
`NotRead` says why the rest is unknown.
"""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

from bbfalsify.core.errors import UserError
from bbfalsify.systems.declared_text import DeclaredSignals, DeclaredSymbols, NotWritten, PythonText, file_of, top_spec
from bbfalsify.systems.loading import load_system
from bbfalsify.systems.parameters import value_problems
from bbfalsify.systems.programs.launching import Launch
from bbfalsify.systems.references import ENTRY_POINTS, Reference, resolve_reference
from bbfalsify.systems.symbols import AnySystem


@dataclass(frozen=True)
class NotRead:
    """The reason why nothing is known about a system."""

    reason: str


def declared_system(reference: str, base: str | Path = ".") -> AnySystem | DeclaredSignals | DeclaredSymbols | NotRead:
    """Read what a reference declares; mistakes that show without running it are a UserError."""
    found = resolve_reference(reference, base)
    if found.command is not None:
        if problems := Launch(found.command, found.folder).problems():
            raise UserError(problems)
        return NotRead("a program says its ports only when it is started")
    if found.environment is not None:
        return NotRead("an environment says its actions and observations only when it is made")
    if found.file is not None and found.file.suffix != ".py":
        return load_system(reference, base)
    try:
        file, attribute = _source(found)
        declared = PythonText(file).declaration(attribute)
    except NotWritten as unknown:
        return NotRead(str(unknown))
    known = getattr(declared, "parameters", None)
    if known is not None and (problems := list(value_problems(declared, found.settings.numbers()))):
        raise UserError(problems)
    return declared


def _source(found: Reference) -> tuple[Path, str | None]:
    """Find the file that defines a system, without importing the packages around it."""
    if found.file is not None:
        return found.file, found.attribute
    module, attribute = found.module, found.attribute
    if found.entry_point is not None:
        [point, *_] = importlib.metadata.entry_points(group=ENTRY_POINTS, name=found.entry_point)
        module, attribute = point.module, point.attr
    assert module is not None
    if (file := file_of(module, None)) is None:
        if top_spec(module.partition(".")[0]) is None:
            raise UserError(f"no module '{module}' for the system '{found.text}'.")
        raise NotWritten(f"the module '{module}' is found only by importing it")
    return file, attribute
