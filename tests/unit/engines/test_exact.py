"""The exact product: closed forms, forward sums, agreement with particles, and every reason to refuse."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, estimate_word
from bbfalsify.engines.falsification.estimates.exact import NotExact, exact_cylinder, exact_word, why_not_exact
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import CompiledModel, compile_network, stochastic_walks
from bbfalsify.modelling import load_profile, parse_profile
from tests import heater
from tests.support.chooser import COMMITTED, URGENT
from tests.unit.kernel.kernel_models import model, one, several

ROOT = Path(__file__).parents[3]


def exact(m: CompiledModel, word: str | list[str]) -> float:
    actions = list(word)
    assert why_not_exact(m, actions) is None
    return exact_cylinder(m, actions)


# --- closed forms -----------------------------------------------------------------------------------------------------


def test_the_heater():
    m = compile_network(heater.profile().network)
    assert exact(m, ["on", "on", "on", "off"]) == pytest.approx(3 / 256, rel=1e-14)
    assert exact(m, []) == 1.0
    assert exact(m, ["on"] * 150) == pytest.approx(0.25**150, rel=1e-12)


def test_a_year_of_weather():
    """The anomaly follows an ODE and the time is never reset, but no guard reads them."""
    m = compile_network(load_profile(ROOT / "profiles" / "weather.yaml").network)
    cold = ["large_neg", "again", "again", "calm"]
    assert exact(m, cold) == pytest.approx(1 / 18 * 0.2**2 * 0.8, rel=1e-13)
    assert exact(m, ["small_pos", "fade", *cold]) == pytest.approx(4 / 9 * 1 / 18 * 0.2**2 * 0.8, rel=1e-13)
    assert exact(m, ["fade"]) == 0.0
    year = (["small_pos", "fade"] * 75)[:150]
    assert exact(m, year) == pytest.approx((4 / 9) ** 75, rel=1e-11)


def test_a_forward_sum_over_an_integer():
    """One label, two branches: n counts tosses that came up heads (1/3), and `stop` is possible at n = 2 only."""
    toss = (
        'from: S, action: toss, guard: "n < 2", branches: '
        '[{to: S, weight: 1, update: "x = 0, n = n + 1"}, {to: S, weight: 2, update: "x = 0"}]'
    )
    stop = 'from: S, to: S, action: stop, guard: "n == 2", update: "x = 0"'
    m = model(one("clock x; int[0,2] n;", {"S": 'invariant: "x <= 1"'}, [toss, stop]))
    for k in range(2, 12):
        # the k-th toss is the second head, then stop is certain
        assert exact(m, ["toss"] * k + ["stop"]) == pytest.approx((k - 1) / 9 * (2 / 3) ** (k - 2), rel=1e-13)


def test_two_edges_with_one_label_lead_to_different_places():
    """`go` leads to A with weight 3 and to B with weight 1; `win` is certain in A and has share 1/2 in B."""
    edges = [
        'from: S, to: A, action: go, weight: 3, update: "x = 0"',
        'from: S, to: B, action: go, update: "x = 0"',
        'from: A, to: S, action: win, update: "x = 0"',
        'from: B, to: S, action: win, update: "x = 0"',
        'from: B, to: S, action: lose, update: "x = 0"',
    ]
    m = model(one("clock x;", dict.fromkeys("SAB", 'invariant: "x <= 2"'), edges))
    assert exact(m, ["go", "win"]) == pytest.approx(7 / 8, rel=1e-14)
    assert exact(m, ["go", "win"] * 3) == pytest.approx((7 / 8) ** 3, rel=1e-14)


def test_a_race_whose_losers_are_reset_or_forget():
    """Exponentials forget; the uniform component is reset by whoever moves."""
    automata = {
        "A": ("", {"S": ""}, ['from: S, to: S, action: a, update: "x = 0"']),
        "B": ("", {"S": 'invariant: "x <= 2"'}, ['from: S, to: S, action: b, update: "x = 0"']),
    }
    m = model(several(automata, "clock x;"))
    uniform = (1 - math.exp(-2)) / 2
    assert exact(m, ["b", "a", "b"]) == pytest.approx(uniform**2 * (1 - uniform), rel=1e-12)


def test_receivers_and_their_branches_are_part_of_the_sum():
    """The coin is tossed by whoever hears: heads (1/4) lets the sender go on, tails leaves it waiting for ever."""
    automata = {
        "Sender": ("clock x;", {"S": 'invariant: "x <= 1"', "E": ""}, [
            'from: S, to: E, sync: "toss!", update: "x = 0"', "from: E, to: E, action: on, guard: heads == 1",
        ]),
        "Coin": ("", {"L": ""}, [
            'from: L, sync: "toss?", branches: [{to: L, weight: 1, update: "heads = 1"}, {to: L, weight: 3}]',
        ]),
    }  # fmt: skip
    m = model(several(automata, "broadcast chan toss;\nint[0,1] heads;"))
    assert exact(m, ["toss", "on", "on"]) == pytest.approx(1 / 4, rel=1e-14)


def test_an_exponential_needs_no_reset():
    m = model(
        one("clock x;", {"S": 'exponential_rate: "2"'}, ["from: S, to: S, action: a", "from: S, to: S, action: b"])
    )
    assert exact(m, ["a", "b", "a"]) == pytest.approx(1 / 8, rel=1e-14)


def test_a_stopped_clock_keeps_its_value():
    """y is set to 3 and stands still in S, where a guard reads it."""
    locations = {"I": "urgent: true", "S": 'invariant: "x <= 4", rates: {y: 0}'}
    edges = [
        'from: I, to: S, action: start, update: "y = 3, x = 0"',
        'from: S, to: S, action: a, guard: "y <= 2", update: "x = 0"',
        'from: S, to: S, action: b, guard: "y >= 3 && x >= 1", update: "x = 0"',
    ]
    m = model(one("clock x; clock y;", locations, edges))
    assert exact(m, ["start", "b", "b"]) == 1.0
    assert exact(m, ["start", "b", "a"]) == 0.0


# --- agreement with particles -----------------------------------------------------------------------------------------

PATIENCE = one(
    "clock x; int[0,3] tired; double nap = 0.5;",
    {"Work": 'invariant: "x <= 4 - tired"', "Rest": 'exponential_rate: "1 + tired"'},
    [
        'from: Work, to: Work, action: task, guard: "x >= 1", update: "x = 0, tired = tired < 3 ? tired + 1 : 3"',
        'from: Work, to: Rest, action: pause, guard: "tired > 0 && x >= 0.25", update: "nap = 0.5 * tired, x = 0"',
        'from: Rest, action: task, guard: "x >= nap", '
        'branches: [{to: Work, weight: 1, update: "x = 0, tired = 0"}, {to: Work, weight: tired, update: "x = 0"}]',
        "from: Rest, to: Rest, action: snore, weight: 0.5, update: x = 0",
    ],
)


@pytest.mark.parametrize("word", ["task task pause task task", "task pause snore snore task pause task"])
def test_particles_agree(word):
    """Null hypothesis: passes of the conditional estimator have the exact product as mean.

    100 passes of 50 particles, a t-statistic below 5 (false alarm about 3e-6); their own scatter, some percent of the
    value, is the deviation caught.
    """
    m = model(PATIENCE)
    actions = word.split()
    value = exact(m, actions)
    passes = np.array([conditional_split(m, actions, effort=50, seeds=SeedTree(k)).cylinder for k in range(100)])
    assert abs(passes.mean() - value) < 5 * passes.std(ddof=1) / math.sqrt(len(passes)) + 1e-12
    assert passes.std(ddof=1) / value < 0.5


def test_walks_agree():
    """Null hypothesis: the share of walks that begin with the word is the exact product.

    n = 20,000, three words, 5 standard errors each (false alarm 6e-7); catches a probability of 0.3 that is 0.32.
    """
    m = model(PATIENCE)
    walks = stochastic_walks(m, np.arange(20_000, dtype=np.uint64), 1e9, 3)
    labels = m.edge_action[walks.edges]
    for word in (["task", "task", "pause"], ["task", "pause", "task"], ["task", "pause", "snore"]):
        share = float((labels == [m.actions.index(a) for a in word]).all(axis=1).mean())
        value = exact(m, word)
        assert abs(share - value) < 5 * math.sqrt(value * (1 - value) / 20_000)


# --- what an estimate makes of it -------------------------------------------------------------------------------------


def first_half_violates(queries):
    """A system that is too hot in every second use: the shares are 1/2, whatever the word."""
    judgements = [Judgement(Verdict.VIOLATED, -1.0, q.stimulus.duration) for q in queries]
    return [
        Answer(SimulationStatus.OK, (j if i % 2 else replace(j, verdict=Verdict.SATISFIED),))
        for i, j in enumerate(judgements)
    ]


INPUT = "inputs: {u: {actions: {a: 1}, initial: 0}}\n"


def estimated(text: str, word: str, **options):
    profile = parse_profile(text + INPUT)
    usage = Usage(profile, compile_network(profile.network), 10.0, 1.0)
    plan = PassPlan(10, 10, columns=("d8",), **options)
    return estimate_word(first_half_violates, usage, word.split(), plan, SeedTree(1))


RARE = """
format_version: 1
name: rare
automata:
  User:
    declarations: "clock x, y; int[0,1] odd;"
    initial: S
    locations:
      S: {invariant: "x <= 1"}
      T: {invariant: "x <= 1"}
    edges:
      - {from: S, to: T, action: a, guard: "ODD", update: "RESET"}
      - {from: T, to: S, action: b, update: "x = 0"}
      - {from: T, to: S, action: c, guard: "GUARD", update: "x = 0"}
