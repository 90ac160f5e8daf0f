"""Queries about whole runs, decided by one run without end; and extreme values."""

import pytest

from bbfalsify import reach
from bbfalsify.core.errors import UserError
from bbfalsify.core.verdict import Outcome
from bbfalsify.modelling import NetworkBuilder
from bbfalsify.running.reach.trace_files import trace_json


def worker(*, patient: bool = True, bounded: bool = True):
    """Idle – busy – idle; a job takes 2 to 3, and may be given up for a break, in which an impatient one stays."""
    b = NetworkBuilder("worker")
    b.declare("int[0,3] jobs; clock t;")
    w = b.automaton("W", declarations="clock x;")
    w.location("Idle", invariant="x <= 5" if bounded else None)
    w.location("Busy", invariant="x <= 3")
    w.location("Break", invariant="x <= 4")
    w.edge("Idle", "Busy", action="start", guard="x >= 1", update="x = 0")
    w.edge("Busy", "Idle", action="done", guard="x >= 2", update="x = 0, jobs = (jobs + 1) % 4")
    w.edge("Idle", "Break", action="rest", guard="x >= 1", update="x = 0")
    if patient:
        w.edge("Break", "Idle", action="back", update="x = 0")
    b.instance("W")
    return b.build()


def asked(network, query, **options):
    return reach(network, query, seed=1, walks=100, jobs=1, **options)


def test_a_loop_refutes_that_every_run_meets_a_state():
    result = asked(worker(), "A<> W.Busy")
    assert result.outcome is Outcome.FALSIFIED
    assert result.ending.kind == "repeats"
    assert "for ever" in result.in_words()
    loop = result.found.best.trace.steps[result.ending.loop :]
    assert {step.action for step in loop} == {"rest", "back"}


def test_a_loop_after_the_premise_refutes_leads_to():
    result = asked(worker(), "W.Busy --> jobs == 2")
    assert result.outcome is Outcome.FALSIFIED
    assert any(step.action == "start" for step in result.found.best.trace.steps)


def test_waiting_for_ever_counts_where_time_may_pass():
    result = asked(worker(bounded=False), "A<> W.Busy")
    assert (result.outcome, result.ending.kind, result.found.best.trace.steps) == (
        Outcome.FALSIFIED,
        "waits for ever",
        (),
    )
    assert asked(worker(), "A<> W.x >= 1").outcome is Outcome.NOT_FALSIFIED  # every run must wait that long


def test_a_run_that_is_stuck_is_at_its_end():
    result = asked(worker(patient=False), "W.Break --> W.Idle")
    assert (result.outcome, result.ending.kind) == (Outcome.FALSIFIED, "stuck")


def test_a_run_that_keeps_a_condition_is_a_witness():
    result = asked(worker(), "E[] not W.Busy")
    assert result.outcome is Outcome.REACHED
    assert "WITNESSED" in result.in_words()
    assert asked(worker(), "E[] W.Idle").outcome is Outcome.NOT_REACHED
    assert asked(worker(), "W.Break --> !W.Break").outcome is Outcome.NOT_FALSIFIED


def test_what_is_met_during_a_delay_is_not_avoided():
    assert asked(worker(), "A<> W.x > 0").outcome is Outcome.NOT_FALSIFIED
    assert asked(worker(), "E[] W.x <= 5").outcome is Outcome.REACHED


def test_extreme_values_are_reached():
    result = asked(worker(), "sup: jobs, W.x")
    assert [(e.word, e.value) for e in result.extremes] == [("sup", 3), ("sup", 5)]
    assert "sup jobs >= 3; sup W.x >= 5" in result.in_words()
    result = asked(worker(), "bounds{W.Busy && jobs > 1}: jobs")
    assert [(e.word, e.value) for e in result.extremes] == [("inf", 2), ("sup", 3)]
    assert trace_json(result.network, result.found.best.trace)["end"]["variables"]["jobs"] == 3
    result = asked(worker(), "sup{jobs > 5}: jobs")
    assert (result.outcome, result.extremes[0].value) == (Outcome.NOT_REACHED, None)
    result = asked(worker(bounded=False), "sup: t")
    assert result.extremes[0].unbounded


def test_deadlock_is_refused_where_it_has_no_meaning():
    with pytest.raises(UserError, match="'deadlock' is only understood under E<> and A"):
        asked(worker(), "A<> deadlock")
