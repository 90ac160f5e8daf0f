"""The budget of a run, and the exception that tells an engine that it is spent.

Zero is a valid budget (nothing is run) and None means no limit, so never write `if budget.simulations:`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bbfalsify.core.query import Answer
from bbfalsify.core.settings import Settings, setting
from bbfalsify.core.verdict import StopReason


class Budget(Settings, kw_only=False):
    """Limits of a whole run: search, estimation and plain simulation together."""

    simulations: int | None = setting("Most simulations.", default=None, at_least=0, absent="no limit", single=True)
    seconds: float | None = setting(
        "Most wall-clock seconds.", default=None, at_least=0, unit="s", absent="no limit", single=True
    )
    # Input symbols given to a system that answers symbols; the last word may exceed the limit.
    symbols: int | None = setting("Most symbols.", default=None, at_least=0, internal=True)

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
