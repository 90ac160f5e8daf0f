"""Results in a notebook."""

import math
from dataclasses import replace

from bbfalsify import check, reach
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.examples.models import named_model
from bbfalsify.results.falsify_modes import FailureMode, Unseen
from bbfalsify.results.falsify_result import FalsificationResult, RankedCounterexample, RequirementResult

EVIL = "<script>alert(1)</script>"


def result(count: int) -> FalsificationResult:
    estimate = Estimate(0.25, 0.2, 0.3, 0.95, "m", 100)
    return FalsificationResult(
        name=EVIL, outcome=Outcome.FALSIFIED, seed=1, simulations=10, iterations=10, stop_reason=StopReason.COMPLETED,
        requirements=(
            RequirementResult(
                id=EVIL, text=EVIL, stl="T < 1", outcome=Outcome.FALSIFIED, found_probability=estimate,
                best_robustness=-1.0,
            ),
        ),
        counterexamples=tuple(
            RankedCounterexample(
                rank=rank, requirement=EVIL, status="confirmed", actions=("on", EVIL), probability=estimate,
                violating=1, traces=2, first_violation_time=math.inf, robustness=-1.0, iteration=3,
            )
            for rank in range(1, count + 1)
        ),
        found_probability=estimate, seconds=1.0, directory=None,
    )  # fmt: skip


def test_a_falsification_as_table_and_data_frame():
    html = result(60)._repr_html_()
    assert EVIL not in html and "0.25 [0.2, 0.3]" in html and "… 10 more" in html
    frame = result(60).to_dataframe()
    assert len(frame) == 60 and frame["probability"].sum() == 15 and frame["actions"][0] == ("on", EVIL)
    empty = result(0)
    assert "<table>" not in empty._repr_html_() and list(empty.to_dataframe().columns) == list(frame.columns)


def with_modes() -> FalsificationResult:
    few, known = Estimate(0.002, 0.0018, 0.0022, 0.95, "m", 100), Estimate(0.004, 0.0038, 0.0042, 0.95, "m", 100)
    mode = FailureMode(
        rank=1, requirement=EVIL, name="on", sentence=f"{EVIL} twice", actions=("on",), probability=few,
        precision=Estimate(0.18, 0.1, 0.2, 0.95, "m", 100), share=few, counterexamples=(1, 2),
    )  # fmt: skip
    plain = result(2)
    row = replace(plain.requirements[0], violation=known, other=few, unseen=Unseen(0.01))
    return replace(
        plain, requirements=(row,), modes=(mode,), notes=("about rows", "about the run"), list_notes=("about rows",)
    )


def test_a_result_begins_with_its_modes():
    lines = str(with_modes()).splitlines()
    assert lines == [
        f"{EVIL}, {EVIL}: violated in at least 1 of 250 uses [238, 263]",
        "1 failure mode covers 50 % of that, the rest has no short pattern in common; "
        "unseen violations may add up to 1 in 100",
        f"  #1 {EVIL} twice: 1 in 500 [455, 556], fails 18 % [10, 20]",
        "10 simulations",
        "note: about the run",
    ]
    html = with_modes()._repr_html_()
    places = [html.index(text) for text in ("violated in at least 1 of 250 uses", "1 in 500", "on·")]
    assert EVIL not in html and places == sorted(places)


def test_without_modes_a_result_lists_its_rows():
    assert f"  #2 on·{EVIL}: 0.25 [0.2, 0.3]" in str(result(2)).splitlines()


def test_a_check_as_table_and_data_frame():
    machine = MealyMachine.from_transitions({("s", "a"): ("t", "<x>"), ("t", "a"): ("s", "y")}, "s")
    found = check(machine, ["G(out == y)", "F(out == y)"], max_states=2, seed=1, out=None)
    html = found._repr_html_()
    assert "violated by: a" in html and "satisfied if" in html
    frame = found.to_dataframe()
    assert frame["verdict"].tolist() == ["violated", "satisfied_up_to_bound"] and frame["outputs"][0] == ("<x>",)


def test_a_trace_of_reach_shows_itself():
    found = reach(
        named_model("fischer-faulty:4")[0], "A[] (sum (i : id_t) P(i).cs) <= 1", walks=11, timeout=None, seed=1
    )
    html, frame = found._repr_html_(), found.to_dataframe()
    assert "VIOLATED after 10 steps" in html and html.count("<tr>") == 11 and "P(2): wait -&gt; cs" in html
    assert list(frame.columns) == ["time", "delay", "action", "who", "changes"] and len(frame) == 10
    assert frame["time"].is_monotonic_increasing and frame["changes"][1] == {"id": 2}
    nothing = reach(named_model("fischer:2")[0], "E<> false", walks=1, timeout=None, seed=1)
    assert "<table>" not in nothing._repr_html_() and len(nothing.to_dataframe()) == 0


def test_a_falsification_is_printed_in_words():
    lines = str(result(2)).splitlines()
    assert lines[0] == f"{EVIL} falsified, together 0.25 [0.2, 0.3]"
    assert lines[1:] == [f"  #{rank} on·{EVIL}: 0.25 [0.2, 0.3]" for rank in (1, 2)] + ["10 simulations"]
