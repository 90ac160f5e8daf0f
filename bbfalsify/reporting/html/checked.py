"""The page of a check: verdicts, the learned machine with each counterexample's path, how learning went."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bbfalsify.automata.mealy import MealyMachine, read_dot
from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.records.run_directory import readable_manifest
from bbfalsify.reporting.drawing.graphs import machine_svg
from bbfalsify.reporting.formatting import interval
from bbfalsify.reporting.html.badges import badge, compared, expectation
from bbfalsify.reporting.html.commands import how_to_reproduce, replay_command
from bbfalsify.reporting.html.log import recorded
from bbfalsify.reporting.html.sequence import Row, sequence_chart

DRAWN = 80
"""A machine with more states is a table."""
OPEN = 25
"""Up to so many states, the drawings of all violations are open."""


def checked_page(directory: Path, results: dict[str, Any]) -> dict[str, Any]:
    from markupsafe import Markup

    manifest, notes = readable_manifest(directory), list(results.get("notes", ()))
    machine = _machine(directory, notes)
    rows = results["requirements"]
    violations = [_violation(directory, row, results["name"], machine) for row in rows if row["verdict"] == "violated"]
    drawn = machine is not None and len(machine) <= DRAWN
    growth = _growth(directory, notes)
    sections = [("overview", "Requirements"), ("violations", "Violations"), ("machine", "Machine"),
                ("search", "Learning"), ("reproduce", "Reproduce")]  # fmt: skip
    hidden = {"violations": not violations, "search": growth is None}
    return {
        "title": results["name"],
        "badges": [badge(results["outcome"]), *compared(results.get("category"))],
        "effort": f"{results['states']} states learned with {results['queries']} queries, {results['symbols']} symbols "
        f"in {results['seconds']:.1f} s; {results['stop_reason']}; seed {results['seed']}",
        "requirements": [_requirement(row, number) for number, row in enumerate(rows)],
        "notes": notes,
        "violations": violations,
        "learned": _learned(results),
        "machine": Markup(machine_svg(machine)) if drawn else None,
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


def _requirement(row: dict[str, Any], number: int) -> dict[str, Any]:
    facts = [("status", row["status"])] if row.get("status") else []
    if row.get("probability"):
        facts.append(("probability that a use begins so", interval(Estimate.from_json(row["probability"]))))
    badges = [badge(row["verdict"]), *expectation(row["outcome"], row.get("expected"))]
    return {
        "anchor": f"v{number}",
        "id": row["id"],
        "text": row["text"],
        "formula": row["formula"],
        "badges": [*badges, *([badge("vacuous")] if row["vacuous"] else [])],
        "verdict": row["in_words"],
        "facts": facts,
    }


def _violation(directory: Path, row: dict[str, Any], system: str, machine: MealyMachine | None) -> dict[str, Any]:
    from markupsafe import Markup

    word = [*row["prefix"], *row["loop"]]
    system = "system" if system == "user" else system
    chart: list[Row] = []
    for number, (symbol, output) in enumerate(zip(word, row["outputs"], strict=True)):
        if row["loop"] and number == len(row["prefix"]):
            chart.append(Row("", (), "from here on for ever:"))
        chart.append(Row("", ("user", system), symbol))
        last = not row["loop"] and number == len(word) - 1
        chart.append(Row("", (system, "user"), output, broken=last, counts=False))
    known = machine is not None and set(word) <= set(machine.inputs)
    # A loop may come back to where it began only after several rounds.
    way = [*row["prefix"], *(row["loop"] * (len(machine) if known else 0))]
    drawn = known and len(machine) <= DRAWN
    files = [] if not row.get("file") else [Path(row["file"])]
    loop = f", then for ever: {' '.join(row['loop'])}" if row["loop"] else ""
    return {
        "anchor": f"violation-{row['id']}",
        "id": row["id"],
        "title": (" ".join(row["prefix"]) or "at once") + loop,
        "reading": row["text"] or row["formula"],
        "chart": Markup(sequence_chart(["user", system], chart)),
        "machine": Markup(machine_svg(machine, way)) if drawn else None,
        "small": machine is not None and len(machine) <= OPEN,
        "commands": [replay_command(file) for file in files],
    }


def _learned(results: dict[str, Any]) -> str:
    tested = results.get("tested_bound")
    text = f"{results['states']} states after {results['hypotheses']} hypotheses"
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