"""


def test_a_product_is_known_whatever_the_particles_say():
    found = estimated(RARE.replace("ODD", "x >= 0").replace("RESET", "x = 0").replace("GUARD", "x >= 0"), "a b a b")
    assert found.cylinder.method == "exact product"
    assert found.cylinder.value == found.cylinder.low == found.cylinder.high == pytest.approx(1 / 4, rel=1e-14)
    assert found.passes.exact and "exact cylinder × Clopper–Pearson" in found.probability.method
    assert found.probability.value == pytest.approx(1 / 8)


def test_particles_that_agree_by_chance_are_no_proof():
    """c is possible for one in 10,000 only, so all 100 particles see b as certain; the guard's clock is not reset."""
    text = RARE.replace("ODD", "x >= 0").replace("RESET", "x = 0").replace("GUARD", "y <= 0.0001 || y > 100")
    found = estimated(text, "a b")
    assert why_not_exact(compile_network(parse_profile(text + INPUT).network), ["a", "b"]) is not None
    assert set(found.passes.cylinders) == {1.0} and not found.passes.exact
    assert found.cylinder.low < 1.0 and "exact" not in found.cylinder.method
    assert "exact" not in found.probability.method


def test_a_forward_sum_tells_the_cylinder_but_not_that_traces_are_independent():
    """What a leads to differs: one in 10,000 is odd, and b is less probable there (again nobody meets it)."""
    two = 'branches: [{to: T, weight: 9999, update: "x = 0"}, {to: T, weight: 1, update: "x = 0, odd = 1"}]'
    text = RARE.replace('to: T, action: a, guard: "ODD", update: "RESET"', f"action: a, {two}")
    found = estimated(text.replace("GUARD", "odd == 1"), "a b")
    assert found.cylinder.method == "exact product" and found.cylinder.value == pytest.approx(1 - 0.5e-4, rel=1e-12)
    assert not found.passes.exact and "exact cylinder" not in found.probability.method


