"""The page of a campaign of several runs: how each went, with links to their reports."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.json_files import read_json
from bbfalsify.reporting.formatting import interval, number
from bbfalsify.reporting.html.commands import how_to_reproduce
from bbfalsify.reporting.html.parts import badge, compared
from bbfalsify.results.recorded import result_from_json
from bbfalsify.results.run_result import RunResult

_MADE = {"check": "queries", "reach": "walks"}
"""Words for what engines count that do not simulate."""


def campaign_page(directory: Path) -> dict[str, Any]:
    manifest = read_json(directory / "campaign.json")
    try:
        rows = [_row(directory, run) for run in manifest["runs"]]
        keys = list(dict.fromkeys(key for run in manifest["runs"] for key in run["varies"]))
        for row, run in zip(rows, manifest["runs"], strict=True):
            row["varies"] = [str(run["varies"].get(key, "")) for key in keys]
            row["varied"] = [run["varies"].get(key) for key in keys]
        name = manifest["name"]
    except (KeyError, TypeError, AttributeError) as error:
        problem = Problem(f"not the manifest of a campaign ({type(error).__name__}: {error}).",
                          file=str(directory / "campaign.json"))  # fmt: skip
        raise UserError(problem) from None
    outcomes = Counter(row["outcome"]["text"] for row in rows)
    engines = {row["engine"] for row in rows} - {None}
    made = _MADE.get(engines.pop(), "simulations") if len(engines) == 1 else "simulations"
    categories = Counter(row["keys"]["category"] for row in rows if row["keys"]["category"])
    return {
        "title": name,
        "badges": [found for word, count in categories.items() for found in compared(word, count)],
        "effort": f"{len(rows)} runs: {', '.join(f'{count} {word}' for word, count in outcomes.items())}",
        "rows": rows,
        "keys": keys,
        "order": [_order(number, row) for number, row in enumerate(rows, start=1)],
        "made": made,
        "masses": any(row["mass"] for row in rows),
        "counts": [(made, f"{sum(int(row['simulations'] or 0) for row in rows):,}")],
        "how": how_to_reproduce(manifest),
        "sections": [],
    }


def _row(directory: Path, run: dict[str, Any]) -> dict[str, Any]:
    folder = directory / run["directory"]
    link = f"{run['directory']}/report.html" if (folder / "report.html").is_file() else None
    row = {"name": run["name"], "link": link, "engine": None}
    if not (folder / "results.json").is_file():
        begun = (folder / "manifest.json").is_file()
        return row | {"outcome": badge("unknown", "not finished" if begun else "not begun"), "category": None,
                      "counterexamples": "", "mass": [], "simulations": "", "seconds": "",
                      "keys": {"category": None}}  # fmt: skip
    file = folder / "results.json"
    result = result_from_json(RunResult, read_json(file), file=str(file))
    masses = {row.id: row.found_probability for row in result.requirements if row.found_probability}
    found, one = len(result.counterexamples), len(result.requirements) == 1
    return row | {
        "engine": result.engine,
        "outcome": badge(result.outcome),
        "category": next(iter(compared(result.category)), None),
        "counterexamples": found,
        "mass": [interval(mass) if one else f"{name}: {interval(mass)}" for name, mass in masses.items()],
        "simulations": result.simulations,
        "seconds": number(result.seconds),
        "keys": {"category": result.category, "counterexamples": found, "seconds": result.seconds,
                 "mass": sum(mass.value for mass in masses.values()) if masses else None,
                 "simulations": result.simulations},
    }  # fmt: skip


def _order(number: int, row: dict[str, Any]) -> list[Any]:
    """Keys by which the table is sorted, in the order of the columns in the template."""
    told = [value if isinstance(value, int | float | None) else str(value) for value in row["varied"]]
    names = ("category", "counterexamples", "mass", "simulations", "seconds")
    return [number, row["name"], *told, row["outcome"]["text"], *(row["keys"].get(name) for name in names)]
