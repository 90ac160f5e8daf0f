"""The budget of a run, and the exception that tells an engine that it is spent.

Zero is a valid budget (nothing is run) and None means no limit, so never write `if budget.simulations:`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.query import Answer
from bbfalsify.core.verdict import StopReason


@dataclass(frozen=True)
class Budget:
    simulations: int | None = None
    seconds: float | None = None
    symbols: int | None = None
    """Input symbols given to a system that answers symbols; the last word may exceed the limit."""

    def __post_init__(self) -> None:
        problems = []
        for what, count in (("simulations", self.simulations), ("symbols", self.symbols)):
            if count is not None and (isinstance(count, bool) or int(count) != count or count < 0):
                problems.append(Problem(f"a budget of {count} {what}: give a whole number, 0 or more."))
        if self.seconds is not None and (math.isnan(self.seconds) or self.seconds < 0):
            problems.append(Problem(f"a budget of {self.seconds} seconds: give a number, 0 or more."))
        if problems:
            raise UserError(problems)

    def simulations_left(self, spent: Spent) -> int | None:
        return None if self.simulations is None else max(0, self.simulations - spent.simulations)

    def used_up(self, spent: Spent) -> StopReason | None:
        """The limit that is reached, or None."""
        if self.simulations is not None and spent.simulations >= self.simulations:
            return StopReason.BUDGET_SIMULATIONS
        if self.symbols is not None and spent.symbols >= self.symbols:
            return StopReason.BUDGET_SYMBOLS
        if self.seconds is not None and spent.seconds >= self.seconds:
            return StopReason.BUDGET_TIME
        return None


@dataclass(frozen=True)
class Spent:
    simulations: int = 0
    seconds: float = 0.0
    symbols: int = 0


@dataclass
class BudgetSpent(Exception):
    """Raised by `ask` when the run has to end: the budget is used up, or the user pressed Ctrl-C.

    `answers` are the answers to the first queries of the batch, as far as they were obtained.  An engine may catch it,
    use them and return what it has; if it does not, the driver does.  Every later `ask` raises it again.
    """

    reason: StopReason
    answers: tuple[Answer, ...] = field(default=())

    def __str__(self) -> str:
        return f"the run has to stop: {self.reason}"
