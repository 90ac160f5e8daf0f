"""The chain of a network: the semantics of the walks, what is eliminated, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from bbfalsify.chains import answer_csl, explore_chain, lump
from bbfalsify.chains.too_large import more_states_than
from bbfalsify.chains.uniformisation import poisson_weights
from bbfalsify.core.errors import UserError
from bbfalsify.modelling import Network, NetworkBuilder


def race(*, committed: bool = False, weights: tuple[int, int] = (1, 1)) -> Network:
    """Two components; a broadcast that one of two receivers hears by weight; a location without delay."""
    b = NetworkBuilder("race")
    b.declare("broadcast chan go; int[0,9] heard = 0;")
    a = b.automaton("A")
    a.location("Start", exponential_rate=3)
    a.location("Middle", committed=committed, urgent=not committed)
    a.location("End", exponential_rate=1)
    a.edge("Start", "Middle", sync="go!", weight=weights[0])
    a.edge("Start", "End", action="skip", weight=weights[1])
    a.edge("Middle", branches=[("End", 1, ""), ("Start", 3, "")], action="think")
    r = b.automaton("B")
    r.location("Ear", exponential_rate=2)
    r.location("Full")
    r.edge("Ear", "Ear", sync="go?", guard="heard < 4", update="heard++", weight=2)
    r.edge("Ear", "Full", sync="go?", weight=1)
    r.edge("Ear", "Full", action="tired")
    b.instance("A").instance("B")
    return b.build()


def test_probabilities_of_a_race_by_hand():
    """A leaves Start with rate 3, half of it by `go`; B is tired with rate 2; `go` moves B on with probability 1/3."""
    chain = explore_chain(race())
    first_go = answer_csl(chain, "P=? [ heard == 0 && B.Ear U heard == 1 ]").value
    skipping = 1.5  # then only B moves, and heard stays 0
    assert first_go == pytest.approx((1.5 * 2 / 3) / (1.5 + skipping + 2), rel=1e-12)
    assert answer_csl(chain, "P=? [ X B.Full ]").value == pytest.approx((2 + 1.5 / 3) / 5, rel=1e-12)


@pytest.mark.parametrize("committed", [True, False])
def test_a_state_without_delay_can_be_asked_for(committed: bool):
    chain = explore_chain(race(committed=committed, weights=(1, 3)))
    assert answer_csl(chain, "P=? [ F A.Middle ]").value == pytest.approx(0.25, rel=1e-12)
    assert answer_csl(chain, "S=? [ A.Middle ]").value == 0.0
    assert answer_csl(chain, "P=? [ F[1,1] A.Middle ]").value == 0.0


def birth_death(size: int, up: float, down: float) -> Network:
    b = NetworkBuilder("walkers")
    b.declare(f"int[0,{size}] n = 0;")
    for name, rate, guard, update in (("Up", up, f"n < {size}", "n++"), ("Down", down, "n > 0", "n--")):
        a = b.automaton(name)
        a.location("On", exponential_rate=rate)
        a.edge("On", "On", guard=guard, update=update, action=name.lower())
    b.instance("Up").instance("Down")
    return b.build()


def test_the_long_run_of_a_queue_is_geometric():
    chain = explore_chain(birth_death(6, 1, 3))
    shares = np.array([3.0**-k for k in range(7)])
    for k in range(7):
        assert answer_csl(chain, f"S=? [ n == {k} ]").value == pytest.approx(shares[k] / shares.sum(), rel=1e-12)


@pytest.mark.parametrize("phases", [40, 100])
def test_probabilities_down_to_1e_minus_158_keep_their_digits(phases: int):
    """`phases` steps of rate 1 within a time of 1: the incomplete gamma function."""
    from scipy.special import gammainc

    b = NetworkBuilder("long")
    a = b.automaton("A")
    a.location("Wait", exponential_rate=f"erlang({phases}, 1)")
    a.location("End")
    a.edge("Wait", "End", action="ring")
    answer = answer_csl(explore_chain(b.instance("A").build()), "P=? [ F<=1 A.End ]")
    assert answer.value == pytest.approx(gammainc(phases, 1.0), rel=1e-9)
    assert answer.high - answer.low <= 1e-8 * answer.value


def test_lumping_does_not_join_what_differs_late():
    b = NetworkBuilder("line")
    b.declare("int[0,3] n = 0;")
    a = b.automaton("A")
    a.location("On", exponential_rate="n == 3 ? 1.0 : 1.0000001")
    a.location("Off")
    a.edge("On", "Off", action="stop")
    a.edge("On", "On", guard="n < 3", update="n++", action="more")
    assert lump(explore_chain(b.instance("A").build()), ["A.Off"]).states == 5


def network(location: dict, edge: dict, declarations: str = "clock x; chan h; broadcast chan b;") -> Network:
    b = NetworkBuilder("some")
    b.declare(declarations)
    a = b.automaton("A")
    a.location("One", **location)
    a.location("Two")
    a.edge("One", "Two", **edge)
    return b.instance("A").build()


@pytest.mark.parametrize(
    ("location", "edge", "says"),
    [
        ({"invariant": "x <= 3"}, {}, "location 'A.One' has an invariant over clocks"),
        ({}, {"guard": "x >= 2"}, "the guard of edge 'A.One -> Two"),
        ({}, {"update": "x = random(3)"}, "draws a random number"),
        ({}, {"sync": "h!"}, "channel 'h' is a handshake"),
        ({}, {"weight": "1 + x"}, "reads a clock"),
    ],
)
def test_what_is_not_markov_is_refused_by_name(location: dict, edge: dict, says: str):
    with pytest.raises(UserError, match=says):
        explore_chain(network(location, edge))


def decay(rate: str):
    b = NetworkBuilder("decay")
    b.declare("int[0,2] n = 2;")
    a = b.automaton("A")
    a.location("On", exponential_rate=rate)
    a.edge("On", "On", guard="n > 0", update="n--", action="less")
    return b.instance("A").build()


def test_a_rate_that_becomes_negative_is_named():
    with pytest.raises(UserError, match="the rate of location 'A.On' is negative"):
        explore_chain(decay("n - 1.5"))


def test_a_state_whose_rates_are_zero_stays():
    """Rate n - 1: from 2 to 1, and no further."""
    chain = explore_chain(decay("n - 1"))
    assert chain.states == 2
    assert chain.matrix.toarray().tolist() == [[0, 1], [0, 0]]


def test_an_endless_loop_without_delay_is_named():
    b = NetworkBuilder("loop")
    a = b.automaton("A").location("Calm").location("Mad", urgent=True)
    a.edge("Calm", "Mad", action="go").edge("Mad", "Mad", action="spin")
    chain = explore_chain(b.instance("A").build())
    with pytest.raises(UserError, match=r"endless loop without delay starts in the state A\.Mad"):
        answer_csl(chain, "P=? [ F<=1 A.Calm ]")


def test_a_timelock_is_named():
    b = NetworkBuilder("stuck")
    b.automaton("A").location("Calm").location("Stuck", committed=True).edge("Calm", "Stuck", action="go")
    with pytest.raises(UserError, match=r"time cannot pass and nothing can happen in the state A\.Stuck"):
        explore_chain(b.instance("A").build())


def million() -> Network:
    b = NetworkBuilder("many")
    b.declare("int[0,1000000] n = 0;")
    a = b.automaton("A")
    a.location("On")
    a.edge("On", "On", guard="n < 1000000", update="n++", action="more")
    return b.instance("A").build()


def test_too_many_states_are_refused_before_memory_is():
    heard: list[int] = []
    with pytest.raises(UserError, match="more than 50,000 states"):
        explore_chain(million(), most_states=50_000, go_on=lambda states: not heard.append(states))
    assert heard and heard == sorted(heard) and heard[-1] <= 50_000


@pytest.mark.parametrize(("free", "says"), [(200_000, "room for 1,024 states"), (40_000_000, "states found so far")])
def test_a_chain_that_does_not_fit_is_refused_before_memory_is_used(free: int, says: str, monkeypatch):
    """40 MB hold the arrays of the 65,536 states that there is room for, not those of answers about them as well."""
    monkeypatch.setattr("bbfalsify.chains.chain.free_memory", lambda: free)
    with pytest.raises(UserError, match=rf"does not fit into memory: .*{says}.* GB are free"):
        explore_chain(million())


@pytest.mark.parametrize("rate", [1e-6, 0.7, 30.0, 1e3, 1e6])
def test_poisson_weights(rate: float):
    from scipy.stats import poisson

    left, weights, missed = poisson_weights(rate)
    assert weights.sum() == pytest.approx(1.0, abs=1e-12) and 0 < missed <= 1e-13
    exact = poisson.pmf(np.arange(left, left + len(weights)), rate)
    assert np.abs(weights - exact).max() <= 1e-8 * exact.max()  # the error of scipy's at a million
    assert poisson.cdf(left - 1, rate) + poisson.sf(left + len(weights) - 1, rate) <= 2e-14


def components(count: int) -> Network:
    b = NetworkBuilder("components")
    for number in range(count):
        a = b.automaton(f"C{number}")
        a.location("Up", exponential_rate=0.001)
        a.location("Down", exponential_rate=1.0)
        a.edge("Up", "Down", action=f"fail{number}")
        a.edge("Down", "Up", action=f"repair{number}")
        b.instance(f"C{number}")
    return b.build()


def test_walks_see_that_there_are_too_many_states():
    """2^24 states are more than 10,000; 2^12 are not.  False alarm below 1e-6 by construction."""
    assert more_states_than(components(24), 10_000)
    assert not more_states_than(components(12), 10_000)
    with pytest.raises(UserError, match=r"more than 400,000 states, the most that are allowed \(3,.* random walks"):
        explore_chain(components(24), most_states=400_000)
