"""A run directory holds everything about one run, and nothing outside it is needed to read it.

    runs/heater-2026-11-16-1/
        manifest.json           versions, platform, seed, the whole configuration, the hash of the adapter
        events.jsonl            what happened, in order (core/events.py)
        counterexamples/        001-on-on-off.json, …, best first
        results.json            what the run concluded
        workers.log             what the system printed, up to a limit; absent if nothing

Names are never reused: the number at the end is the first that is free.  Files are written whole or not at all.
"""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Mapping
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

from bbfalsify.core.counterexample import Counterexample
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.events import Listener, Recorder
from bbfalsify.core.json_files import read_json, write_json

FORMAT_VERSION = 1
_PACKAGES = ("bbfalsify", "numpy", "scipy", "numba", "rtamt")
_LONGEST_NAME = 60


class RunDirectory:
    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @staticmethod
    def create(base: str | Path, name: str) -> RunDirectory:
        """A new, empty directory under `base`, named after the run and the day."""
        base = Path(base)
        stem = f"{file_name(name) or 'run'}-{date.today().isoformat()}"
        number = 1 + max((_number(p.name, stem) for p in base.glob(f"{stem}-*")), default=0)
        while True:
            path = base / f"{stem}-{number}"
            try:
                path.mkdir(parents=True)
                break
            except FileExistsError:  # another run took the number in between
                number += 1
            except OSError as error:
                raise UserError(Problem(f"cannot make the run directory: {error.strerror}.", file=str(path))) from None
        (path / "counterexamples").mkdir()
        return RunDirectory(path)

    @staticmethod
    def open(path: str | Path) -> RunDirectory:
        if not (Path(path) / "manifest.json").is_file():
            raise UserError(Problem("not a run directory (it has no manifest.json).", file=str(path)))
        return RunDirectory(path)

    @property
    def events(self) -> Path:
        return self.path / "events.jsonl"

    @property
    def log(self) -> Path:
        return self.path / "workers.log"

    def recorder(self, *listeners: Listener) -> Recorder:
        return Recorder(self.events, listeners)

    def write_manifest(
        self, *, seed: int, configuration: Mapping[str, Any], adapter_sha256: str | None = None, **more: Any
    ) -> None:
        write_json(
            self.path / "manifest.json",
            {
                "format_version": FORMAT_VERSION,
                "seed": seed,
                "versions": versions(),
                "platform": platform.platform(),
                "adapter_sha256": adapter_sha256,
                "configuration": dict(configuration),
                **more,
            },
        )

    def read_manifest(self) -> dict[str, Any]:
        return read_json(self.path / "manifest.json")

    def write_results(self, results: Mapping[str, Any]) -> None:
        write_json(self.path / "results.json", dict(results))

    def read_results(self) -> dict[str, Any]:
        return read_json(self.path / "results.json")

    def write_counterexample(self, counterexample: Counterexample, rank: int) -> Path:
        """Store it under its rank; a file that already has that rank and key is replaced."""
        key = file_name("-".join(counterexample.actions))
        path = self.path / "counterexamples" / (f"{rank:03d}-{key}.json" if key else f"{rank:03d}.json")
        counterexample.write(path)
        return path

    def counterexamples(self) -> list[Path]:
        return sorted((self.path / "counterexamples").glob("*.json"))


@functools.cache  # each look-up reads the metadata of a package, and every counterexample file holds them
def versions() -> dict[str, str]:
    """What this result was made with; numpy does not promise the same random numbers in all its versions."""
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


def file_name(text: str) -> str:
    """Letters, digits, dots, dashes and underscores, and not too many of them."""
    return re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII).strip("._-")[:_LONGEST_NAME]


def _number(name: str, stem: str) -> int:
    rest = name[len(stem) + 1 :]
    return int(rest) if rest.isdecimal() else 0
