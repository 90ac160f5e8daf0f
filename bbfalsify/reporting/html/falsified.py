"""The page of a falsification: requirements, ranked counterexamples, how the search went, when, why, how again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bbfalsify.core.estimate import Estimate
from bbfalsify.records.accepted import ACCEPTED
from bbfalsify.records.manifest import readable_manifest
from bbfalsify.reporting.formatting import interval, number, replay_command, values_text
from bbfalsify.reporting.html.commands import how_to_reproduce
from bbfalsify.reporting.html.curves import search_plots, time_plots
from bbfalsify.reporting.html.details import Details
from bbfalsify.reporting.html.modes import modes_section
from bbfalsify.reporting.html.parts import anchor, badge, compared, interval_bar, outcome_badges
from bbfalsify.reporting.terminal import insight_lines as insights
from bbfalsify.reporting.terminal.counterexamples import row_text
from bbfalsify.reporting.terminal.falsify import bounds_by_list, effort_line, store_lines, unmet_lines
from bbfalsify.results.falsify_insights import Coverage, Elasticity
from bbfalsify.results.falsify_result import FalsificationResult, RankedCounterexample, RequirementResult
from bbfalsify.results.mode_words import explanation, held_together, violated_in
from bbfalsify.results.recorded import result_from_json

WORD_WIDTH = 90
MOST_PARAMETERS = 12
"""Columns of the table of elasticities: the parameters that matter most."""


def falsified_page(directory: Path, results: Mapping[str, Any]) -> dict[str, Any]:
    result = result_from_json(FalsificationResult, results, file=str(directory / "results.json"))
    manifest = readable_manifest(directory)
    details = Details(directory, result)
    each = details.each()  # first: what cannot be read is noted
    searches = search_plots(directory, result, details.notes)
    sensitivities = [s for row in result.requirements if (s := _sensitivity(row)) is not None]
    page = {
        "title": result.name or directory.name,
        "badges": [badge(result.outcome), *compared(results.get("category"))],
        "effort": f"{effort_line(result)}; seed {result.seed}{_varies(results)}",
        "requirements": [_requirement(row, result) for row in result.requirements],
        "several": len(result.requirements) > 1,
        **modes_section(result),
        "notes": [
            *(note for note in result.notes if note not in result.list_notes),
            *store_lines(result),
            *unmet_lines(result),
            *details.notes,
        ],
        "list_notes": [*result.list_notes, *insights.sampling_lines(result.sampling)],
        "rows": _rows(result),
        "keys": [_keys(row) for row in result.counterexamples],
        "statuses": sorted({word for row in result.counterexamples for word in _states(row)}),
        "confidence": f"{next((c.shown.confidence for c in result.counterexamples), 0.95):.0%}",
        "details": each,
        "searches": searches,
        "moments": time_plots(result),
        "sensitivities": sensitivities,
        "coverage": _coverage(result.profile_coverage),
        "how": how_to_reproduce(manifest, replay_command(details.files[0]) if details.files else None),
    }
    names = (
        ("overview", "requirements", "Requirements"), ("modes", "modes", "Failure modes"),
        ("counterexamples", "rows", "Counterexamples"), ("search", "searches", "Search"), ("when", "moments", "When"),
        ("sensitivity", "sensitivities", "What decides"), ("profile", "coverage", "Profile"),
        ("reproduce", "how", "Reproduce"),
    )  # fmt: skip
    page["sections"] = [(section, text) for section, key, text in names if page[key]]
    return page


def _varies(results: Mapping[str, Any]) -> str:
    return "".join(f"; {key} {value}" for key, value in (results.get("varies") or {}).items() if key != "seed")


# --- requirements ----------------------------------------------------------------------------------------------------


def _requirement(row: RequirementResult, result: FalsificationResult) -> dict[str, Any]:
    mass, listed, accepted, plain = row.shown, len(result.listed(row.id)), result.accepted(row.id), row.baseline
    facts = [("counterexamples listed", str(listed))] if listed else []
    if row.found_words > listed:
        facts.append(("found by the search", str(row.found_words)))
    if mass is not None and row.violation is not None:
        facts.append(("probability of the listed ones", interval(mass)))
    if mass is not None:
        facts.append(("method", f"{mass.method}, {mass.samples} traces, {mass.confidence:.0%} confidence"))
    if (between := bounds_by_list(row)) is not None:
        facts.append(("any violation, by the list and plain simulation", between))
    elif plain is not None:
        how = "importance sampling" if plain.by_importance else "plain simulation"
        facts.append((f"any violation, by {how}", _estimate(plain.probability)))
    if plain is not None and plain.share_unknown:
        facts.append(("share that the list explains", f"unknown ({plain.share_unknown})"))
    if plain is not None and plain.explained is not None:
        share = plain.explained
        facts.append(("share that the list explains", f"{share.value:.1%} [{share.low:.1%}, {share.high:.1%}]"))
    facts.append(("best robustness", number(row.best_robustness)))
    if accepted is not None:
        facts.append(("accepted", f"{accepted} of {listed}"))
    if plain is not None and plain.never_met:
        facts.append(("of the list, never met by plain simulation", str(len(plain.never_met))))
    lines = []
    if row.outcome == "not_falsified":
        lines.append("Not falsified is not verified: another profile, seed or budget may still find a failure.")
    return {
        "id": row.id,
        "text": row.text,
        "formula": row.stl,
        "badges": outcome_badges(row.outcome, row.expected),
        "mass": None if mass is None else interval(mass),
        "mass_says": "probability that a use meets one of the counterexamples"
        + (", the profile's uncertainty included" if row.found_probability_with_uncertainty else ""),
        "sentence": None if row.violation is None else held_together(violated_in(row)),
        "explained": None if row.violation is None else explanation(row, result.modes_of(row.id)),
        "facts": facts,
        "lines": lines,
    }


def _estimate(estimate: Estimate) -> str:
    return f"{interval(estimate)} ({estimate.method}, {estimate.samples} samples, {estimate.confidence:.0%})"


# --- the table -------------------------------------------------------------------------------------------------------


def _rows(result: FalsificationResult) -> list[dict[str, Any]]:
    top = max((row.shown.high for row in result.counterexamples if row.shown.samples), default=0.0)
    places = {(row.requirement, row.rank): index for index, row in enumerate(result.counterexamples)}
    rows = []
    for index, row in enumerate(result.counterexamples):
        shown, core = row.shown, row.shrunk
        link = None if core is None or core.same_as is None else places.get((row.requirement, core.same_as))
        rows.append(
            {
                "anchor": anchor(index),
                "rank": row.rank,
                "requirement": row.requirement,
                "word": row_text(row, WORD_WIDTH),
                "title": "·".join(row.actions) if row.acts else values_text(row.values),
                "badges": [badge(word) for word in _states(row) if word not in ("confirmed", ACCEPTED)],
                "probability": "0" if row.exact_moments else interval(shown),
                "bar": interval_bar(shown, top) if shown.samples and top > 0 and not row.exact_moments else None,
                "share": "–" if row.share is None else f"{100 * row.share:.3g} %",
                "length": len(row.actions),
                "at": number(row.first_violation_time, 4),
                "robustness": number(row.robustness),
                "core": _core_text(row),
                "core_anchor": None if link is None or link == index else anchor(link),
            }
        )
    return rows


def _core_text(row: RankedCounterexample) -> str:
    core = row.shrunk
    if core is None:
        return "–"
    if core.same_as == row.rank:
        if not row.acts:
            return values_text(core.values, WORD_WIDTH)
        return "all of it" if core.settled else "(not settled)"
    return f"#{core.same_as}" if core.same_as is not None else f"{len(core.actions)} actions"


def _states(row: RankedCounterexample) -> list[str]:
    """confirmed or flaky; known from the store; accepted, new, …"""
    artefact = ["sampling artefact"] if row.sampling_artefact else []
    exact = ["possible only at exact moments"] if row.exact_moments else []
    return [row.status, *artefact, *exact, *(["known"] if row.known else []), *([row.accepted] if row.accepted else [])]


def _keys(row: RankedCounterexample) -> list[Any]:
    """Keys by which the table is sorted and filtered, in the order of the columns in the template."""
    core = None if row.shrunk is None else len(row.shrunk.actions)
    return [
        row.rank, row.requirement, "·".join(row.actions), row.shown.value if row.shown.samples else None, row.share,
        len(row.actions), row.first_violation_time, row.robustness, _states(row), core,
    ]  # fmt: skip


# --- profile ---------------------------------------------------------------------------------------------------------


def _sensitivity(row: RequirementResult) -> dict[str, Any] | None:
    found = () if row.sensitivity is None else row.sensitivity.counterexamples
    if not found:
        return None
    names = [cell.parameter for cell in found[0].elasticities]
    weight = {name: max(abs(column.elasticities[i].value) for column in found) for i, name in enumerate(names)}
    matter = sorted((n for n in names if weight[n] >= insights.MATTERS), key=lambda n: -weight[n])[:MOST_PARAMETERS]
    most = max((weight[name] for name in matter), default=1.0)
    rows = []
    for column in found:
        cells = {cell.parameter: cell for cell in column.elasticities}
        rows.append({"rank": column.rank, "cells": [_heat(cells[name], most) for name in matter]})
    return {
        "title": row.id,
        "lines": list(insights.swap_lines(row, most=None)),
        "parameters": matter,
        "rows": rows if matter else [],
    }


def _heat(cell: Elasticity, most: float) -> dict[str, Any]:
    return {
        "text": f"{cell.value:+.3g}",
        "title": f"{cell.value:+.3g} [{number(cell.low)}, {number(cell.high)}]",
        "hue": "bad" if cell.value > 0 else "accent",
        "shade": round(45 * abs(cell.value) / most),
    }


def _coverage(coverage: Coverage | None) -> dict[str, Any] | None:
    if coverage is None or not coverage.walks:
        return None
    parts = insights.covered_parts(coverage)
    most = {kind: max((part.times[kind] for _, part in parts), default=0) or 1 for kind in coverage.walks}
    return {
        "lines": list(insights.coverage_lines(coverage, everything=True)),
        "kinds": [insights.KINDS.get(kind, kind) for kind in coverage.walks],
        "rows": [
            {
                "name": name,
                "never": not any(part.times.values()),
                "cells": [{"text": str(n), "width": round(100 * n / most[kind])}
                          for kind in coverage.walks for n in [part.times[kind]]],
            }
            for name, part in parts
        ],
    }  # fmt: skip
