"""Sensitivity, coverage and times of a recorded result, as lines, tables and a plot."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from rich.console import Console

from bbfalsify.reporting.terminal.insight_lines import (
    bar_line,
    coverage_lines,
    coverage_table,
    elasticity_table,
    swap_lines,
    time_lines,
    time_plot,
)
from bbfalsify.results.falsify_result import FalsificationResult
from tests.unit.reporting.test_tables import estimate, results

ON, OFF = "weight of User.S -> S (on)", "weight of User.S -> S (off)"


def swap(first: int, factor: float, low: float | None, high: float | None, parameter: str = ON) -> dict:
    return {
        "first": first, "second": first + 1, "parameter": parameter, "factor": factor, "low": low, "high": high,
    }  # fmt: skip


def part(name: str, line: int | None, search: int) -> dict:
    return {"name": name, "line": line, "search": search, "counterexamples": 0}


def times(samples: int) -> dict:
    quantiles = {"0": 13.9, "0.05": 14.0, "0.25": 15.0, "0.5": 16.25, "0.75": 17.0, "0.95": 18.0, "1": 20.0}
    return {"samples": samples, "probability": 0.03, "quantiles": quantiles, "histogram": [0.01, 0.0, 0.02, 0.0001]}


def rich_results() -> dict:
    data = results()
    columns = [
        {"rank": rank, "traces": 100, "violating": True, "elasticities": [
            {"parameter": name, "value": value, "low": value, "high": value, "confidence": 0.95}
            for name, value in ((ON, 1.5 * rank), (OFF, -1.5 * rank), ("weight of User.T -> S (only)", 0.0))
        ]}
        for rank in range(1, 8)
    ]  # fmt: skip
    swaps = [swap(1, 1.4, 1.2, 1.6), swap(1, 0.7, 0.6, 0.8, OFF), swap(2, 1.05, 0.9, 1.2), swap(4, 9.0, None, None),
             swap(6, 2.0, 1.9, 2.1)]  # fmt: skip
    first = data["requirements"][0]
    first["sensitivity"] = {"counterexamples": columns, "swaps": swaps}
    first["time_to_violation"] = {"bins": [13.0, 15.0, 17.0, 19.0, 21.0], "counterexamples": times(500), "smc": None}
    data["counterexamples"][0]["time_to_violation"] = times(400)
    data["counterexamples"][0]["probability_with_uncertainty"] = {**estimate(2.2156e-3), "high": 9e-3}
    edges = [part("User.S -> S (on)", 11, 7), part("User.S -> T (pause)", 12, 0), part("User.T -> S (on)", None, 0)]
    data["profile_coverage"] = {
        "walks": {"search": 10, "counterexamples": 2}, "edges": edges, "locations": [part("User.T", 9, 0)],
        "branches": [part("User.S -> S (on) no. 1", 11, 7), part("User.S -> S (on) no. 2", 11, 0)], "actions": [],
        "never_taken": {"edges": ["User.S -> T (pause)", "User.T -> S (on)"], "locations": ["User.T"], "actions": [],
                        "branches": ["User.S -> S (on) no. 2"]},
        "automata": [{"name": "User", "initial": "S", "locations": ["S", "T"],
                      "edges": [{"number": 0, "source": "S", "target": "S", "action": "on", "times": 7}]}],
    }  # fmt: skip
    return data


RESULT = FalsificationResult.from_json(rich_results())
ROW = RESULT.requirements[0]


def text_of(table) -> str:
    console = Console(width=80, no_color=True)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_swaps_name_the_smallest_change_of_each_pair():
    assert list(swap_lines(ROW)) == [
        f"#1 and #2 swap if {ON} × 1.4 [1.2, 1.6]",
        f"#2 and #3 swap if {ON} × 1.05 [0.9, 1.2]; uncertain",
        f"#4 and #5 swap if {ON} × 9",
        "… 1 more pairs: bbfalsify show",
    ]
    assert len(list(swap_lines(ROW, most=None))) == 4


def test_the_table_of_elasticities_leaves_out_what_does_not_matter():
    text = text_of(elasticity_table(ROW))
    assert "+1.5" in text and "-7.5" in text and ON in text
    assert "only" not in text
    assert "#5" in text and "#6" not in text


def test_coverage_in_a_line_and_in_full():
    assert list(coverage_lines(RESULT.profile_coverage)) == [
        "profile coverage: 1 of 3 edges; never taken: User.S -> T (pause), line 12; User.T -> S (on)"
    ]
    short, branches, locations = coverage_lines(RESULT.profile_coverage, everything=True)
    assert branches == "  and 1 of 2 branches; never taken: User.S -> S (on) no. 2, line 11"
    assert locations == "  and 0 of 1 locations; never taken: User.T, line 9"
    assert "branch User.S -> S (on) no. 2" in text_of(coverage_table(RESULT.profile_coverage))


def test_times_in_a_line():
    assert list(time_lines(ROW)) == ["time to violation: 13.9 ▄ █▁ 20, half of it by 16.25"]
    assert bar_line([0, 0, 1e-9, 1, 0]) == "▁█"
    assert bar_line([0.0]) == ""


def test_the_plot_shows_the_list_and_its_first_counterexamples():
    root = ET.fromstring(time_plot("heater R1", ROW, RESULT.listed("R1")))
    texts = [e.text for e in root.iter() if e.text and e.text.strip()]
    assert {"list", "#1", "heater R1", "probability of a violation by then"} <= set(texts)
    axis = texts[-6:]
    assert axis == ["14", "15", "16", "17", "18", "19", "20", "21"][-5:] + ["time of the first violation"]
    lines = [e for e in root.iter() if e.tag.endswith("polyline")]
    assert len(lines) == 4


def test_the_interval_with_the_profile_s_uncertainty_is_the_one_shown():
    assert RESULT.counterexamples[0].shown.high == 9e-3
    assert RESULT.counterexamples[1].shown == RESULT.counterexamples[1].probability


def test_results_of_older_versions_show_nothing_more():
    old = FalsificationResult.from_json(results())
    row = old.requirements[0]
    assert not [*swap_lines(row), *time_lines(row), *coverage_lines(old.profile_coverage, everything=True)]
    assert (
        elasticity_table(row) is None
        and coverage_table(old.profile_coverage) is None
        and time_plot("", row, ()) is None
    )