def test_algorithm_5_is_not_helped():
    text = RARE.replace("ODD", "x >= 0").replace("RESET", "x = 0").replace("GUARD", "x >= 0")
    found = estimated(text, "a b a b", estimator="splitting")
    assert found.cylinder.low < found.cylinder.high and "Algorithm 5" in found.cylinder.method


# --- refusals ---------------------------------------------------------------------------------------------------------


def refused(text: str, word: str) -> str:
    m = model(text)
    reason = why_not_exact(m, word.split())
    assert reason is not None
    with pytest.raises(NotExact):
        exact_cylinder(m, word.split())
    return reason


def test_a_clock_that_is_not_reset():
    text = one("clock x;", {"S": 'invariant: "x <= 5"'}, ["from: S, to: S, action: a"])
    assert refused(text, "a a") == "clock 'P.x' is read in P.S and is not reset on every way there"
    assert exact(model(text), ["a"]) == 1.0  # the first step starts from known clocks


def test_a_loser_that_goes_on_waiting():
    automata = {
        "A": ("clock x;", {"S": 'invariant: "x <= 2"'}, ['from: S, to: S, action: a, update: "x = 0"']),
        "B": ("clock y;", {"S": 'invariant: "y <= 3"'}, ['from: S, to: S, action: b, update: "y = 0"']),
    }
    assert "clock 'B.y' is read in B.S" in refused(several(automata), "a a")


