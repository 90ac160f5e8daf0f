"""Find out what a reference to a system means, without importing anything.

    adapters/heater             a folder with adapter.py (and in it `Adapter`, `system`, or exactly one system)
    plant.py:heater             an object in a file; `plant.py` alone if it holds exactly one system
    package.module:object       an object in an installed package
    model.fmu                   a functional mock-up unit (FMI 2.0 or 3.0, co-simulation)
    machine.dot                 a finite machine, run as a black box
    model.yaml                  a model of our own language with `ports`, run as a black box
    gym:CartPole-v1             an environment of gymnasium
    http:service.yaml           a service behind HTTP, and the calls that may be made (`servers/http.py`)
    cmd:./simulator --fast      a program that speaks the line protocol; it runs in `base`, and never through a shell
    name                        an entry point of the group "bbfalsify.systems"

All but `cmd:` may end with settings: `model.fmu?outputs=x,y&step=0.01`, `plant.py:cart?set.mass=3.5` (see
`reference_settings.py`).  Relative paths are relative to `base`, the folder of the file that mentions them.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.foreign_files import closest_file, is_file, is_folder
from bbfalsify.modelling.formats.model_files import files_of
from bbfalsify.systems.programs.launching import split_command
from bbfalsify.systems.reference_settings import ReferenceSettings, split_reference

ENTRY_POINTS = "bbfalsify.systems"


FORMS = (
    "a folder with adapter.py",
    "file.py:object",
    "package.module:object",
    "model.fmu",
    "machine.dot",
    "model.yaml",
    "gym:environment",
    "http:service.yaml",
    "cmd:program and its arguments",
    f"an entry point of '{ENTRY_POINTS}'",
)


GYM, HTTP = "gym:", "http:"


MODELS = (".yaml", ".yml")


DATA = (".dot", *MODELS)
"""Suffixes of systems that are interpreted by us: running them runs no code of theirs."""


_UPPAAL = "an UPPAAL model has no ports yet; write a YAML file with 'model: …' and 'ports'"


_KNOWN_SUFFIXES = {
    ".xml": _UPPAAL,
    ".xta": _UPPAAL,
    ".ta": _UPPAAL,
    ".slx": "a Simulink model cannot be used as a system yet; export it as an FMU",
    ".m": "an Octave or MATLAB program needs an adapter, with octave_command or matlab_command",
}
"""Files that are no systems, and the advice for each."""


@dataclass(frozen=True)
class Reference:
    """A resolved reference; exactly one of `file`, `module`, `entry_point`, `command` and `environment` is given."""

    text: str
    file: Path | None = None
    module: str | None = None
    entry_point: str | None = None
    attribute: str | None = None
    command: tuple[str, ...] | None = None
    environment: str | None = None
    """Name of an environment of gymnasium."""
    folder: Path | None = None
    """Where the command runs."""
    settings: ReferenceSettings = ReferenceSettings()

    @property
    def is_service(self) -> bool:
        """The file describes a service behind HTTP."""
        return self.text.startswith(HTTP)

    def file_hash(self) -> str | None:
        """SHA-256 of the adapter's file (of all files that a command names by their paths), for the manifest."""
        files = files_of(self.file) if self.file is not None else self._files_of_the_command()
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest() if files else None

    def _files_of_the_command(self) -> list[Path]:
        return [path for word in self.command or () if is_file(path := Path(self.folder or ".", word))]


def resolve_reference(reference: str, base: str | Path = ".") -> Reference:
    """Find out what a reference means, without importing anything."""
    base = Path(base)
    text = reference.strip()
    if not text:
        raise UserError(Problem("the reference to the system is empty.", allowed=FORMS))
    if text.startswith("cmd:"):
        return Reference(text, command=split_command(text.removeprefix("cmd:")), folder=base.resolve())
    named, settings = split_reference(text)
    return replace(_resolved(named, base), text=text, settings=settings)


def _resolved(text: str, base: Path) -> Reference:
    """Find out what a reference without settings means."""
    if text.startswith(GYM):
        return Reference(text, environment=text.removeprefix(GYM))
    if text.startswith(HTTP):
        return _file_reference(text, base / text.removeprefix(HTTP), None)
    place, _, attribute = text.rpartition(":") if ":" in text else (text, "", "")
    suffix = Path(place).suffix.lower()
    if suffix in _KNOWN_SUFFIXES:
        raise UserError(Problem(f"'{text}': {_KNOWN_SUFFIXES[suffix]}.", allowed=FORMS))
    if suffix in (".dot", ".fmu", *MODELS):
        return _file_reference(text, base / text, None)
    if suffix == ".py":
        return _file_reference(text, base / place, attribute or None)
    for folder in (base / text, base / "adapters" / text):
        if is_folder(folder):
            return _file_reference(text, folder / "adapter.py", None)
    if attribute and all(part.isidentifier() for part in place.split(".")):
        return Reference(text, module=place, attribute=attribute)
    names = {point.name for point in importlib.metadata.entry_points(group=ENTRY_POINTS)}
    if text in names:
        return Reference(text, entry_point=text)
    neighbours = {str(Path(text).parent / p.name) for p in _siblings(base / text)} | names
    raise UserError(_not_found(text, base, neighbours))


def _siblings(path: Path) -> list[Path]:
    return [p for p in path.parent.glob("*") if (p / "adapter.py").is_file()] if is_folder(path.parent) else []


def _not_found(text: str, base: Path, known: set[str]) -> Problem:
    closest = unknown_name("system", text, known).closest
    available = f" There are: {', '.join(sorted(known))}." if known else ""
    return Problem(f"no system '{text}' (looked in {base.resolve()}).{available}", allowed=FORMS, closest=closest)


def _file_reference(text: str, file: Path, attribute: str | None) -> Reference:
    if is_file(file):
        return Reference(text, file=file.resolve(), attribute=attribute)
    closest = closest_file(file)
    raise UserError(Problem(f"there is no file '{file}' for the system '{text}'.", closest=closest))
