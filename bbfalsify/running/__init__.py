"""Running things: the one loop, the worker processes, run directories, confirming and replaying.

Start reading at `driver.py`.
"""

from bbfalsify.running.confirm import Confirmation, confirm
from bbfalsify.running.driver import Driver, Ended, drive
from bbfalsify.running.judging import RequirementsJudge
from bbfalsify.running.replay import ReplayOutcome, ReplayResult, replay
from bbfalsify.running.rundir import RunDirectory, versions
from bbfalsify.running.workers import WorkerPool

__all__ = [
    "Confirmation",
    "Driver",
    "Ended",
    "ReplayOutcome",
    "ReplayResult",
    "RequirementsJudge",
    "RunDirectory",
    "WorkerPool",
    "confirm",
    "drive",
    "replay",
    "versions",
]
