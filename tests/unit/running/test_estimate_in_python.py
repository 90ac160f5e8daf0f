"""`bbfalsify.estimate`: models and systems in use, from Python."""

from __future__ import annotations

import pytest

import bbfalsify
from bbfalsify.core.errors import UserError
from bbfalsify.examples.chains import chain_file
from bbfalsify.examples.heater.system import heater
from bbfalsify.modelling import load_network
from tests.heater import EXACT, profile

QUEUE, QUERY = chain_file("queue"), "P=? [ F<=20 waiting == room ]"


def test_a_model():
    row = bbfalsify.estimate(QUEUE, QUERY, constants={"room": 5})
    assert row.estimate is not None and row.estimate.value == pytest.approx(0.2804572124, abs=1e-10) and row.runs == 0
    assert row.verdict is None and row.method == "Markov chain of 6 states"
    same = bbfalsify.estimate(load_network(QUEUE, {"room": 5}), "P<=0.5 [ F<=20 waiting == room ]")
    assert same.estimate == row.estimate and same.verdict == "holds"


def test_a_table_over_constants():
    row = bbfalsify.estimate(QUEUE, QUERY, constants={"mu": 2}, vary="room=5,8", times="10,20")
    assert row.table is not None and [line["at"] for line in row.table] == [
        {"room": room, "time": time} for room in (5, 8) for time in (10, 20)
    ]
    assert row.table[1]["estimate"]["value"] == pytest.approx(0.2804572124, abs=1e-10)


def test_a_system_in_use():
    """A 99.9 % interval at one seed."""
    asked = {"profile": profile(), "horizon": 20, "precision": "0.02", "confidence": 0.999, "seed": 1}
    row = bbfalsify.estimate(heater, "always[0:20](T <= 75)", at_most=0.2, **asked)
    assert row.verdict == "holds" and row.estimate is not None
    assert row.estimate.low <= sum(EXACT.values()) <= row.estimate.high


@pytest.mark.parametrize(
    ("asked", "query", "more", "says"),
    [
        (heater, "always[0:20](T <= 75)", {}, "profile is missing"),
        (heater, "always[0:20](T <= 75)", {"profile": profile()}, "horizon is missing"),
        (heater, "always[0:20](Temp <= 75)", {"profile": profile(), "horizon": 20}, "Temp"),
        (heater, ["always(T <= 75)", "always(T <= 70)"], {"profile": profile(), "horizon": 20}, "one requirement"),
        (
            heater,
            "always[0:20](T <= 75)",
            {"profile": profile(), "horizon": 20, "constants": {"a": 1}},
            "constants are",
        ),
        (QUEUE, QUERY, {"metod": "chain"}, "Did you mean 'method'"),
        (QUEUE, QUERY, {"horizon": 3}, "horizon is for a system"),
        (QUEUE, QUERY, {"constants": {"rom": 3}}, "Did you mean 'room'"),
        (QUEUE, "P=? [ F<=20 waitin == room ]", {}, "Did you mean 'waiting'"),
        (load_network(QUEUE), QUERY, {"vary": "room=1,2"}, "need the file of the model"),
        (QUEUE, 3, {}, "asked a query, as text; found int"),
        (3, QUERY, {}, "a model, its file or a system is needed, not int"),
    ],
)
def test_bad_arguments(asked, query, more, says):
    with pytest.raises(UserError) as error:
        bbfalsify.estimate(asked, query, **more)
    assert says in str(error.value)
