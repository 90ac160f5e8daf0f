"""Running things: the one loop, the worker processes, run directories, confirming and replaying.

Start reading at `driver.py`.  Names are looked up when they are used: what only looks at a finished run, or plans one,
must not wait for what simulates.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "Confirmation": "confirm",
    "Driver": "driver",
    "Execution": "execution",
    "Ended": "driver",
    "ReplayOutcome": "replay",
    "ReplayResult": "replay",
    "RequirementsJudge": "judge",
    "WorkerPool": "workers.pool",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
