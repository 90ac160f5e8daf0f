"""The paper's equations D.6, D.8 and D.9: the formulas on given particles, and every particle judged."""

import numpy as np
import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.estimates import columns
from bbfalsify.engines.falsification.estimates.columns import Counts
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, estimate_word
from bbfalsify.engines.falsification.estimates.genealogy import Genealogy, Split
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Particles, StepResult, compile_network
from bbfalsify.modelling import parse_profile

NAMED = {"method": "m", "confidence": 0.95}


def family(*parents):
    """A genealogy in which particle j of level k descends from parents[k - 1][j]."""

    def particles(count):
        return Particles(
            np.zeros((count, 1), np.int32), np.zeros((count, 0), np.int64), np.zeros((count, 0)), np.zeros(count),
            np.zeros((count, 4), np.uint64),
        )  # fmt: skip

    made = Genealogy(particles(1))
    for rows in parents:
        count = len(rows)
        none = np.zeros(count, np.int32)
        step = StepResult(particles(count), none, np.zeros(count), none, none, {}, none)
        made.append(np.array(rows), step, np.arange(count))
    return made


# Level 1: 4 particles, of which 1 and 3 die; level 2: 5, of which 2 (a child of 0) and 4 die; level 3: 4 traces.
FAMILY = family([0, 0, 0, 0], [0, 0, 0, 2, 2], [0, 0, 1, 3])
# First violated in: level 1: particles 2 and 3 in step 1; level 2: particle 1 in step 2, those below 2 inherit step 1.
STEPS = [np.array([0, 0, 1, 1]), np.array([0, 2, 0, 1, 1]), np.array([0, 3, 2, 1])]
CYLINDERS = (0.5, 0.4, 0.2)


def test_counts_of_a_pass():
    counted = columns.count(Split(CYLINDERS, FAMILY), STEPS, everybody=True)
    assert counted.particles == (4, 5, 4) and counted.traces == 4
    assert counted.violating == (1, 1, 1)
    assert counted.ancestors == (2, 3, 4)
    assert counted.violating_ancestors == (1, 1, 1)
    assert counted.violating_particles == (2, 1, 1)
    # Level 1: four founders; level 2: families of 3 and 2; level 3: of 3 and 1.
    assert counted.families == pytest.approx((4, 25 / 13, 16 / 10))


def test_the_equations_on_two_passes():
    counted = columns.count(Split(CYLINDERS, FAMILY), STEPS, everybody=True)
    lost = columns.count(Split((0.25, 0.0, 0.0), family([0, 0])), [np.array([1, 0])], everybody=True)
    assert lost.traces == 0 and lost.violating_particles == (1, 0, 0) and lost.families == (2, 0, 0)
    both = [counted, lost]
    # A lost pass counts as 0 for D.6 and D.9, but its first level is evidence for D.8.
    assert columns.last_step(both).values == pytest.approx([0.2 * 1 / 4, 0])
    assert columns.d6(both, **NAMED).value == pytest.approx(0.2 * 3 / 4 / 2)
    assert columns.d8(both, **NAMED).value == pytest.approx((0.5 * 2 / 4 + 0.4 * 1 / 5 + 0.2 * 1 / 4 + 0.25 / 2) / 2)
    readings = {name: e.value for name, e in columns.d9(both, **NAMED).items()}
    assert readings == {
        "d9_set": pytest.approx((0.5 * 1 / 4 + 0.4 * 1 / 5 + 0.2 * 1 / 4) / 2),
        "d9_multiset": pytest.approx((0.5 * 1 / 4 + 0.4 * 1 / 5 + 0.2 * 1 / 4) / 2),
        "d9_traces": pytest.approx((0.5 * 1 / 4 + 0.4 * 1 / 4 + 0.2 * 1 / 4) / 2),
    }


def test_readings_of_d9_differ_where_violating_traces_share_an_ancestor():
    steps = [np.array([1, 0, 0, 0]), np.array([1, 1, 1, 0, 0]), np.array([1, 1, 1, 0])]
    counted = columns.count(Split(CYLINDERS, FAMILY), steps, everybody=False)
    readings = {name: e.value for name, e in columns.d9([counted] * 2, **NAMED).items()}
    assert readings == pytest.approx({"d9_set": 0.5 * 1 / 4, "d9_multiset": 0.5 * 3 / 4, "d9_traces": 0.5 * 3 / 4})


def test_example_6_1():
    """100 traces along on on on off on; 9 are violated, all in step 4: 23/100 · 27/100 · 25/100 · 77/100 · 9/100."""
    fractions = (0.23, 0.27, 0.25, 0.77, 1.0)
    counted = Counts(
        cylinders=tuple(np.cumprod(fractions)),
        particles=(23, 27, 25, 77, 100),
        traces=100,
        violating=(0, 0, 0, 9, 0),
        ancestors=(23, 27, 25, 77, 100),
        violating_ancestors=(0, 0, 0, 9, 0),
        families=(23.0, 27.0, 25.0, 77.0, 100.0),
    )
    found = columns.d9([counted] * 2, **NAMED)["d9_traces"]
    assert found.value == pytest.approx(0.23 * 0.27 * 0.25 * 0.77 * 0.09) and round(found.value, 3) == 0.001
    assert "divided by |Γ|" in found.method


