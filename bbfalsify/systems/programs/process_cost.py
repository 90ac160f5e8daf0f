"""What a running process costs, seen from outside: its memory and CPU time.  On Linux; elsewhere it is not known."""

from __future__ import annotations

import sys
import time

try:
    import resource
except ImportError:  # not on Windows
    resource = None


def memory_mb(pid: int, *, peak: bool = False) -> float | None:
    """Resident now, or at most since `forget_peak`; None where it cannot be seen."""
    label = b"VmHWM:" if peak else b"VmRSS:"
    try:
        with open(f"/proc/{pid}/status", "rb", buffering=0) as file:
            text = file.read(4096)
        start = text.index(label) + len(label)
        return int(text[start : text.index(b"kB", start)]) / 1024
    except (OSError, ValueError):
        return None


def forget_peak(pid: int) -> None:
    """From now on the peak is counted anew."""
    try:
        with open(f"/proc/{pid}/clear_refs", "wb", buffering=0) as file:
            file.write(b"5")
    except OSError:
        pass


def peak_of_ours_mb() -> float | None:
    """The most memory this process has ever had."""
    if resource is None:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024  # bytes there, kilobytes elsewhere


def cpu_seconds(pid: int) -> float | None:
    """CPU time of the process and its threads so far."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # on Linux the CPU clock of another process
    except OSError:
        return None
