"""Recorded results: read a run's `results.json` (or the same object printed by --json)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.foreign_files import is_file, is_folder
from bbfalsify.records.json_files import is_sealed, read_json
from bbfalsify.records.manifest import readable_manifest
from bbfalsify.records.run_files import CAMPAIGN, MANIFEST, RESULTS
from bbfalsify.records.stored import Stored, misfits
from bbfalsify.results.run_result import RunResult

if TYPE_CHECKING:
    from bbfalsify.results.falsify_result import FalsificationResult

R = TypeVar("R", bound=Stored)


def read_results(path: str | Path) -> FalsificationResult:
    """The results of a falsification in a run directory, or in a results file."""
    from bbfalsify.results.falsify_result import FalsificationResult

    file, data = recorded_results(path)
    return result_from_json(FalsificationResult, data, file=str(file))


def result_from_json(kind: type[R], data: Mapping[str, Any], *, file: str | None = None) -> R:
    """The results of an engine from what it recorded; UserError where they are something else."""
    try:
        return kind.from_json(data)
    except ODD as error:
        raise UserError(_odd_results(error, kind, data, file)) from None


NO_RESULTS = (
    "this run has no results yet: it was interrupted, or is still going on ('run --resume' continues a campaign, "
    "--resume RUN_DIR the run of another command)."
)
ODD = (TypeError, AttributeError, ValueError, ArithmeticError, LookupError)
"""Exceptions of readers whose data lack a member or have one of another type."""
MOST_PROBLEMS = 5


def _odd_results(error: Exception, kind: type, data: Any, file: str | None) -> list[Problem]:
    named = misfits(kind, data)[:MOST_PROBLEMS]
    if named:
        return [replace(p, message=f"not the results of a run: {p.message}", file=file) for p in named]
    says = f"{error} is missing" if isinstance(error, KeyError) else f"{type(error).__name__} {str(error)[:200]}"
    return [Problem(f"not the results of a run: {says}.", file=file)]


@contextlib.contextmanager
def showing(file: Path, data: Any) -> Iterator[None]:
    """Say what is wrong with recorded results that cannot be shown.

    A file with the right checksum is as we wrote it: what cannot be shown of that is an error of ours, and is raised.
    """
    try:
        yield
    except UserError as error:
        raise UserError([replace(p, file=p.file or str(file)) for p in error.problems]) from None
    except UnicodeEncodeError:  # of the terminal
        raise
    except ODD as error:
        if is_sealed(file):
            raise
        raise UserError(_odd_results(error, RunResult, data, str(file))) from None


def recorded_results(path: str | Path) -> tuple[Path, dict[str, Any]]:
    """The results file of a run directory (or the one named), and its content.

    The run's own files are named as they are found from here, since its directory may have been moved.
    """
    file = _results_file(Path(path))
    data = read_json(file)
    if not isinstance(data, dict):
        raise UserError(Problem("not the results of a run.", file=str(file)))
    of_a_run = is_file(file.parent / MANIFEST)
    if of_a_run:
        readable_manifest(file.parent)
    result_from_json(RunResult, data, file=str(file))  # says what is wrong with it
    if of_a_run:
        before = data.get("run_directory")
        return file, _found_from_here(data, before, str(file.parent)) if isinstance(before, str) else data
    return file, data


def _results_file(path: Path) -> Path:
    """The results file; a campaign of several runs has one for each of them."""
    if is_file(path / CAMPAIGN):
        text = f"the directory of a campaign of several runs; name one of them, such as {path / 'runs' / '0001'}."
        raise UserError(Problem(text, file=str(path)))
    if is_file(path / MANIFEST) and not is_file(path / RESULTS):
        raise UserError(Problem(NO_RESULTS, file=str(path)))
    return path / RESULTS if is_folder(path) else path


_PATHS = ("run_directory", "file", "model", "typical")
"""Keys of results that name files of the run."""


def _found_from_here(value: Any, before: str, now: str) -> Any:
    if isinstance(value, list):
        return [_found_from_here(item, before, now) for item in value]
    if not isinstance(value, dict):
        return value
    moved = {key: _found_from_here(item, before, now) for key, item in value.items()}
    for key in _PATHS:
        path = moved.get(key)
        if isinstance(path, str) and Path(path).is_relative_to(before):
            moved[key] = str(Path(now) / Path(path).relative_to(before))
    return moved
