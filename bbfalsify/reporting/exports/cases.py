"""Results as test cases: what CI servers, code scanners and pytest are told.  A requirement of a run is one case.

passed        as expected; without an expectation: not falsified; or all that was found is accepted
failed        falsified, or not as expected
inconclusive  no answer
error         the system failed, or the run could not be made
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.verdict import FOUND, Outcome
from bbfalsify.core.visible_text import visible
from bbfalsify.records.accepted import ACCEPTED
from bbfalsify.reporting.formatting import interval, number, replay_command, shorten_word
from bbfalsify.reporting.terminal.lines import expectation
from bbfalsify.results.check_result import CheckedRequirement, CheckVerdict

Status = Literal["passed", "failed", "inconclusive", "error"]
MOST_FINDINGS = 10
"""Findings in a case's text; results.json has them all."""


@dataclass(frozen=True)
class Finding:
    """One way to fail."""

    key: tuple[str, ...]
    """The actions, or the word with its loop: what makes two findings the same."""
    text: str
    file: str | None
    accepted: bool = False
    probability: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Case:
    id: str
    text: str
    formula: str
    status: Status
    summary: str
    """One line."""
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> Iterator[str]:
        """Lines to show: what the system said stays on one of them."""
        return map(visible, self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.summary
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
    varies = ", ".join(f"{key} {value}" for key, value in (results.get("varies") or {}).items())
    return Suite(
        name=f"{results['name']} ({varies})" if varies else results["name"],
        seconds=float(results.get("seconds") or 0.0),
        cases=tuple(_case(row, results) for row in results["requirements"]),
        seed=results.get("seed"),
        directory=results.get("run_directory"),
        campaign=campaign,
    )


def _case(row: Mapping[str, Any], results: Mapping[str, Any]) -> Case:
    mine = [c for c in results.get("counterexamples", ()) if c["requirement"] == row["id"]]
    findings = list(_words(row) if "verdict" in row else map(_finding, mine))
    status = _status(row, [c.get("accepted") for c in mine])
    outcome, expected = row["outcome"], row.get("expected")
    summary = f"{row['id']} {outcome.replace('_', ' ')}{expectation(outcome, expected)}"
    total = row.get("found_probability_with_uncertainty") or row.get("found_probability")
    if total is not None:
        summary += f", {len(mine)} counterexamples, together {interval(Estimate.from_json(total))}"
    if row.get("in_words"):
        summary += f": {row['in_words']}"
    formula = row.get("stl") or row.get("formula") or row.get("query") or ""
    notes = tuple(results.get("notes", ())) if status in ("inconclusive", "error") else ()
    return Case(row["id"], row.get("text") or "", formula, status, summary, tuple(findings), notes)


def _status(row: Mapping[str, Any], accepted: Sequence[str | None]) -> Status:
    if accepted and None not in accepted:
        return "passed" if set(accepted) == {ACCEPTED} else "failed"
    outcome, expected = row["outcome"], row.get("expected")
    if outcome == expected:
        return "passed"
    if outcome == Outcome.ERROR:
        return "error"
    if outcome == Outcome.INCONCLUSIVE:
        return "inconclusive"
    return "failed" if outcome in FOUND or expected is not None else "passed"


def _finding(data: Mapping[str, Any]) -> Finding:
    """Only a falsification has probabilities and robustness; a trace of `reach` has actions and a time."""
    estimate = data.get("probability_with_uncertainty") or data["probability"]
    facts = [] if estimate is None else [f"probability {interval(Estimate.from_json(estimate))}"]
    facts += [f"at {number(data['first_violation_time'], 4)}"]
    facts += [] if data["robustness"] is None else [f"robustness {number(data['robustness'])}"]
    facts += ["flaky"] if data["status"] == "flaky" else []
    facts += [data["accepted"]] if data.get("accepted") else []
    text = f"#{data['rank']} {shorten_word(data['actions'], 80)}: {', '.join(facts)}"
    return Finding(tuple(data["actions"]), text, data.get("file"), data.get("accepted") == ACCEPTED, estimate)


def _words(row: Mapping[str, Any]) -> Iterator[Finding]:
    """The violation of a check."""
    if row["verdict"] == CheckVerdict.VIOLATED:
        found = CheckedRequirement.from_json(row)
        key = (*found.prefix, *(("(", *found.loop, ")^ω") if found.loop else ()))
        yield Finding(key, found.steps, found.file, False, row.get("probability"))
