"""Clocks that stop: over-approximated, with traces that the exact interpreter follows; other rates are refused."""

from __future__ import annotations

import pytest

from bbfalsify import verify
from bbfalsify.core.errors import UserError

WORK = """clock x, y; int[0,1] on = 1;
process P() {
  state Works { x' == on && y <= 10 }, Rests { x' == 0 && y <= 5 }, Done, Never;
  init Works;
  trans Works -> Rests { guard x >= 2; assign y = 0; }, Rests -> Works { guard y >= 3; assign y = 0; },
        Works -> Done { guard x >= 7 && y <= 1; }, Rests -> Never { guard x < 2; };
}
system P;
"""
SPURIOUS = """clock a, b, total;
process P() {
  state A { b' == 0 && a <= 5 }, B { a' == 0 }, Bad;
  init A;
  trans A -> B { }, B -> Bad { guard a <= 1 && b <= 2 && total >= 4; };
}
system P;
"""
"""In A only a runs, in B only b, so total = a + b ≤ 3; a zone bounds differences of two clocks and cannot say that."""


@pytest.fixture
def model(tmp_path):
    def written(text):
        file = tmp_path / "m.xta"
        file.write_text(text)
        return file

    return written


def test_a_trace_sums_the_delays_in_which_a_clock_runs(model):
    found = verify(model(WORK), "E<> P.Done")
    assert found.verdict == "holds" and found.answer.trace is not None
    late = verify(model(WORK), "E<> P.Done && x > 12")
    assert late.verdict == "holds" and float(late.answer.trace.time) > 12


def test_a_proof_says_that_it_over_approximates(model):
    found = verify(model(WORK), "A[] not P.Never")
    assert found.verdict == "holds" and "clocks that stop, as 'x', were over-approximated" in found.in_words()


def test_a_path_that_no_run_follows_is_spurious(model):
    found = verify(model(SPURIOUS), "E<> P.Bad", heuristic="bfs")
    assert (found.verdict, found.answer.trace) == ("undecided", None)
    assert "a symbolic path of 2 steps is spurious" in found.answer.why
    again = verify(model(SPURIOUS), "E<> P.Bad", walks=0.2)  # walks do not find it either, and nothing is proved
    assert again.verdict == "undecided"
    assert verify(model(SPURIOUS.replace("total >= 4", "total >= 3")), "E<> P.Bad", heuristic="bfs").verdict == "holds"


@pytest.mark.parametrize(
    ("query", "named"),
    [("A[] not deadlock", "deadlocks"), ("A<> P.Done", "whole runs"), ("P.Works --> P.Done", "whole runs")],
)
def test_what_over_approximation_cannot_decide_is_refused_by_name(model, query, named):
    with pytest.raises(UserError, match=f"'x' may stop.*{named}"):
        verify(model(WORK), query)


def test_other_rates_are_refused_unless_nothing_reads_the_clock(model):
    double = WORK.replace("x' == 0", "x' == 2")
    with pytest.raises(UserError, match="rate other than 0 and 1"):
        verify(model(double), "E<> P.Done")
    unread = double.replace("x >= 2", "y >= 2").replace("x >= 7 && ", "").replace("x < 2", "y < 0")
    assert verify(model(unread), "E<> P.Done").verdict == "holds"
    computed = verify(model(WORK.replace("int[0,1] on = 1", "int[0,2] on = 2")), "E<> P.Done", heuristic="bfs")
    assert computed.verdict == "undecided" and "rate other than 0 and 1" in computed.answer.why
