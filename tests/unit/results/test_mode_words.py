"""Names of failure modes of other versions, and history under today's names."""

from dataclasses import replace

import pytest

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.verdict import Outcome
from bbfalsify.reporting.html.modes import _renamed
from bbfalsify.results.falsify_modes import FailureMode, PastMode, PastRun
from bbfalsify.results.falsify_result import RequirementResult
from bbfalsify.results.mode_words import explanation, fails, like, violated_in

ABOUT = Estimate(0.1, 0.05, 0.2, 0.95, "test", 100)


ALL = Estimate(1.0, 0.9, 1.0, 0.95, "test", 100)


def mode(name, precision=ABOUT):
    some = {"rank": 1, "requirement": "R1", "sentence": "", "actions": (), "precision": precision, "share": ABOUT}
    return FailureMode(name=name, probability=ABOUT, **some)


@pytest.mark.parametrize(
    ("old", "alike"),
    [
        ("family·bath·boost", ["bath·boost"]),
        ("boost", ["bath·boost", "boost×3"]),
        ("boost×4 (2)", ["boost×3"]),
        ("shower", []),
        ("throttle high", ["throttle high, brake low"]),
    ],
)
def test_modes_like_one_of_another_version(old, alike):
    assert like(old, [mode(name) for name in ("bath·boost", "boost×3", "throttle high, brake low")]) == alike


def test_a_mode_of_any_use_explains_nothing():
    row = RequirementResult(id="R1", text="", stl="x > 0", outcome=Outcome.FALSIFIED, violation=ABOUT)
    assert explanation(row, [mode("any use")]) == "no short pattern tells these uses from those that pass"
    assert explanation(row, [mode("on", ALL)]).startswith("1 failure mode explains 100 %")


def test_a_pattern_that_mostly_passes_covers_and_does_not_explain():
    row = RequirementResult(id="R1", text="", stl="x > 0", outcome=Outcome.FALSIFIED, violation=ABOUT)
    assert explanation(row, [mode("on"), mode("off", ALL)]).startswith("2 failure modes cover 100 %")
    rare = replace(mode("on"), probability=replace(ABOUT, value=0.1 * ABOUT.value))
    assert explanation(row, [rare, mode("off", ALL)]).startswith("2 failure modes explain 100 %")


def test_what_every_use_violates_needs_no_pattern():
    row = RequirementResult(id="R1", text="", stl="x > 0", outcome=Outcome.FALSIFIED, violation=ALL)
    assert explanation(row, [mode("any use", ALL)]) == "it is violated whatever the actions and values are"


def test_an_earlier_run_is_shown_under_names_of_now():
    """The first mode is renamed; the second keeps a name that is there; the third showed nothing that is listed now."""
    known = [("family", ("family", "bath")), ("boost", ("boost",)), ("old", ("gone",))]
    past = tuple(PastMode(name=name, sentence="", probability=ABOUT, typical=word) for name, word in known)
    run = PastRun(run="1", time="", requirement="R1", violation=ABOUT, modes=past)
    now = {("family", "bath"): "bath", ("boost",): "bath", ("bath",): "boost"}
    assert [m.name for m in _renamed(run, now).modes] == ["bath", "boost", "old"]
    assert PastRun.from_json(run.as_json()) == run


def test_violations_that_no_simulation_met_again_are_bounded():
    never = Estimate(0.0, 0.0, 1 / 640, 0.95, "test", 1000, none_seen=True)
    row = RequirementResult(id="R1", text="", stl="x > 0", outcome=Outcome.FALSIFIED, violation=never)
    assert violated_in(row) == "violated, but in less than 1 of 640 uses"
    again = "no simulation met a violation again"
    assert explanation(row, []) == f"{again}; plain simulation beside it (smc) tells how rare it is"
    alone = replace(mode("on", never), probability=never)
    assert explanation(row, [alone]) == f"1 failure mode known from the search alone: {again}"
    assert fails(mode("on", never)) == "less than 0.16 %"
    assert fails(mode("on", Estimate(0.0, 0.0, 1.0, 0.95, "test", 0, none_seen=True))) == "unknown"


def test_a_known_mode_beside_a_wide_bound_is_at_least():
    """A mode of values of one in a million is known well; passes bound all other violations by one in 272."""
    known = Estimate(1e-6, 9e-7, 1 / 272, 0.95, "test", 1000)
    row = RequirementResult(id="R1", text="", stl="x > 0", outcome=Outcome.FALSIFIED, violation=known)
    assert violated_in(row) == "violated in at least 1 of 1 million uses [272, 1.11 million]"
    narrow = replace(row, violation=replace(known, high=2e-6))
    assert violated_in(narrow).startswith("violated in 1 of 1 million uses [")


def test_a_pattern_that_hardly_ever_fails_has_no_digits():
    rare = Estimate(4.6e-25, 1.6e-25, 1.2e-24, 0.95, "test", 100)
    assert fails(mode("on", rare)) == "less than 0.1 %"
    assert fails(mode("on", Estimate(0.05, 1e-4, 0.2, 0.95, "test", 100))) == "5 % [0, 20]"
