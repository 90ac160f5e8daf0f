"""Running things: the one loop, the worker processes, run directories, confirming and replaying.

Start reading at `driver.py`.
"""

from bbfalsify.running.driver import Ask, Driver, Ended, drive
from bbfalsify.running.workers import WorkerPool

__all__ = ["Ask", "Driver", "Ended", "WorkerPool", "drive"]
