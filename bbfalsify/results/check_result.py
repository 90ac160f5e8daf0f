"""Result of a check: objects for Python, `results.json` for everyone else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.records.stored import Stored, member
from bbfalsify.results.notebook import check_html, requirements_frame
from bbfalsify.results.run_result import ConcludedResult, CounterexampleRow

if TYPE_CHECKING:
    import pandas

Word = tuple[str, ...]


class CheckVerdict(StrEnum):
    """Verdicts of a check about a requirement.  There is deliberately no bare "satisfied"."""

    VIOLATED = "violated"
    SATISFIED_UP_TO_BOUND = "satisfied_up_to_bound"
    """It holds if the system has at most as many states as the bound."""
    MORE_STATES_THAN_BOUND = "more_states_than_bound"
    """Not violated by what is known, but the system has more states than the bound."""
    STOPPED = "stopped"
    """Not violated by what is known when the budget was spent."""


@dataclass(frozen=True, kw_only=True)
class UseRisk(Stored):
    """The risk that a use meets any violation of a requirement, if the learned machine is right."""

    within: float | None = None
    """The time to which `probability` refers."""
    probability: Estimate | None = None
    """Probability of a violation within that time."""
    ever: Estimate | None = None
    """Probability of a violation at any time."""
    mean_time: Estimate | None = None
    """Mean time to the first violation; infinite where there may be none."""
    rate: Estimate | None = None
    """Violations per unit of time in the long run."""


@dataclass(frozen=True, kw_only=True)
class Cause(Stored):
    """A step of the learned machine that breaks a requirement, with the shortest words that show it."""

    state: str | None
    """None: the check ended before the machine showed it; the words are observed ones with this last answer."""
    input: str
    output: str
    word: Word
    """The shortest."""
    others: tuple[Word, ...] = ()
    """Further words to the same step."""
    observed: tuple[bool, ...] = ()
    """For the word and each of the others: the system has answered it so; else the learned machine says it."""
    requirements: tuple[str, ...] = ()
    """Other requirements that the same step breaks."""

    def in_words(self) -> str:
        """data is answered ok in state s1 (breaks R2 too)"""
        also = f" (breaks {', '.join(self.requirements)} too)" if self.requirements else ""
        return f"{self.input} is answered {self.output}{'' if self.state is None else f' in state {self.state}'}{also}"

    def shown(self, place: int) -> str:
        """The word, or one of the others; a star marks what was not executed."""
        word = (self.word, *self.others)[place]
        return " ".join(word) + ("" if self.observed[place] else "*")


@dataclass(frozen=True, kw_only=True)
class CheckedRequirement(Stored):
    id: str
    text: str = ""
    formula: str = ""
    verdict: CheckVerdict
    bound: int | None = None
    """Satisfied: the most states the system may have.  Violated by a loop: the loop is real if it has at most so
    many.  Otherwise the states tested so far; None where tests did not begin."""
    rests_on_bound: bool = False
    vacuous: str | None = member("why_vacuous", default=None)
    """Reason why it says little that the requirement holds: its trigger never occurred."""
    prefix: Word = ()
    loop: Word = ()
    outputs: Word = ()
    status: str | None = None
    """confirmed, flaky, or observed (seen once, in a system that cannot be reset); None without a violation."""
    probability: Estimate | None = None
    """Probability that a use begins with the prefix and one round of the loop, where there is a profile."""
    risk: UseRisk | None = None
    """Risk of any violation in use, where there is a profile."""
    causes: tuple[Cause, ...] = ()
    """Violations grouped by the step that breaks it, shortest word first; none for a loop."""
    file: str | None = None
    expected: str | None = member("expected", written=False, default=None)
    """The outcome that a campaign expects; the campaign writes it."""

    @property
    def violated(self) -> bool:
        return self.verdict is CheckVerdict.VIOLATED

    @property
    def word(self) -> Word:
        """The prefix and one round of the loop."""
        return self.prefix + self.loop

    @property
    def steps(self) -> str:
        """a/x b/y ( c/z )^ω: the violating word with its answers, the loop in parentheses."""
        # A damaged file may have other numbers of both: what is there is shown.
        steps, cut = [f"{i}/{o}" for i, o in zip(self.word, self.outputs, strict=False)], len(self.prefix)
        loop = ["(", *steps[cut:], ")^ω"] if self.loop else []
        return " ".join([*steps[:cut], *loop])

    @property
    def outcome(self) -> Outcome:
        """The verdict in the words of campaigns, which compare it with what is expected."""
        if self.violated:
            return Outcome.FALSIFIED
        satisfied = self.verdict is CheckVerdict.SATISFIED_UP_TO_BOUND
        return Outcome.NOT_FALSIFIED if satisfied else Outcome.INCONCLUSIVE

    def as_json(self) -> dict[str, Any]:
        said = {"id": self.id, "requirement": self.id, "outcome": self.outcome.value, "in_words": self.in_words()}
        return {**said, **super().as_json(), "vacuous": self.vacuous is not None}

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


@dataclass(frozen=True, kw_only=True)
class CheckResult(ConcludedResult):
    engine = "check"
    requirements: tuple[CheckedRequirement, ...]
    states: int
    """States of the last hypothesis."""
    max_states: int | None = None
    queries: int
    symbols: int
    hypotheses: int
    tested_bound: int = 0
    model: str | None = None
    """The file with the learned machine, in DOT."""
    machine: MealyMachine | None = member(None, default=None)
    """The last hypothesis, as learned in this process."""

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
        """Text that a failing assertion shows."""
        effort = f"{self.states} states learned with {self.queries} queries, {self.symbols} symbols"
        return "\n".join([*map(str, self.requirements), effort, *(f"note: {note}" for note in self.notes)])

    @property
    def counterexamples(self) -> tuple[CounterexampleRow, ...]:
        """The violations, one per requirement."""
        return tuple(
            CounterexampleRow(
                rank=rank, requirement=row.id, status=row.status, actions=row.word, probability=row.probability,
                file=row.file,
            )
            for rank, row in enumerate(self.violated, start=1)
        )  # fmt: skip

    @property
    def simulations(self) -> int:
        return self.queries

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per requirement (needs pandas)."""
        return requirements_frame(self.requirements)

    def _repr_html_(self) -> str:
        return check_html(self)
