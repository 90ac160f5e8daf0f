"""Requirements of a check, and its progress, which is updated in place so that a stopped check keeps its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.logic.ltl import Lasso, Property
from bbfalsify.results.check_result import CheckVerdict


@dataclass(frozen=True)
class Claim:
    """A requirement about the answers of the box."""

    id: str
    text: str
    property: Property

    def written(self) -> dict[str, Any]:
        """The key and value of a specification file."""
        return {self.property.form: self.property.source}


@dataclass(frozen=True)
class Violation:
    lasso: Lasso
    outputs: Word
    """Answers of the box to the prefix and one round of the loop."""
    executed: Word
    """The whole word that was executed: the prefix, and the loop as often as it was repeated."""
    rests_on: int | None
    """A loop is real if the system has at most so many states; None: it is real in any case."""
    reproduced: int
    tries: int

    @property
    def status(self) -> str:
        return "confirmed" if self.reproduced == self.tries else "flaky"


@dataclass
class CheckProgress:
    violations: dict[int, Violation] = field(default_factory=dict)
    """By the number of the claim."""
    hypothesis: MealyMachine | None = None
    hypotheses: int = 0
    """Number of hypotheses so far."""
    tested_bound: int = 0
    """The hypothesis is equivalent to the box if the box has at most so many states; 0 if that is unknown."""
    too_many: bool = False
    """The box has more states than were allowed."""
    finished: bool = False
    """All tests up to the bound have been made."""
    glitches: list[str] = field(default_factory=list)
    """Answers that did not repeat."""
    failures: dict[str, str] = field(default_factory=dict)
    """Message of the first failure of each kind."""

    def open_claims(self, claims: Sequence[Claim]) -> list[int]:
        """Numbers of the claims that are not violated."""
        return [number for number in range(len(claims)) if number not in self.violations]

    def decided(self, claims: Sequence[Claim], *, stop_at_first: bool) -> bool:
        """Tell whether all claims are decided."""
        return bool(self.violations) and (stop_at_first or not self.open_claims(claims))

    def verdict(self, claim: int) -> CheckVerdict:
        if claim in self.violations:
            return CheckVerdict.VIOLATED
        if self.too_many:
            return CheckVerdict.MORE_STATES_THAN_BOUND
        return CheckVerdict.SATISFIED_UP_TO_BOUND if self.finished else CheckVerdict.STOPPED
