"""The page of a falsification: requirements, ranked counterexamples, how the search went, when, why, how again."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bbfalsify.core.estimate import Estimate
from bbfalsify.records.accepted import ACCEPTED
from bbfalsify.records.run_directory import readable_manifest
from bbfalsify.reporting.formatting import interval, number, shorten_word
from bbfalsify.reporting.html.badges import badge, compared, expectation
from bbfalsify.reporting.html.commands import how_to_reproduce, replay_command
from bbfalsify.reporting.html.curves import search_plots, time_plots
from bbfalsify.reporting.html.details import Details
from bbfalsify.reporting.terminal.convergence import convergence_lines
from bbfalsify.reporting.terminal.insight_lines import KINDS, coverage_lines, sampling_lines, swap_lines, time_lines
from bbfalsify.reporting.terminal.tables import effort_line, store_lines, unmet_lines
from bbfalsify.results.recorded import CounterexampleRow, RequirementRow, RunResult, result_from_json

WORD_WIDTH = 90
MOST_PARAMETERS = 12
"""Columns of the table of elasticities: those that matter most."""


def falsified_page(directory: Path, results: dict[str, Any]) -> dict[str, Any]:
    result = result_from_json(results, file=str(directory / "results.json"))
    manifest = readable_manifest(directory)
    details = Details(directory, result)
    each = details.each()  # first: what cannot be read is noted
    searches = search_plots(directory, result, convergence_lines, details.notes)
    sensitivities = [s for row in result.requirements if (s := _sensitivity(row)) is not None]
    page = {
        "title": result.name or directory.name,
        "badges": [badge(result.outcome), *compared(results.get("category"))],
        "effort": f"{effort_line(result)}; seed {result.seed}{_varies(results)}",
        "requirements": [_requirement(row, result) for row in result.requirements],
        "several": len(result.requirements) > 1,
        "notes": [*result.notes, *sampling_lines(result), *store_lines(result), *unmet_lines(result), *details.notes],
        "rows": _rows(result),
        "keys": [_keys(row) for row in result.counterexamples],
        "statuses": sorted({word for row in result.counterexamples for word in _states(row)}),
        "confidence": f"{next((c.shown.confidence for c in result.counterexamples), 0.95):.0%}",
        "details": each,
        "searches": searches,
        "moments": time_plots(result, functools.partial(time_lines, bars=False)),
        "sensitivities": sensitivities,
        "coverage": _coverage(result),
        "how": how_to_reproduce(manifest, replay_command(details.files[0]) if details.files else None),
    }
    names = (
        ("overview", "requirements", "Requirements"), ("counterexamples", "rows", "Counterexamples"),
        ("search", "searches", "Search"), ("when", "moments", "When"), ("sensitivity", "sensitivities", "What decides"),
        ("profile", "coverage", "Profile"), ("reproduce", "how", "Reproduce"),
    )  # fmt: skip
    page["sections"] = [(section, text) for section, key, text in names if page[key]]
    return page


def _varies(results: dict[str, Any]) -> str:
    return "".join(f"; {key} {value}" for key, value in (results.get("varies") or {}).items() if key != "seed")


# --- requirements ----------------------------------------------------------------------------------------------------


def _requirement(row: RequirementRow, result: RunResult) -> dict[str, Any]:
    mass = row.with_uncertainty or row.found_probability
    facts = [("counterexamples listed", str(row.counterexamples))] if row.counterexamples else []
    if row.found_words > row.counterexamples:
        facts.append(("found by the search", str(row.found_words)))
    if mass is not None:
        facts.append(("method", f"{mass.method}, {mass.samples} traces, {mass.confidence:.0%} confidence"))
    if row.any_violation is not None:
        facts.append(("any violation, by plain simulation", _estimate(row.any_violation)))
    if row.explained is not None:
        share = row.explained
        facts.append(("share that the list explains", f"{share.value:.1%} [{share.low:.1%}, {share.high:.1%}]"))
    facts.append(("best robustness", number(row.best_robustness)))
    if row.accepted is not None:
        facts.append(("accepted", f"{row.accepted} of {row.counterexamples}"))
    if row.never_met:
        facts.append(("of the list, never met by plain simulation", str(row.never_met)))
    lines = []
    if row.outcome == "not_falsified":
        lines.append("Not falsified is not verified: another profile, seed or budget may still find a failure.")
    return {
        "id": row.id,
        "text": row.text,
        "formula": row.stl,
        "badges": [badge(row.outcome), *expectation(row.outcome, row.expected)],
        "mass": None if mass is None else interval(mass),
        "mass_says": "probability that a use meets one of the counterexamples"
        + (", the profile's uncertainty included" if row.with_uncertainty else ""),
        "facts": facts,
        "lines": lines,
    }


def _estimate(estimate: Estimate) -> str:
    return f"{interval(estimate)} ({estimate.method}, {estimate.samples} samples, {estimate.confidence:.0%})"


# --- the table -------------------------------------------------------------------------------------------------------


def anchor(index: int) -> str:
    return f"n{index + 1}"


def _rows(result: RunResult) -> list[dict[str, Any]]:
    top = max((row.shown.high for row in result.counterexamples if row.shown.samples), default=0.0)
    places = {(row.requirement, row.rank): index for index, row in enumerate(result.counterexamples)}
    rows = []
    for index, row in enumerate(result.counterexamples):
        shown, core = row.shown, row.shrunk
        link = None if core is None else places.get((row.requirement, core.same_as))
        rows.append(
            {
                "anchor": anchor(index),
                "rank": row.rank,
                "requirement": row.requirement,
                "word": shorten_word(row.actions, WORD_WIDTH),
                "title": "·".join(row.actions),
                "badges": [badge(word) for word in _states(row) if word not in ("confirmed", ACCEPTED)],
                "probability": interval(shown),
                "bar": _bar(shown, top) if shown.samples and top > 0 else None,
                "share": "–" if row.share is None else f"{100 * row.share:.3g} %",
                "length": len(row.actions),
                "at": number(row.first_violation_time, 4),
                "robustness": number(row.robustness),
                "core": _core_text(row),
                "core_anchor": None if link is None or link == index else anchor(link),
            }
        )
    return rows


def _core_text(row: CounterexampleRow) -> str:
    core = row.shrunk
    if core is None:
        return "–"
    if core.same_as == row.rank:
        return "all of it" if core.settled else "(not settled)"
    return f"#{core.same_as}" if core.same_as is not None else f"{len(core.actions)} actions"


def _states(row: CounterexampleRow) -> list[str]:
    """confirmed or flaky; known from the store; accepted, new, …"""
    artefact = ["sampling artefact"] if row.sampling_artefact else []
    return [row.status, *artefact, *(["known"] if row.known else []), *([row.accepted] if row.accepted else [])]


def _bar(shown: Estimate, top: float) -> list[str]:
    low, high, value = (100 * part / top for part in (shown.low, shown.high, shown.value))
    return [f"{low:.2f}", f"{max(high - low, 0):.2f}", f"{value:.2f}"]


def _keys(row: CounterexampleRow) -> list[Any]:
    """What the table is sorted and filtered by; the order is that of the columns in the template."""
    core = None if row.shrunk is None else len(row.shrunk.actions)
    return [
        row.rank, row.requirement, "·".join(row.actions), row.shown.value if row.shown.samples else None, row.share,
        len(row.actions), row.first_violation_time, row.robustness, _states(row), core,
    ]  # fmt: skip


# --- profile ---------------------------------------------------------------------------------------------------------


def _sensitivity(row: RequirementRow) -> dict[str, Any] | None:
    found = (row.sensitivity or {}).get("counterexamples") or []
    if not found:
        return None
    names = [cell["parameter"] for cell in found[0]["elasticities"]]
    weight = {name: max(abs(column["elasticities"][i]["value"]) for column in found) for i, name in enumerate(names)}
    matter = sorted((n for n in names if weight[n] >= 0.0005), key=lambda n: -weight[n])[:MOST_PARAMETERS]
    most = max((weight[name] for name in matter), default=1.0)
    rows = []
    for column in found:
        cells = {cell["parameter"]: cell for cell in column["elasticities"]}
        rows.append({"rank": column["rank"], "cells": [_heat(cells[name], most) for name in matter]})
    return {
        "title": row.id,
        "lines": list(swap_lines(row, most=None)),
        "parameters": matter,
        "rows": rows if matter else [],
    }


def _heat(cell: dict[str, Any], most: float) -> dict[str, Any]:
    value = cell["value"]
    return {
        "text": f"{value:+.3g}",
        "title": f"{value:+.3g} [{number(cell['low'])}, {number(cell['high'])}]",
        "hue": "bad" if value > 0 else "accent",
        "shade": round(45 * abs(value) / most),
    }


def _coverage(result: RunResult) -> dict[str, Any] | None:
    coverage = result.profile_coverage
    if coverage is None or not coverage["walks"]:
        return None
    kinds = list(coverage["walks"])
    never = {name for part in ("edges", "branches") for name in coverage["never_taken"][part]}
    parts = [*coverage["edges"], *({**b, "label": f"branch {b['name']}"} for b in coverage["branches"])]
    most = {kind: max((part[kind] for part in parts), default=0) or 1 for kind in kinds}
    return {
        "lines": list(coverage_lines(result, everything=True)),
        "kinds": [KINDS.get(kind, kind) for kind in kinds],
        "rows": [_coverage_row(part, kinds, most, never) for part in parts],
    }


def _coverage_row(part: dict, kinds: Sequence[str], most: dict[str, int], never: set[str]) -> dict[str, Any]:
    return {
        "name": part.get("label", part["name"]),
        "never": part["name"] in never,
        "cells": [{"text": str(part[kind]), "width": round(100 * part[kind] / most[kind])} for kind in kinds],
    }
