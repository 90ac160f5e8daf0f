"""The result of a run as text: fits, says everything, and ends with what to do next."""

from dataclasses import replace

import pytest
from rich.console import Console

from bbfalsify.core.errors import UserError
from bbfalsify.reporting.html.modes import modes_section
from bbfalsify.reporting.terminal.counterexamples import equations_table, equations_title, result_table
from bbfalsify.reporting.terminal.falsify import baseline_lines, closing_lines
from bbfalsify.reporting.terminal.modes import mode_lines
from bbfalsify.results.falsify_result import FalsificationResult, RequirementResult
from bbfalsify.results.mode_words import violation_sentence
from bbfalsify.results.recorded import read_results


def estimate(value: float) -> dict:
    return {
        "value": value, "low": 0.8 * value, "high": 1.2 * value, "confidence": 0.95, "method": "m", "samples": 1000,
        "none_seen": False, "at_least": False, "unseen": 0.0,
    }  # fmt: skip


def results(**changes) -> dict:
    rows = [
        {"rank": 1, "requirement": "R1", "status": "confirmed", "actions": ["on"] * 40 + ["off[2]"],
         "probability": estimate(2.2156e-3), "violating": 82, "traces": 1000, "first_violation_time": 13.863,
         "robustness": -3.25, "iteration": 12, "file": "runs/x/counterexamples/001-on.json"},
        {"rank": 2, "requirement": "R1", "status": "flaky", "actions": ["on", "off"], "probability": estimate(1e-12),
         "violating": 0, "traces": 0, "first_violation_time": None, "robustness": None, "iteration": 1999,
         "file": "runs/x/counterexamples/002-on.json"},
    ]  # fmt: skip
    data = {
        "name": "heater",
        "outcome": "falsified",
        "seed": 7,
        "simulations": 5000,
        "stop_reason": "completed",
        "requirements": [
            {"id": "R1", "text": "never above 75", "outcome": "falsified", "expected": "falsified",
             "found_probability": estimate(2.2e-3), "best_robustness": -3.25},
            {"id": "R2", "text": "", "outcome": "not_falsified", "expected": "falsified"},
        ],
        "counterexamples": rows,
        "found_probability": None,
        "run_directory": "runs/x",
    }  # fmt: skip
    return {**data, **changes}


