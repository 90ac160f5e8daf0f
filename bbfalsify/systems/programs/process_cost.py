"""Measure memory and CPU time of a running process from outside; None where the platform cannot tell."""

from __future__ import annotations

import sys
import time


def memory_mb(pid: int, *, peak: bool = False) -> float | None:
    """Resident memory now, or its peak since `forget_peak`."""
    label = b"VmHWM:" if peak else b"VmRSS:"
    try:
        with open(f"/proc/{pid}/status", "rb", buffering=0) as file:
            text = file.read(4096)
        start = text.index(label) + len(label)
        return int(text[start : text.index(b"kB", start)]) / 1024
    except (OSError, ValueError):
        return None


def forget_peak(pid: int) -> None:
    """Restart the measurement of the peak."""
    try:
        with open(f"/proc/{pid}/clear_refs", "wb", buffering=0) as file:
            file.write(b"5")
    except OSError:
        pass


def peak_of_ours_mb() -> float | None:
    """Peak memory of this process since its start."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024  # bytes there, kilobytes elsewhere


def cpu_seconds(pid: int) -> float | None:
    """CPU time of the process and its threads so far."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # on Linux the CPU clock of another process
    except OSError:
        return None
