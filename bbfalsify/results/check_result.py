"""What a check concludes, as plain data: for Python users as objects, for everyone else as results.json."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.engines.checking.claims import CheckVerdict
from bbfalsify.results.notebook import check_html, requirements_frame

if TYPE_CHECKING:
    import pandas

Word = tuple[str, ...]


@dataclass(frozen=True)
class CheckedRequirement:
    id: str
    text: str
    formula: str
    verdict: CheckVerdict
    bound: int | None
    """Satisfied: if the system has at most so many states.  Violated by a loop: the loop is real if it has at most so
    many.  Otherwise: how far the tests came; None where they did not begin."""
    rests_on_bound: bool
    vacuous: str | None = None
    """Why it says little that the requirement holds: its trigger never occurred."""
    prefix: Word = ()
    loop: Word = ()
    outputs: Word = ()
    status: str | None = None
    """Of a violation: confirmed, flaky, or observed (seen once, in a system that cannot be reset)."""
    probability: Estimate | None = None
    """That a use begins with the prefix and one round of the loop, where there is a profile."""
    file: str | None = None

    @property
    def violated(self) -> bool:
        return self.verdict is CheckVerdict.VIOLATED

    @property
    def outcome(self) -> Outcome:
        """In the words of campaigns, which compare it with what is expected."""
        if self.violated:
            return Outcome.FALSIFIED
        satisfied = self.verdict is CheckVerdict.SATISFIED_UP_TO_BOUND
        return Outcome.NOT_FALSIFIED if satisfied else Outcome.INCONCLUSIVE

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "requirement": self.id,
            "outcome": self.outcome.value,
            "in_words": self.in_words(),
            "text": self.text,
            "formula": self.formula,
            "verdict": self.verdict.value,
            "bound": self.bound,
            "rests_on_bound": self.rests_on_bound,
            "vacuous": self.vacuous is not None,
            "why_vacuous": self.vacuous,
            "prefix": list(self.prefix),
            "loop": list(self.loop),
            "outputs": list(self.outputs),
            "status": self.status,
            "probability": None if self.probability is None else self.probability.as_json(),
            "file": self.file,
        }

    def __str__(self) -> str:
        return f"{self.id} {self.in_words()}"

    def in_words(self) -> str:
        """The verdict as a sentence, never a bare yes."""
        if self.verdict is CheckVerdict.VIOLATED:
            word = " ".join(self.prefix) or "(at once)"
            if not self.loop:
                return f"violated by: {word}"
            rests = f", if the system has at most {self.bound} states" if self.rests_on_bound else ""
            return f"violated by: {word}, then for ever: {' '.join(self.loop)}{rests}"
        vacuous = f" (vacuous: {self.vacuous})" if self.vacuous else ""
        if self.verdict is CheckVerdict.SATISFIED_UP_TO_BOUND:
            return f"satisfied if the system has at most {self.bound} states{vacuous}"
        if self.verdict is CheckVerdict.MORE_STATES_THAN_BOUND:
            return f"not violated so far, but the system has more than {self.bound} states{vacuous}"
        states = f"{self.bound} state{'s' * (self.bound != 1)}"
        tested = "nothing was tested" if self.bound is None else f"tested up to {states}"
        return f"not violated so far; stopped, {tested}{vacuous}"


@dataclass(frozen=True)
class CheckResult:
    name: str
    seed: int
    requirements: tuple[CheckedRequirement, ...]
    machine: MealyMachine | None
    """The last hypothesis: what was learned of the system."""
    queries: int
    symbols: int
    hypotheses: int
    tested_bound: int
    stop_reason: StopReason
    seconds: float
    directory: Path | None = None
    model: str | None = None
    """The file with the learned machine, in DOT."""
    max_states: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def states(self) -> int:
        return 0 if self.machine is None else len(self.machine)

    @property
    def too_many_states(self) -> bool:
        """The system has more than `max_states`: that many were told apart."""
        return self.max_states is not None and self.states > self.max_states

    @property
    def violated(self) -> tuple[CheckedRequirement, ...]:
        return tuple(r for r in self.requirements if r.violated)

    @property
    def outcome(self) -> Outcome:
        if self.violated:
            return Outcome.FALSIFIED
        if self.stop_reason is StopReason.SYSTEM_FAILED:
            return Outcome.ERROR
        done = self.stop_reason is StopReason.COMPLETED and not self.too_many_states
        satisfied = all(r.outcome is Outcome.NOT_FALSIFIED for r in self.requirements)
        return Outcome.NOT_FALSIFIED if done and satisfied else Outcome.INCONCLUSIVE

    @property
    def holds(self) -> bool:
        """Every requirement is satisfied up to the bound, and none of them vacuously: `assert check(…).holds`."""
        return all(r.verdict is CheckVerdict.SATISFIED_UP_TO_BOUND and r.vacuous is None for r in self.requirements)

    def __getitem__(self, requirement: str) -> CheckedRequirement:
        return next(r for r in self.requirements if r.id == requirement)

    def __str__(self) -> str:
        """What a failing assertion shows."""
        effort = f"{self.states} states learned with {self.queries} queries, {self.symbols} symbols"
        return "\n".join([*map(str, self.requirements), effort, *(f"note: {note}" for note in self.notes)])

    def as_json(self) -> dict[str, Any]:
        return {
            "engine": "check",
            "name": self.name,
            "outcome": self.outcome.value,
            "requirements": [r.as_json() for r in self.requirements],
            "counterexamples": [
                {
                    "rank": rank,
                    "requirement": row.id,
                    "status": row.status,
                    "actions": [*row.prefix, *row.loop],
                    "probability": None if row.probability is None else row.probability.as_json(),
                    "file": row.file,
                }
                for rank, row in enumerate(self.violated, start=1)
            ],
            "found_probability": None,
            "smc": None,
            "states": self.states,
            "max_states": self.max_states,
            "queries": self.queries,
            "simulations": self.queries,
            "symbols": self.symbols,
            "hypotheses": self.hypotheses,
            "tested_bound": self.tested_bound,
            "stop_reason": self.stop_reason.value,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "model": self.model,
            "run_directory": None if self.directory is None else str(self.directory),
            "notes": list(self.notes),
        }

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per requirement (needs pandas)."""
        return requirements_frame(self.as_json())

    def _repr_html_(self) -> str:
        return check_html(self.as_json())
