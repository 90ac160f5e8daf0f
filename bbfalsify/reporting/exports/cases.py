"""Results as test cases: what CI servers, code scanners and pytest are told.  A requirement of a run is one case.

passed        as expected; without an expectation: not falsified; or all that was found is accepted
failed        falsified, or not as expected
inconclusive  no answer
error         the system failed, or the run could not be made
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.named_requirement import NamedRequirement
from bbfalsify.core.verdict import FOUND, Outcome
from bbfalsify.core.visible_text import visible
from bbfalsify.records.accepted import ACCEPTED
from bbfalsify.reporting.formatting import interval, number, replay_command, shorten_word
from bbfalsify.reporting.terminal.lines import expectation
from bbfalsify.results.check_result import CheckedRequirement, CheckResult
from bbfalsify.results.falsify_modes import FailureMode
from bbfalsify.results.falsify_result import RequirementResult
from bbfalsify.results.mode_words import explanation, mode_texts, violation_sentence
from bbfalsify.results.run_result import CounterexampleRow, RequirementRow, RunResult

Status = Literal["passed", "failed", "inconclusive", "error"]
MOST_FINDINGS = 10
"""Findings in a case's text; results.json has them all."""


@dataclass(frozen=True)
class CaseFinding:
    """One way to fail."""

    key: tuple[str, ...]
    """The actions, or the word with its loop: what makes two findings the same."""
    text: str
    file: str | None
    accepted: bool = False
    probability: Estimate | None = None


@dataclass(frozen=True)
class Case(NamedRequirement):
    formula: str
    status: Status
    summary: str
    """One line."""
    findings: tuple[CaseFinding, ...] = ()
    notes: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    """Failure modes, one line each."""

    @property
    def headline(self) -> str:
        """The summary and the modes in one line."""
        return " | ".join((self.summary, *self.modes))

    @property
    def lines(self) -> Iterator[str]:
        """Lines to show: what the system said stays on one of them."""
        return map(visible, self._lines())

    def _lines(self) -> Iterator[str]:
        yield from (self.summary, *self.modes)
        yield from (f"formula: {self.formula}",) if self.formula else ()
        for found in self.findings[:MOST_FINDINGS]:
            yield found.text
            if found.file is not None:
                yield f"  {replay_command(found.file)}"
        if len(self.findings) > MOST_FINDINGS:
            yield f"… and {len(self.findings) - MOST_FINDINGS} more"
        yield from (f"note: {note}" for note in self.notes)


@dataclass(frozen=True)
class Suite:
    """One run."""

    name: str
    seconds: float
    cases: tuple[Case, ...]
    seed: int | None = None
    directory: str | None = None
    campaign: str | None = None
    """The file it comes from."""


def suite_of(results: Mapping[str, Any], *, campaign: str | None = None) -> Suite:
    """The suite of a run, from its results.json or the same object as it was returned."""
    result = RunResult.from_json(results)
    varies = ", ".join(f"{key} {value}" for key, value in result.varies.items())
    checked = results["requirements"] if results.get("engine") == CheckResult.engine else ()
    words = {row["id"]: CheckedRequirement.from_json(row) for row in checked}
    named = {row["id"]: RequirementResult.from_json(row) for row in results["requirements"] if row.get("violation")}
    modes = tuple(map(FailureMode.from_json, results.get("modes", ())))
    return Suite(
        name=f"{result.name} ({varies})" if varies else result.name,
        seconds=result.seconds,
        cases=tuple(
            _with_modes(_case(row, result, words.get(row.id)), row, named.get(row.id), modes)
            for row in result.requirements
        ),
        seed=result.seed,
        directory=None if result.directory is None else str(result.directory),
        campaign=campaign,
    )


def _case(row: RequirementRow, result: RunResult, checked: CheckedRequirement | None) -> Case:
    listed = result.of(row.id)
    findings = tuple(map(_finding, listed)) if checked is None else _word(checked)
    status = _status(row, result.accepted(row.id), len(listed))
    summary = f"{row.id} {row.outcome.replace('_', ' ')}{expectation(row.outcome, row.expected)}"
    if row.shown is not None:
        summary += f", {len(listed)} counterexamples, together {interval(row.shown)}"
    if row.in_words:
        summary += f": {row.in_words}"
    notes = result.notes if status in ("inconclusive", "error") else ()
    return Case(row.id, row.text, row.formula, status, summary, findings, notes)


def _with_modes(case: Case, row: RequirementRow, named: RequirementResult | None, modes: Sequence[FailureMode]) -> Case:
    """Begin the case with the sentence of a falsified requirement and its modes, where they were named."""
    if named is None:
        return case
    own = [mode for mode in modes if mode.requirement == row.id]
    summary = f"{violation_sentence(named)}{expectation(row.outcome, row.expected)}; {explanation(named, own)}"
    return replace(case, summary=summary, modes=tuple(mode_texts(own)))


def _status(row: RequirementRow, accepted: int | None, listed: int) -> Status:
    if accepted is not None:
        return "passed" if accepted == listed else "failed"
    if row.outcome == row.expected:
        return "passed"
    if row.outcome == Outcome.ERROR:
        return "error"
    if row.outcome == Outcome.INCONCLUSIVE:
        return "inconclusive"
    return "failed" if row.outcome in FOUND or row.expected is not None else "passed"


def _finding(row: CounterexampleRow) -> CaseFinding:
    """Only a falsification has probabilities and robustness; a trace of `reach` has actions and a time."""
    facts = [] if row.shown is None else [f"probability {interval(row.shown)}"]
    facts += [f"at {number(row.first_violation_time, 4)}"]
    facts += [] if math.isnan(row.robustness) else [f"robustness {number(row.robustness)}"]
    facts += ["flaky"] if row.status == "flaky" else []
    facts += [row.accepted] if row.accepted else []
    text = f"#{row.rank} {shorten_word(row.actions, 80)}: {', '.join(facts)}"
    return CaseFinding(row.actions, text, row.file, row.accepted == ACCEPTED, row.shown)


def _word(row: CheckedRequirement) -> tuple[CaseFinding, ...]:
    """The violation of a check."""
    if not row.violated:
        return ()
    key = (*row.prefix, *(("(", *row.loop, ")^ω") if row.loop else ()))
    return (CaseFinding(key, row.steps, row.file, False, row.probability),)
