"""Manifest of a run: what decided its result, so that two runs can be told apart.

A run is continued, or its results are taken for an answer, only where everything that decides it is the same; every
difference is named.
"""

from __future__ import annotations

import functools
import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.json_files import read_json
from bbfalsify.records.run_files import MANIFEST

FORMAT_VERSION = 1
_PACKAGES = ("bbfalsify", "numpy", "scipy", "numba")
_LONGEST_VALUE = 60
_QUESTION = ("system", "model", "constants", "engine", "seed", "budget")


def question_of(configuration: Any) -> dict[str, Any]:
    """Return what of a configuration decides the results, as it is read; the words about a requirement do not."""
    if not isinstance(configuration, Mapping):
        return {}
    found = {key: configuration[key] for key in _QUESTION if key in configuration}
    for row in configuration.get("requirements") or ():
        told = {key: value for key, value in row.items() if key not in ("id", "text", "expected")}
        found[f"requirement {row.get('id')}"] = told
    read: dict[str, Any] = json.loads(json.dumps(found))
    return read


def readable_manifest(directory: str | Path) -> dict[str, Any]:
    """Read the manifest of a run that is only looked at; refuse another format rather than misread it."""
    file = Path(directory) / MANIFEST
    manifest = read_json(file)
    if not isinstance(manifest, dict) or "format_version" not in manifest:
        raise UserError(Problem("not the manifest of a run (it has no format_version).", file=str(file)))
    found = manifest["format_version"]
    if found != FORMAT_VERSION:
        what = f"a run directory of format {found}; this version of bbfalsify reads format {FORMAT_VERSION}."
        raise UserError(Problem(what, file=str(file)))
    return manifest


@functools.cache  # each look-up reads the metadata of a package, and every counterexample file holds them
def versions() -> dict[str, str]:
    """Versions of Python and packages; numpy does not promise the same random numbers in all its versions."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # run from a source tree
            continue
    if "bbfalsify" not in found:
        import bbfalsify

        found["bbfalsify"] = bbfalsify.__version__
    return found


def file_hash(path: str | Path | None) -> str | None:
    """SHA-256 of a file, None where there is none."""
    if path is None or not Path(path).is_file():
        return None
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def differences(before: Any, now: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """(dotted name, what it was, what it is) of everything that is not the same."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys([*before, *now]):
            yield from differences(before.get(key), now.get(key), f"{name}.{key}" if name else str(key))
    elif before != now:
        yield name, _short(before), _short(now)


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
