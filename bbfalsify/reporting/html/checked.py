"""The page of a check: verdicts, the learned machine with each counterexample's path, how learning went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.automata.mealy import MealyMachine, read_dot
from bbfalsify.core.errors import UserError
from bbfalsify.records.manifest import readable_manifest
from bbfalsify.reporting.drawing.graphs import machine_svg
from bbfalsify.reporting.formatting import interval, replay_command
from bbfalsify.reporting.html.commands import how_to_reproduce
from bbfalsify.reporting.html.parts import badge, compared, outcome_badges, recorded
from bbfalsify.reporting.html.sequence import Row, sequence_chart
from bbfalsify.results.check_result import CheckedRequirement, CheckResult
from bbfalsify.results.recorded import result_from_json

if TYPE_CHECKING:
    from markupsafe import Markup

DRAWN = 80
"""A machine with more states is a table."""
OPEN = 25
"""Up to so many states, the drawings of all violations are open."""


def checked_page(directory: Path, results: Mapping[str, Any]) -> dict[str, Any]:
    result = result_from_json(CheckResult, results, file=str(directory / "results.json"))
    manifest, notes = readable_manifest(directory), list(result.notes)
    machine = _machine(directory, notes)
    violations = [_violation(row, result.name, machine) for row in result.violated]
    growth = _growth(directory, notes)
    sections = [("overview", "Requirements"), ("violations", "Violations"), ("machine", "Machine"),
                ("search", "Learning"), ("reproduce", "Reproduce")]  # fmt: skip
    hidden = {"violations": not violations, "search": growth is None}
    return {
        "title": result.name,
        "badges": [badge(result.outcome), *compared(results.get("category"))],
        "effort": f"{result.states} states learned with {result.queries} queries, {result.symbols} symbols "
        f"in {result.seconds:.1f} s; {result.stop_reason}; seed {result.seed}",
        "requirements": [_requirement(row) for row in result.requirements],
        "notes": notes,
        "violations": violations,
        "learned": _learned(result),
        "machine": _drawn(machine),
        "table": None if machine is None else _table(machine),
        "growth": growth,
        "how": how_to_reproduce(manifest, next((c for v in violations for c in v["commands"]), None)),
        "sections": [(id_, text) for id_, text in sections if not hidden.get(id_)],
    }


def _machine(directory: Path, notes: list[str]) -> MealyMachine | None:
    if not (directory / "model.dot").is_file():
        return None
    try:
        return read_dot(directory / "model.dot")
    except UserError as error:
        notes += map(str, error.problems)
        return None


def _drawn(machine: MealyMachine | None, way: Sequence[str] = ()) -> Markup | None:
    """The machine with a way through it; None where it is too large, or does not know the symbols."""
    from markupsafe import Markup

    if machine is None or len(machine) > DRAWN or not set(way) <= set(machine.inputs):
        return None
    return Markup(machine_svg(machine, way))


def _requirement(row: CheckedRequirement) -> dict[str, Any]:
    facts = [("status", row.status)] if row.status else []
    if row.probability is not None:
        facts.append(("probability that a use begins so", interval(row.probability)))
    vacuous = [] if row.vacuous is None else [badge("vacuous")]
    return {
        "id": row.id,
        "text": row.text,
        "formula": row.formula,
        "badges": [*outcome_badges(row.outcome, row.expected, row.verdict), *vacuous],
        "verdict": row.in_words(),
        "facts": facts,
    }


def _violation(row: CheckedRequirement, system: str, machine: MealyMachine | None) -> dict[str, Any]:
    from markupsafe import Markup

    system = "system" if system == "user" else system
    chart: list[Row] = []
    for number, (symbol, output) in enumerate(zip(row.word, row.outputs, strict=True)):
        if row.loop and number == len(row.prefix):
            chart.append(Row("", (), "from here on for ever:"))
        chart.append(Row("", ("user", system), symbol))
        last = not row.loop and number == len(row.word) - 1
        chart.append(Row("", (system, "user"), output, broken=last, counts=False))
    # A loop may come back to where it began only after several rounds.
    rounds = 0 if machine is None else len(machine)
    loop = f", then for ever: {' '.join(row.loop)}" if row.loop else ""
    return {
        "anchor": f"violation-{row.id}",
        "id": row.id,
        "title": (" ".join(row.prefix) or "at once") + loop,
        "reading": row.text or row.formula,
        "chart": Markup(sequence_chart(["user", system], chart)),
        "machine": _drawn(machine, row.prefix + row.loop * rounds),
        "small": machine is not None and len(machine) <= OPEN,
        "commands": [replay_command(row.file)] if row.file else [],
        "causes": _causes(row),
    }


def _causes(row: CheckedRequirement) -> list[dict[str, Any]]:
    """Steps that break the requirement with the words to each; none where the word above is all there is."""
    if len(row.causes) < 2 and not any(cause.others for cause in row.causes):
        return []
    return [
        {"text": cause.in_words(), "words": list(zip(map(" ".join, (cause.word, *cause.others)), cause.observed,
                                                     strict=True))}
        for cause in row.causes
    ]  # fmt: skip


def _learned(result: CheckResult) -> str:
    text = f"{result.states} states after {result.hypotheses} hypotheses"
    tested = result.tested_bound
    return text + (f"; no system with at most {tested} states differs from it." if tested else ".")


def _table(machine: MealyMachine) -> dict[str, Any]:
    rows = [
        [name, *(f"{machine.outputs[machine.answer[s, i]]} → {machine.states[machine.successor[s, i]]}"
                 for i in range(len(machine.inputs)))]
        for s, name in enumerate(machine.states)
    ]  # fmt: skip
    return {"inputs": list(machine.inputs), "rows": rows}


def _growth(directory: Path, notes: list[str]) -> dict[str, Any] | None:
    """States of the hypothesis, and the bound up to which it is tested, over queries."""
    lines: dict[str, list[tuple[int, int]]] = {"HypothesisMade": [(0, 0)], "BoundTested": [(0, 0)]}
    for event in recorded(directory, notes):
        if event.kind in lines:
            lines[event.kind].append((event.data["queries"], event.data["states"]))
    end = 1.02 * max(points[-1][0] for points in lines.values())  # what came last is seen, too
    if end == 0:
        return None
    names = {"HypothesisMade": "states", "BoundTested": "tested bound"}
    curves = [
        {"name": names[kind], "step": True, "xs": [*(x for x, _ in points), end],
         "ys": [*(y for _, y in points), points[-1][1]]}
        for kind, points in lines.items() if len(points) > 1
    ]  # fmt: skip
    panel = {"title": "states of the learned machine, and the bound up to which it was tested", "lines": curves,
             "floor": True}  # fmt: skip
    return {"title": "how learning went", "x": [0, end], "label": "queries", "panels": [panel]}
