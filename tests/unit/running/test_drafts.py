"""Inputs that workers make for themselves: the same as made here, in small messages, with mistakes reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bbfalsify.core.errors import InvariantViolated, UserError
from bbfalsify.core.query import Query
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network, stochastic_walks
from bbfalsify.modelling import parse_profile
from bbfalsify.running import Execution
from bbfalsify.running.workers.channel import frame
from bbfalsify.running.workers.pool import WorkerPool
from bbfalsify.systems import FunctionSystem

PROFILE = """
format_version: 1
name: swing
declarations: |
  clock y;
  double g = 1.0;
automata:
  User:
    declarations: clock x;
    initial: S
    locations: {S: {invariant: "x <= 5", rates: {y: "(g - y) / 3"}}}
    edges:
      - {from: S, to: S, action: up, guard: "x >= 3", update: "x = 0, g = 1.0"}
      - {from: S, to: S, action: down, guard: "x >= 3", update: "x = 0, g = -1.0"}
inputs:
  u: {value: "VALUE", unit: "1"}
  held: {actions: {up: 1, down: 0}, initial: 0, unit: "1"}
"""


def usage_of(value="y * 2", text=PROFILE):
    profile = parse_profile(text.replace("VALUE", value))
    return Usage(profile, compile_network(profile.network), 200.0, 0.1)


def walks_of(usage, count=4):
    batch = stochastic_walks(usage.model, np.arange(count, dtype=np.uint64), 200.0, 1000)
    return [batch.walk(i) for i in range(count)]


def echo(stimulus):
    return {"seen": stimulus.inputs["u"] + 10 * stimulus.inputs["held"]}


def judge(trace):
    total = float(trace.signals["seen"].sum() + trace.signals["u"].sum() + len(trace.events) + trace.times.sum())
    return (Judgement(Verdict.SATISFIED, total, np.inf),)


def box():
    return FunctionSystem(echo, inputs=["u", "held"], outputs=["seen"], name="echo")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_make_what_is_made_here(method):
    usage = usage_of()
    walks = walks_of(usage)
    stops = [None, 17.25, 100.0, 3.0]
    drafted = [Query(f"d/{i}", usage.draft(w, stop=s)) for i, (w, s) in enumerate(zip(walks, stops, strict=True))]
    made = [Query(f"m/{i}", usage.stimulus(w, stop=s)) for i, (w, s) in enumerate(zip(walks, stops, strict=True))]
    with WorkerPool(box(), judge, Execution(jobs=2), start_method=method, shared=[usage]) as pool:
        answers = list(pool.answers(drafted + made))
    robustness = [a.judgements[0].robustness for a in answers]
    assert robustness[:4] == robustness[4:] and len(set(robustness[:4])) == 4


def test_a_kept_trace_has_the_inputs():
    usage = usage_of()
    [walk] = walks_of(usage, 1)
    with WorkerPool(box(), judge, shared=[usage]) as pool:
        [answer] = pool.answers([Query("d", usage.draft(walk), keep_trace=True)])
    np.testing.assert_array_equal(answer.trace.signals["u"], usage.stimulus(walk).inputs["u"])


def test_messages_hold_the_walk_and_not_its_samples_nor_the_profile():
    usage = usage_of()
    [walk] = walks_of(usage, 1)
    stimulus = len(frame(Query("q", usage.stimulus(walk)), [usage]))
    draft = len(frame(Query("q", usage.draft(walk)), [usage]))
    assert draft < stimulus / 5 and draft < 8_000


def test_held_inputs_are_made_at_once_unless_they_are_long():
    long = usage_of(text=PROFILE.replace('  u: {value: "VALUE", unit: "1"}\n', ""))
    short = replace(long, period=1.0)
    assert isinstance(short.draft(walks_of(short, 1)[0], stop=10.0), Stimulus)
    assert not short.makes_drafts and long.makes_drafts and usage_of().makes_drafts
    [walk] = walks_of(long, 1)
    made, drafted = long.stimulus(walk), long.draft(walk).stimulus()
    assert np.array_equal(made.times, drafted.times)
    assert all(np.array_equal(made.inputs[name], drafted.inputs[name]) for name in made.inputs)


def test_an_input_without_a_value_is_the_users_mistake():
    usage = usage_of("1 / (g - g)")
    [walk] = walks_of(usage, 1)
    with (
        WorkerPool(box(), judge, shared=[usage]) as pool,
        pytest.raises(UserError, match="division by zero in an expression"),
    ):
        list(pool.answers([Query("d", usage.draft(walk))]))


class Broken:
    def stimulus(self):
        raise KeyError("no such thing")


def test_a_draft_that_cannot_be_made_is_not_blamed_on_the_system():
    with WorkerPool(box(), judge) as pool, pytest.raises(InvariantViolated, match="the input of d could not be made"):
        list(pool.answers([Query("d", Broken())]))
