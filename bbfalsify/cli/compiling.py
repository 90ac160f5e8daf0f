"""The word before the first run: numba compiles once, which takes a while and must not look like a hang."""

from __future__ import annotations

import os
from pathlib import Path

from bbfalsify.cli.progress import Progress

ABOUT_S = 60


def announce_compilation(progress: Progress) -> None:
    if not kernel_is_compiled():
        progress.say(f"compiling the simulation kernel once (about {ABOUT_S} s); later runs start at once")


def kernel_is_compiled() -> bool:
    """Whether numba's cache holds the kernel: index files beside the source, or in the folder numba was told."""
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        return True
    import bbfalsify

    package = Path(bbfalsify.__file__).parent
    told = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(told) if told else package / "kernel" / "__pycache__"
    # A change in any compiled source means compiling anew (core/jit.py).
    newest = max(f.stat().st_mtime for room in ("core", "kernel", "logic") for f in (package / room).glob("*.py"))
    return any(f.stat().st_mtime >= newest for f in folder.rglob("*.nbi"))