def test_a_random_draw_that_a_guard_reads():
    edges = ['from: S, to: S, action: a, guard: "x >= y", update: "x = 0, y = random(2)"']
    text = one("clock x; double y;", {"S": 'invariant: "x <= 5"'}, edges)
    assert refused(text, "a a") == "double 'P.y' is read in P.S and depends on a delay or a random draw"


def test_an_integer_that_remembers_the_delay():
    edges = ['from: S, to: S, action: a, guard: "n < 2", update: "n = x > 3 ? 1 : 0, x = 0"']
    text = one("clock x; int[0,2] n;", {"S": 'invariant: "x <= 5"'}, edges)
    assert refused(text, "a a") == "what 'a' of P leads to depends on the delay before it, or on a random draw"
    edges = ['from: S, to: S, action: a, guard: "n < 2", update: "n = fint(random(2)), x = 0"']
    text = one("clock x; int[0,2] n;", {"S": 'invariant: "x <= 5"'}, edges)
    assert refused(text, "a a") == "integer 'P.n' depends on a delay or a random draw"


def test_a_receiver_whose_guard_depends_on_the_moment():
    automata = {
        "A": ("clock x;", {"S": 'invariant: "x <= 2"'}, ['from: S, to: S, sync: "c!", update: "x = 0"']),
        "B": ("", {"S": ""}, ['from: S, to: S, sync: "c?", guard: "x > 1"']),
    }
    text = several({"A": automata["A"], "B": automata["B"]}, "broadcast chan c;").replace("clock x;", "// none")
    text = text.replace("broadcast chan c;", "broadcast chan c; clock x;")
    assert "what 'c' of A leads to depends on the delay" in refused(text, "c c")


def test_a_run_time_error_on_the_way():
    edges = ['from: S, to: S, action: a, update: "x = 0, n = n + 1"']
    text = one("clock x; int[0,2] n;", {"S": 'invariant: "x <= 5"'}, edges)
    assert exact(model(text), ["a", "a"]) == 1.0
    assert "the model fails: P.n = 3 is outside [0, 2]" in refused(text, "a a a")


def test_too_many_states(monkeypatch):
    monkeypatch.setattr("bbfalsify.engines.falsification.estimates.exact.MAXIMUM_WIDTH", 8)
    double = "branches: [{to: S, weight: 1, update: 'n = 2 * n'}, {to: S, weight: 1, update: 'n = 2 * n + 1'}]"
    text = one("int n;", {"S": "urgent: true"}, [f'from: S, action: a, guard: "n >= 0", {double}'])
    assert exact(model(text), ["a"] * 3) == 1.0
    assert refused(text, "a a a a") == "more than 8 states are possible after one prefix of the word"


def test_what_the_kernel_cannot_do():
    edges = ['from: S, to: S, action: a, weight: x, update: "x = 0"']
    assert "reads a clock" in refused(one("clock x;", {"S": 'invariant: "x <= 5"'}, edges), "a")


def test_an_unknown_action():
    with pytest.raises(ValueError, match="'nap' is no action"):
        why_not_exact(model(PATIENCE), ["nap"])


def test_a_clock_is_not_needed_where_a_guard_is_false_anyway():
    """x is never reset, but its guard needs n == 1, which never comes."""
    edges = [
        'from: S, to: S, action: a, guard: "n == 1 && x >= 2"',
        'from: S, to: S, action: b, guard: "y >= 1", update: "y = 0"',
    ]
    m = model(one("clock x; clock y; int[0,1] n;", {"S": 'invariant: "y <= 2"'}, edges))
    assert exact(m, ["b"] * 5) == 1.0
    assert exact(m, ["b", "a"]) == 0.0


@pytest.mark.parametrize("text", [COMMITTED, URGENT], ids=["committed", "urgent"])
def test_clocks_stand_still_where_no_time_passes(text):
    """A clock that is reset on the way into such a location is known when it is left; any other stays unknown."""
    law = exact_word(compile_network(parse_profile(text).network), ["a", "bad", "a", "ok"])
    assert law.cylinders == pytest.approx((1.0, 0.25, 0.25, 0.1875)) and law.steps_agree
    kept = text.replace(', update: "x = 0"', "")
    with pytest.raises(NotExact, match="clock 'User.x' is read in"):
        exact_word(compile_network(parse_profile(kept).network), ["a", "bad", "a"])
