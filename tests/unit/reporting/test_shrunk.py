"""What of the counterexamples matters, in words."""

from bbfalsify.reporting.terminal.counterexamples import FEW, shrunk_lines
from bbfalsify.results.falsify_result import FalsificationResult
from tests.unit.reporting.test_tables import estimate, results


def lines(*cores, **options):
    """For counterexamples 1, 2, …: (rank with the same key or None, actions, settled, status), or None."""
    rows = []
    for rank, core in enumerate(cores, start=1):
        row = {**results()["counterexamples"][0], "rank": rank}
        if core is not None:
            same_as, actions, settled, status = core
            row["shrunk"] = {
                "same_as": same_as, "actions": actions.split(), "settled": settled, "simulations": 9, "status": status,
                "file": None, "probability": estimate(1e-3), "probability_with_uncertainty": None,
            }  # fmt: skip
        rows.append(row)
    result = FalsificationResult.from_json(results(counterexamples=rows))
    return list(shrunk_lines(result.listed("R1"), 80, **options))


def test_rows_with_one_core_are_one_line():
    own, same = (1, "on", True, "confirmed"), (1, "on", True, "confirmed")
    assert lines(own, same, same, same, None, same) == [
        "#2 to #4 and #6 shrink to #1",
        "no action can be left out of #1",
    ]


def test_a_core_that_is_not_listed_is_told_with_its_probability():
    new = (None, "on off", True, "confirmed")
    assert lines(new, new) == ["#1 and #2 shrink to on·off: 1.00e-3 [8.00e-4, 1.20e-3], not on the list"]
    assert lines((None, "on", False, "flaky"))[0].endswith(
        "not on the list, flaky; more simulations may shrink it further"
    )


def test_what_was_not_finished_is_not_called_minimal():
    assert lines((1, "on", False, "confirmed"), (2, "off", True, "confirmed")) == [
        "no action can be left out of #2",
        "too few simulations to shrink #1",
    ]


def test_many_cores_are_cut_unless_asked_for():
    many = [(None, f"a{k}", True, "confirmed") for k in range(FEW + 3)]
    assert len(lines(*many)) == FEW + 1 and lines(*many)[-1] == "… and 3 more (bbfalsify show)"
    assert len(lines(*many, everything=True)) == FEW + 3


def test_results_of_older_runs_have_none():
    assert lines(None) == []