SHORT_LIVED = """
format_version: 1
name: short_lived
automata:
  User:
    declarations: "clock x, y;"
    initial: A
    locations:
      A: {invariant: "x <= 1"}
      B: {invariant: "x <= 1"}
      C: {invariant: "x <= 1"}
    edges:
      - {from: A, to: B, action: start, update: "x = 0"}
      - {from: B, to: C, action: go, guard: "y <= 1", update: "x = 0", weight: 1000}
      - {from: B, to: C, action: stay, update: "x = 0"}
      - {from: C, to: C, action: rest, update: "x = 0"}
inputs:
  u: {actions: {start: 1, go: 2, stay: 0, rest: 0}, initial: 0}
"""
"""Who starts late (y large) hardly ever goes: after y = 1 only staying is possible."""


def late_starts_violate(queries):
    """Violated when the start comes after 0.9: in step 1, with probability 0.1."""
    answers = []
    for query in queries:
        start = query.stimulus.events[0][0] if query.stimulus.events else query.stimulus.duration
        late = start > 0.9
        judgement = Judgement(Verdict.VIOLATED if late else Verdict.SATISFIED, -1.0 if late else 1.0, 0.9)
        answers.append(Answer(SimulationStatus.OK, (judgement,)))
    return answers


def noting(answer):
    """The same answers, and the list of all queries asked."""
    asked = []

    def ask(queries):
        asked.extend(queries)
        return answer(queries)

    return ask, asked


@pytest.mark.parametrize("estimator", ["conditional", "splitting"])
def test_d8_judges_particles_before_they_are_killed(estimator):
    """Null hypothesis: D.8 of start·go is 0.1, the probability of starting late.

    40 passes of 100 independent particles in level 1 (Algorithm 5 keeps every start): standard error 0.0047, ±4.5 of
    it, false alarm 7e-6.  Judging only the ancestors of those who go gives less than 0.02 and is always caught.
    """
    profile = parse_profile(SHORT_LIVED)
    usage = Usage(profile, compile_network(profile.network), 10.0, 1.0)
    ask, asked = noting(late_starts_violate)
    found = estimate_word(ask, usage, ("start", "go"), PassPlan(40, 100, estimator, columns=("d8",)), SeedTree(5))
    d8 = found.columns["d8"]
    assert abs(d8.value - 0.1) <= 4.5 * np.sqrt(0.09 / 4000) and d8.low <= 0.1 <= d8.high
    assert found.columns["d6"].value < 0.02
    # One use per trace, one short use per particle that was killed: those stop with the step they reached.
    killed = [q for q in asked if "/killed/1/" in q.name]
    assert killed and all(len(q.stimulus.events) == 1 for q in killed)
    assert len({q.name for q in asked}) == len(asked)


def test_d8_costs_nothing_where_nothing_is_resampled():
    text = SHORT_LIVED.replace('guard: "y <= 1", ', "")
    profile = parse_profile(text)
    usage = Usage(profile, compile_network(profile.network), 10.0, 1.0)
    ask, asked = noting(late_starts_violate)
    found = estimate_word(ask, usage, ("start", "go"), PassPlan(2, 50, columns=("d8",)), SeedTree(5))
    assert len(asked) == 100 and set(found.columns) == {"d6", "d8"}
    asked.clear()
    found = estimate_word(ask, usage, ("start", "go"), PassPlan(2, 50, columns=("d9",)), SeedTree(5))
    assert set(found.columns) == {"d6", "d9_set", "d9_multiset", "d9_traces"}
    assert sum("/d9/" in q.name for q in asked) > 0


def test_failures_that_count_as_violations_are_located_in_their_step():
    """Where nobody sees when a use fails, the step is found by cutting the use: here it fails from time 1.5 on."""
    profile = parse_profile(SHORT_LIVED.replace('guard: "y <= 1", ', ""))
    usage = Usage(profile, compile_network(profile.network), 10.0, 1.0)
    cuts = []

    def ask(queries):
        cuts.extend(q.name for q in queries if "/cut/" in q.name)
        answers = []
        for query in queries:
            end = query.stimulus.duration
            failed = end >= 1.5
            judgement = Judgement(
                Verdict.VIOLATED if failed else Verdict.SATISFIED, -1.0 if failed else 1.0, end if failed else np.inf
            )
            answers.append(Answer(SimulationStatus.DIED if failed else SimulationStatus.OK, (judgement,)))
        return answers

    word = ("start", "go", "rest", "rest", "rest")
    found = estimate_word(ask, usage, word, PassPlan(2, 100, columns=("d8",)), SeedTree(1))
    # Time 1.5 is passed in the second to fifth step; nobody starts that late, so the parts add up to those who pass it.
    assert cuts and found.columns["d6"].value == pytest.approx(found.cylinder.value, rel=0.2)
    assert found.probability.value < found.columns["d6"].value
    assert found.columns["d8"].value == pytest.approx(found.columns["d6"].value)  # after go everything is certain
