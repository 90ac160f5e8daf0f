"""Chains of papers and textbooks against figures that were computed elsewhere, to nine digits."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.linalg import expm

from bbfalsify.chains import Chain, answer_csl, derivatives, explore_chain, lump, to_prism
from bbfalsify.chains.elimination import reduced
from bbfalsify.chains.storm import ask_storm, storm_is_installed
from bbfalsify.examples.chains import CHAINS, chain_file
from bbfalsify.modelling import load_model, parse_network


@cache
def chain(name: str) -> Chain:
    return explore_chain(load_model(chain_file(name))[0])


def value(name: str, query: str) -> float:
    answer = answer_csl(chain(name), query)
    assert answer.value is not None
    assert answer.low <= answer.value <= answer.high
    assert answer.high - answer.low <= 1e-9 * max(1.0, abs(answer.value))
    return answer.value


@pytest.mark.parametrize(
    ("name", "query", "expected"),
    [
        ("hubble", "S=? [ !(sleep | crash) ]", 0.0),
        ("hubble", "P=? [ F[5,5] !(sleep | crash) ]", 0.986501608387),
        ("hubble", "P=? [ F[5,5] (!sleep & P>0 [ X sleep ]) ]", 8.32330953766e-4),
        ("hubble", "P=? [ !sleep U[0,2.7] sleep ]", 0.0306236233780),
        ("hubble", "P=? [ F[0,4] left != 6 ]", 1 - math.exp(-2.4)),
        ("hubble", "P=? [ F<=10 crash ]", 3.61319552334e-4),
        ("hubble", "P=? [ F[5,5] sleep ]", 0.0134163207611),
        ("hubble", "P=? [ F[5,5] crash ]", 8.20708519e-5),
        ("hubble", "T=? [ F crash ]", 17204.3877371),
        ("hubble", "T=? [ F (sleep | crash) ]", 9.50999998006),
        ("hubble", "P=? [ !sleep U crash ]", 1.99401397006e-6),
        ("hubble", "R{cost}=? [ F crash ]", 1777.93869788),
        ("hubble", "R{sleep || crash ? 0 : 1}=? [ C<=10 ]", 9.88918633593),
        ("gambler", "P=? [ F[2,2] Gambler.Absent ]", 25 / 36),
        ("gambler", "P=? [ F[10,10] Gambler.Absent ]", 0.161505583),
        ("gambler", "T=? [ F Gambler.Home ]", 6.0),
        ("gambler", "S=? [ Gambler.Absent ]", 0.0),
        ("gambler-in-time", "T=? [ F Gambler.Home ]", 5.484814948),
        ("gambler-in-time", "P=? [ F<=1/60 Gambler.Home ]", 1 - (5 / 6) ** (1 / 60)),
        ("typist", "P=? [ F<=5 Typist.Open ]", 0.239501729),
        ("typist", "P=? [ F<=10 Typist.Open ]", 0.490728869),
        ("typist", "P=? [ F<=20 Typist.Open ]", 0.771984610),
        ("typist", "T=? [ F Typist.Open ]", 14.0),
        ("queue", "P=? [ F<=100 waiting == room ]", 0.0452070949),
        ("queue", "S=? [ waiting == room ]", 1 / 2047),
        ("erlang", "P=? [ F<=3 Timer.Done ]", 0.848796117),
    ],
)
def test_figures(name: str, query: str, expected: float):
    assert value(name, query) == pytest.approx(expected, rel=2e-9, abs=1e-12)


def test_the_telescope_has_85_states_lumped_to_nine():
    small = reduced(chain("hubble"), np.zeros(chain("hubble").states, bool))
    assert (len(small.kept), small.rates.nnz) == (85, 270)
    assert lump(chain("hubble"), ["sleep", "crash"]).states == 9


def test_the_telescope_by_a_matrix_written_by_hand():
    names = ["6", "5", "4", "3", "2", "1", "s2", "s1", "crash"]
    lam, mu, nu = 0.1, 100.0, 6.0
    arrows = {("6", "5"): 6 * lam, ("5", "4"): 5 * lam, ("4", "3"): 4 * lam, ("3", "2"): 3 * lam, ("2", "1"): 2 * lam,
              ("1", "crash"): lam, ("2", "s2"): mu, ("1", "s1"): mu, ("s2", "s1"): 2 * lam, ("s1", "crash"): lam,
              ("s2", "6"): nu, ("s1", "6"): nu}  # fmt: skip
    q = np.zeros((9, 9))
    for (source, target), rate in arrows.items():
        q[names.index(source), names.index(target)] = rate
    q -= np.diag(q.sum(axis=1))
    after = expm(10 * q)[0]
    assert value("hubble", "P=? [ F[10,10] crash ]") == pytest.approx(after[8], rel=1e-9)
    assert value("hubble", "P=? [ F[10,10] sleep ]") == pytest.approx(after[6] + after[7], rel=1e-9)


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        ("P>=0.95 [ F[5,5] !(sleep | crash) ]", True),
        ("P<=1e-6 [ F[5,5] (!sleep & P>0 [ X sleep ]) ]", False),
        ("P<0.1 [ !sleep U[0,2.7] sleep ]", True),
        ("P[0.3,0.7] ( F[0,4] left != 6 )", False),
        ("P<=0.01 [ F<=10 crash ]", True),
        ("P<=0.01 [ F<=10 crash ] & !P>0.5 [ F<=1 crash ]", True),
        ("S>0 [ !(sleep | crash) ]", False),
    ],
)
def test_verdicts_of_the_paper(query: str, verdict: bool):
    assert answer_csl(chain("hubble"), query).verdict is verdict


def test_a_bound_inside_the_numerical_error_is_undecided():
    exact = value("hubble", "P=? [ F<=10 crash ]")
    assert answer_csl(chain("hubble"), f"P<={exact!r} [ F<=10 crash ]").verdict is None
    assert answer_csl(chain("hubble"), f"P<={exact * (1 + 1e-9)!r} [ F<=10 crash ]").verdict is True


def test_repair_in_three_phases():
    text = chain_file("hubble").read_text().replace("exponential_rate: nu", 'exponential_rate: "erlang(3, 18)"')
    phased = explore_chain(parse_network(text))
    assert answer_csl(phased, "P=? [ F[5,5] !(sleep | crash) ]").value == pytest.approx(0.986361839, rel=2e-9)
    assert answer_csl(phased, "P=? [ F<=10 crash ]").value == pytest.approx(2.591153508e-4, rel=2e-9)


def test_constants_are_set():
    network, _ = load_model(chain_file("hubble"), {"nu": 3, "N": 5})
    assert len(explore_chain(network).integers) < chain("hubble").states


def test_derivatives_are_those_of_the_closed_form():
    """P(Erlang(k, r) <= t) has the derivative t · (rt)^(k-1) e^(-rt) / (k-1)! by r."""
    [found] = derivatives(load_model(chain_file("erlang"))[0], "P=? [ F<=3 Timer.Done ]")
    assert found.parameter == "rate of Timer.Waiting"
    assert found.value == pytest.approx(3 * 6**3 * math.exp(-6) / 6, rel=1e-8)
    assert abs(found.value - 3 * 6**3 * math.exp(-6) / 6) <= found.error + 1e-9


def test_the_repair_rate_decides_most():
    names = [d.parameter for d in derivatives(load_model(chain_file("hubble"))[0], "P=? [ F<=10 crash ]")]
    assert names[0] == "rate of Base.Launching" and names[-1] == "rate of Controller.Tired" and len(names) == 8


def test_prism_text_names_labels_and_fractions():
    text = to_prism(chain("hubble"), {"crash": "crash"})
    assert text.startswith("ctmc") and "1/10 : (s'=1)" in text and 'label "crash" = s=' in text
    assert to_prism(chain("gambler"), {}).startswith("dtmc")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "precision"),
    [
        ("P=? [ !sleep U[0,2.7] sleep ]", 1e-9),
        ("P=? [ F<=10 crash ]", 1e-9),
        ("R{cost}=? [ F crash ]", 2e-6),  # Storm solves linear equations to 1e-6
    ],
)
def test_storm_agrees(query: str, precision: float, capfd: pytest.CaptureFixture[str]):
    """Storm is an optional extra: `pip install '.[test,storm]'` before the slow tests."""
    assert storm_is_installed(), "pip install '.[storm]'"
    assert ask_storm(chain("hubble"), query) == pytest.approx(value("hubble", query), rel=precision, abs=1e-9)
    assert capfd.readouterr().out == ""


def test_every_example_answers_its_queries():
    for name in CHAINS:
        network, queries = load_model(chain_file(name))
        assert queries
        for query in queries:
            answer = answer_csl(explore_chain(network), query.text)
            assert answer.value is not None and math.isfinite(answer.value)


@pytest.mark.slow
def test_storm_decides_bounds_as_we_do():
    assert storm_is_installed(), "pip install '.[storm]'"
    assert ask_storm(chain("hubble"), "P<=1e-3 [ F<=10 crash ]") is True
    assert ask_storm(chain("hubble"), "P<=1e-4 [ F<=10 crash ]") is False


LATE = """format_version: 1
name: late
declarations: int n = 0;
automata:
  Trigger:
    initial: Waits
    locations: {Waits: {exponential_rate: 2}, Done: {}}
    edges: [{from: Waits, to: Done, update: n = 3}]
  Follower:
    initial: Idle
    locations: {Idle: {exponential_rate: n}, Reached: {}}
    edges: [{from: Idle, to: Reached}]
"""


def test_a_rate_of_0_waits_until_another_component_changes_it():
    """The sum of two exponential delays of rates 2 and 3."""
    found = answer_csl(explore_chain(parse_network(LATE)), "P=? [ F<=1 Follower.Reached ]")
    assert found.value == pytest.approx(1 - 3 * math.exp(-2) + 2 * math.exp(-3), abs=1e-9)