def rendered(width: int, **changes) -> list[str]:
    console = Console(width=width, no_color=True, markup=False, highlight=False)
    with console.capture() as capture:
        console.print(result_table(FalsificationResult.from_json(results(**changes)).listed("R1"), width))
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_table_fits_and_loses_no_number(width):
    lines = rendered(width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for piece in ("2.22e-3 [1.77e-3, 2.66e-3]", "8.2%", "41", "13.86", "-3.25", "12", "1999", "flaky", "off[2]"):
        assert piece in text
    assert "…" not in lines[-1], "a dash stands for what is not known"


def test_numbers_make_room_for_words_that_cannot_be_told_apart():
    [row, _] = results()["counterexamples"]
    middles = (["again"], ["again", "again"], ["calm"], ["calm", "small_pos"])
    alike = [
        {**row, "rank": rank, "actions": ["large_neg", "fade", *middle, "small_neg", "fade", "calm"]}
        for rank, middle in enumerate(middles, start=1)
    ]
    head, _, *lines = rendered(80, counterexamples=alike)
    assert max(map(len, lines)) <= 80 and "walk" not in head and "share" in head
    assert len({line.split()[1] for line in lines}) == len(alike)
    assert "walk" in rendered(140, counterexamples=alike)[0], "where there is room for both"


def test_the_last_lines_say_outcomes_place_seed_and_how_to_replay():
    assert list(closing_lines(FalsificationResult.from_json(results()))) == [
        "R1 falsified (as expected): never above 75",
        "R2 not falsified (expected: falsified)",
        "run directory: runs/x",
        "seed: 7",
        "replay: bbfalsify replay runs/x/counterexamples/001-on.json",
    ]


def test_briefly_the_last_lines_say_outcomes_report_and_how_to_replay(tmp_path):
    (tmp_path / "report.html").write_text("")
    result = replace(FalsificationResult.from_json(results()), directory=tmp_path)
    assert list(closing_lines(result, brief=True))[2:] == [
        f"report: {tmp_path / 'report.html'}",
        "replay: bbfalsify replay runs/x/counterexamples/001-on.json",
    ]
    (tmp_path / "report.html").unlink()
    assert f"run directory: {tmp_path}" in closing_lines(result, brief=True)


def test_a_requirement_that_held_says_how_near_a_violation_came():
    result = FalsificationResult.from_json(results())
    near = replace(result.requirements[1], best_robustness=0.25)
    lines = list(closing_lines(replace(result, requirements=(near,))))
    assert lines[0] == "R2 not falsified (expected: falsified); closest robustness 0.25"


def test_not_falsified_is_not_called_verified():
    lines = list(closing_lines(FalsificationResult.from_json(results(outcome="not_falsified", counterexamples=[]))))
    assert any("not falsified is not verified" in line for line in lines)
    assert not any(line.startswith("replay") for line in lines)


def test_results_are_read_from_a_run_directory(tmp_path):
    import json

    (tmp_path / "results.json").write_text(json.dumps(results()))
    read = read_results(tmp_path)
    assert read.counterexamples[0].share == pytest.approx(0.082)
    assert [row.expected == row.outcome for row in read.requirements] == [True, False]


def test_a_run_names_its_files_from_where_it_is_now(tmp_path):
    import json

    here = tmp_path / "moved"
    here.mkdir()
    other = results(store="runs/xylophone")
    (here / "results.json").write_text(json.dumps(other))
    assert read_results(here).counterexamples[0].file == "runs/x/counterexamples/001-on.json", "a file on its own"
    (here / "manifest.json").write_text('{"format_version": 1}')
    found = read_results(here)
    assert found.directory == here and str(found.store) == "runs/xylophone"
    assert found.counterexamples[0].file == str(here / "counterexamples" / "001-on.json")
    (here / "manifest.json").write_text('{"format_version": 2}')
    with pytest.raises(UserError, match="format 2; this version of bbfalsify reads format 1"):
        read_results(here)
    (here / "results.json").unlink()
    with pytest.raises(UserError, match="this run has no results yet"):
        read_results(here)


def test_a_file_that_holds_no_results(tmp_path):
    (tmp_path / "results.json").write_text('{"outcome": "falsified"}')
    with pytest.raises(UserError, match="not the results of a run"):
        read_results(tmp_path)


def test_the_equations_have_a_line_each_and_fit():
    data = results(columns=["d9", "d6"])
    names = ("d6", "d9_set", "d9_multiset", "d9_traces")
    data["counterexamples"][0]["estimates"] = {name: estimate(10.0**-i) for i, name in enumerate(names, start=3)}
    result = FalsificationResult.from_json(data)
    assert "(D.6, D.9)" in equations_title(result.columns)
    console = Console(width=80, no_color=True, markup=False, highlight=False)
    with console.capture() as capture:
        console.print(equations_table(result.listed("R1"), result.columns, 80))
    lines = [line.rstrip() for line in capture.get().splitlines()]
    assert max(map(len, lines)) <= 80
    assert lines[2].split()[:2] == ["1", "key"] and "on×40·off[2]" in lines[2] and "2.22e-3 [1.77e-3" in lines[2]
    assert [line.split()[0] for line in lines[3:7]] == ["D.6", "D.9", "D.9", "D.9"]
    assert "multiset" in lines[5] and lines[5].endswith("1.00e-5 [8.00e-6, 1.20e-5]")
    assert lines[7].startswith("2  key") and lines[8].endswith("–"), "not estimated"


def requirement(**members) -> RequirementResult:
    return RequirementResult.from_json({"id": "R1", "text": "safe", "outcome": "falsified", **members})


def test_a_share_that_plain_simulation_cannot_tell_is_not_printed_as_zero():
    probability = {**estimate(8.1e-9), "low": 7.7e-9, "high": 1.5e-4, "confidence": 0.9}
    plain = {"probability": probability, "simulations": 20000, "share_unknown": "plain simulation met none"}
    lines = list(baseline_lines(requirement(smc=plain, found_probability=estimate(8.1e-9))))
    assert lines == [
        "R1, any violation (the list, and 20000 plain simulations):",
        "  at least 8.10e-9 [6.48e-9, 9.72e-9], at most 1.50e-4",
        "  share that the list explains: unknown (plain simulation met none)",
    ]


@pytest.mark.parametrize(("high", "least"), [(1.5e-4, "at least "), (8e-9, "at least "), (9e-10, "")])
def test_a_total_is_called_at_least_where_what_is_hidden_may_lead_beyond_its_interval(high, least):
    """Known are 8.1e-9 [6.48e-9, 9.72e-9]."""
    row = requirement(violation=estimate(8.1e-9), unseen={"high": high, "confidence": 0.95})
    said = f"R1, safe: violated in {least}1 of 123 million uses [103 million, 154 million]"
    assert violation_sentence(row) == said


def test_what_would_avoid_a_mode_is_said_where_asked_for():
    text = "a use passes that waits 0.27 less before <off>; no other delay differs by more than 0.082"
    mode = {
        "rank": 1, "requirement": "R1", "name": "on", "sentence": "on", "actions": ["on"], "avoided_by": text,
        "probability": estimate(0.002), "precision": estimate(0.2), "share": estimate(0.8),
    }  # fmt: skip
    row, result = requirement(violation=estimate(0.002)), FalsificationResult.from_json(results(modes=[mode]))
    brief, full = (
        "\n".join(line for line in mode_lines(row, result.modes, 80, verbose) if isinstance(line, str))
        for verbose in (False, True)
    )
    assert "passes" not in brief and f"mode 1: {text}" in full.replace("\n", " ")
    assert max(map(len, full.splitlines())) <= 80
    assert modes_section(result)["modes"][0]["avoided_by"] == text
