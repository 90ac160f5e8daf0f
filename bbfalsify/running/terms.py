"""Terms of a run: what the task of an engine takes over as it was given."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bbfalsify.core.budget import Budget
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.running.execution import Execution


@dataclass(frozen=True)
class Terms:
    budget: Budget
    seed: int
    execution: Execution
    found: SystemRecord | None = None
    """The place where the system was found; None: it was made in this process."""

    def record(self, name: str) -> SystemRecord:
        """The record of a system of this name."""
        record = self.found or SystemRecord(name)
        return replace(record, name=record.name or name)
