"""Isolation of programs by bubblewrap: no network, a read-only system, nothing of other processes.

    ProgramSystem(["./tank", "{input}", "{output}"], sandbox="bubblewrap", …)

The program sees the files of this machine and may change none of them; /tmp and /run are empty and its own, and the
folder of its simulation is writable.  It sees no other process and can signal none, its namespaces die with it, and it
has a limit of memory.  What it may read is not restricted: it can read your files, and tell nobody.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from bbfalsify.core.errors import Problem

Sandbox = Literal["bubblewrap"]
SANDBOXES = ("bubblewrap",)
MEMORY_MB = 4096.0
"""Memory of a sandboxed program, where its adapter says nothing."""
_EMPTY = ("/tmp", "/run")
"""Folders with sockets and files of others: a program could ask a service for what it may not do itself."""
_PROBE_S = 10.0


def sandbox_problems() -> list[Problem]:
    """Find the reasons why programs cannot be isolated on this machine."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return [
            Problem(
                "sandbox: the program 'bwrap' is not on this machine ('apt install bubblewrap' brings it; Linux only)."
            )
        ]
    said = _failure(bwrap)
    return [] if said is None else [Problem(f"sandbox: bubblewrap cannot isolate programs on this machine: {said}.")]


def sandbox_words(writable: Path | None, needed: Iterable[Path], cwd: Path) -> list[str]:
    """Words before a command that isolate it; `needed` are shown again where an empty folder hides them."""
    words = [str(shutil.which("bwrap")), *_namespaces(), "--chdir", str(cwd)]
    for path in dict.fromkeys((*needed, cwd)):
        if path.exists() and any(path.is_relative_to(folder) for folder in _EMPTY) and str(path) not in _EMPTY:
            words += ["--ro-bind", str(path), str(path)]
    if writable is not None:
        words += ["--bind", str(writable), str(writable)]
    return [*words, "--"]


def _namespaces() -> list[str]:
    words = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/"]
    words += ["--dev", "/dev", "--proc", "/proc"]
    for folder in _EMPTY:
        words += ["--tmpfs", folder] if os.path.isdir(folder) else []
    return words


@functools.cache
def _failure(bwrap: str) -> str | None:
    """Try it once; containers and some kernels do not allow namespaces."""
    try:
        tried = subprocess.run(
            [bwrap, *_namespaces(), "--", "true"], capture_output=True, text=True, timeout=_PROBE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if tried.returncode == 0 else tried.stderr.strip().rstrip(".") or f"exit code {tried.returncode}"
