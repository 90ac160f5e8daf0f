"""FMUs for tests are built by the tests, of Python code: no compiler is needed, and no binary is stored.

pythonfmu (FMI 2.0) and pythonfmu3 (FMI 3.0) pack a script together with a library that runs it.  They import the script
into their own process, so each build has a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


class FmuFactory:
    """Builds each FMU once per test session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.build = cache(self._build)

    def _build(self, script: str, *options: str) -> Path:
        builder = "pythonfmu3" if script.startswith("fmi3") else "pythonfmu"
        target = self._folder / "-".join((script, *(option.lstrip("-") for option in options)))
        command = [
            sys.executable,
            "-m",
            builder,
            "build",
            "-f",
            str(HERE / f"{script}.py"),
            "-d",
            str(target),
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        [fmu] = target.glob("*.fmu")
        return fmu


def built_by(script: Path, folder: Path) -> list[Path]:
    """FMUs that a script of the project builds in a folder."""
    command = [sys.executable, str(script), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [Path(line) for line in done.stdout.splitlines()]


def edited(
    fmu: Path,
    target: Path,
    *,
    description: Callable[[str], str] = lambda text: text,
    members: Callable[[Mapping[str, bytes]], Mapping[str, bytes]] = lambda members: members,
) -> Path:
    """A copy of an FMU with another description or other members."""
    with zipfile.ZipFile(fmu) as archive:
        found = {info.filename: archive.read(info) for info in archive.infolist()}
    found["modelDescription.xml"] = description(found["modelDescription.xml"].decode()).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members(found).items():
            archive.writestr(name, data)
    return target
