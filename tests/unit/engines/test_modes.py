"""Failure modes: patterns, how they are learned, and what they are called."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.estimates.evidence import Evidence
from bbfalsify.engines.falsification.modes.conditions import Sample, precision
from bbfalsify.engines.falsification.modes.learning import learn
from bbfalsify.engines.falsification.modes.pattern import Condition, Free, Gap, Level, Pattern, Window, Without
from bbfalsify.engines.falsification.modes.use import Series, Use
from bbfalsify.engines.falsification.modes.wording import names_of, sentence_of
from bbfalsify.kernel import Walk, WalkStatus


def use(*steps, violated_at=math.inf, **values):
    """steps: (time, action)"""
    times, actions = ([t for t, _ in steps], tuple(a for _, a in steps)) if steps else ([], ())
    series = {name: Series(np.array(at), np.array(levels)) for name, (at, levels) in values.items()}
    return Use(actions, np.array(times, float), series, violated_at)


def word(actions):
    return use(*((float(k), action) for k, action in enumerate(actions)))


def test_places_of_a_core_come_latest_first():
    assert list(Pattern(("a", "b")).places(word("aabb"))) == [(1, 3), (0, 3), (1, 2), (0, 2)]
    assert list(Pattern(("b", "a")).places(word("aabb"))) == []
    assert list(Pattern(()).places(word("ab"))) == [()]


@pytest.mark.parametrize(("actions", "places"), [("aba", []), ("abaa", [(2, 3)]), ("baab", [(1, 2)]), ("ab", [])])
def test_an_action_that_must_not_come_in_between(actions, places):
    pattern = Pattern(("a", "a"), (Condition(Without("b"), high=0.0),))
    assert list(pattern.places(word(actions))) == places
    assert pattern.matches(word(actions)) is bool(places)


def test_matching_looks_at_all_places_in_little_time():
    """500 actions have 10^9 places for a core of four; none has the delay that the condition asks for."""
    pattern = Pattern(("a",) * 4, (Condition(Gap(1), low=600.0),))
    assert not pattern.matches(word("a" * 500))


@pytest.mark.parametrize(
    ("high", "matches"),
    [(90.0, True), (49.0, False)],
)
def test_a_pattern_matches_wherever_its_conditions_hold(high, matches):
    """The second and third shower are 50 apart; the first and the third are not."""
    pattern = Pattern(("shower", "shower"), (Condition(Gap(1), high=high),))
    assert pattern.matches(use((0, "shower"), (200, "shower"), (210, "wash"), (250, "shower"))) is matches


@pytest.mark.parametrize(
    ("made", "matches"),
    [
        (use((1, "on"), (9, "off")), False),
        (use((1, "on"), (12, "off")), True),
        (use((1, "on"), (5, "off"), (6, "on"), (20, "off")), True),
        (use((1, "on"), (12, "off"), violated_at=11.5), True),
        (use((1, "on"), (12, "off"), violated_at=10.5), False),  # whatever came after it
        (replace(use((1, "on")), end=10.0), False),  # nobody knows
        (replace(use((1, "on")), end=20.0), True),
    ],
)
def test_a_time_without_another_action(made, matches):
    pattern = Pattern(("on",), (Condition(Free("off", 0), low=10.0),))
    assert pattern.matches(made) is matches
    assert sentence_of(pattern, {}) == "on, no off for 10"


def test_a_pattern_keeps_the_action_whose_time_it_limits():
    pattern = Pattern(("a", "b", "b"), (Condition(Free("off", 1), low=3.0),))
    assert pattern.without(1) is None
    assert pattern.without(0) == Pattern(("b", "b"), (Condition(Free("off", 0), low=3.0),))


def test_a_switch_that_comes_too_late_is_learned():
    """It fails 9.5 after it was opened; other actions come in between as they like."""
    rng = np.random.default_rng(4)
    bad, good = [], []
    for opened, closed in rng.uniform((0, 1), (5, 12), size=(600, 2)):
        other = float(opened + rng.uniform(0.1, 0.9))
        made = use((opened, "open"), (other, "look"), (opened + closed, "close"))
        fails = closed > 9.5
        (bad if fails else good).append(replace(made, violated_at=opened + 9.5 if fails else math.inf, end=30.0))
    [pattern] = learn(bad, good)
    assert sentence_of(pattern, {}) == "open, no close for 9.5"


def test_actions_after_the_violation_do_not_belong_to_a_mode():
    violating = use((1, "on"), (2, "on"), (3, "off"), violated_at=2.5)
    assert violating.word == ("on", "on")
    assert not Pattern(("off",)).matches(violating)
    assert use((1, "on"), (2, "on"), violated_at=2.0).word == ("on", "on")  # the action at its moment does


def test_conditions_on_values():
    fast = use((5, "go"), throttle=([0.0, 5.0, 10.0], [20.0, 95.0, 97.0]))
    assert Pattern(("go",), (Condition(Level("throttle", 0), low=90.0),)).matches(fast)
    assert Pattern((), (Condition(Window("throttle", 5.0, 12.0, "least"), low=95.0),)).matches(fast)
    assert not Pattern((), (Condition(Window("throttle", 0.0, 12.0, "least"), low=95.0),)).matches(fast)


def household(seed, violating):
    """Showers among other actions; two within 90 are too many, whatever stands between them."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(20, 120, size=8))
    actions = rng.choice(["shower", "wash", "cook"], size=8, p=[0.4, 0.3, 0.3])
    showers = times[actions == "shower"]
    soon = np.flatnonzero(np.diff(showers) <= 90)
    if bool(len(soon)) is not violating:
        return None
    at = float(showers[soon[0] + 1]) + 1.0 if violating else math.inf
    return Use(tuple(map(str, actions)), times, {}, at)


def uses(violating, count):
    made = (household(seed, violating) for seed in range(100 * count))
    return list(itertools.islice((u for u in made if u is not None), count))


def test_the_fault_of_a_household_is_learned():
    """Actions that do not matter are left out, and the limit between the showers is found."""
    [pattern] = learn(uses(True, 150), uses(False, 400))
    assert pattern.core == ("shower", "shower")
    [condition] = [c for c in pattern.conditions if c.feature == Gap(1)]
    assert condition.high == pytest.approx(90, abs=3)
    fresh = [household(seed, True) for seed in range(10_000, 10_400)]
    fresh = [u for u in fresh if u is not None]
    assert np.mean([pattern.matches(u) for u in fresh]) > 0.97


def test_two_faults_are_two_modes_and_the_special_one_comes_first():
    """Four presses nearly always fail, three seldom: the list asks for four first."""
    rng = np.random.default_rng(1)

    def presses(count, violated):
        times = np.cumsum(rng.uniform(1, 2, size=count))
        return Use(("press",) * count, times, {}, float(times[-1]) + 0.5 if violated else math.inf)

    bad = [presses(4, True) for _ in range(80)] + [presses(3, True) for _ in range(20)]
    good = [presses(4, False) for _ in range(10)] + [presses(3, False) for _ in range(200)]
    good += [presses(count, False) for count in (1, 2) for _ in range(50)]
    patterns = learn(bad, good)
    assert [p.core for p in patterns] == [("press",) * 4, ("press",) * 3]
    assert names_of(patterns) == ["press×4", "press×3"]


def test_a_mode_without_actions_is_a_condition_on_values():
    """A car that is too fast when the throttle is high in its first two pieces."""
    rng = np.random.default_rng(2)
    bad, good = [], []
    for levels in rng.uniform(0, 100, size=(4000, 3)):
        fails = levels[0] >= 80 and levels[1] >= 60
        made = Use(
            (), np.zeros(0), {"throttle": Series(np.array([0.0, 5.0, 10.0]), levels)}, 9.0 if fails else math.inf
        )
        (bad if fails else good).append(made)
    [pattern] = learn(bad, good)
    assert pattern.core == ()
    assert np.mean([pattern.matches(u) for u in bad]) > 0.95
    assert np.mean([pattern.matches(u) for u in good]) < 0.05
    assert "throttle ≥" in sentence_of(pattern, {"throttle": "%"})


def test_a_value_that_is_too_high_at_any_time_is_one_mode():
    """Each of four pieces may fail alone; they come down to one condition, which holds at some time."""
    rng = np.random.default_rng(3)
    bad, good = [], []
    for levels in rng.uniform(0, 10, size=(600, 4)):
        late = next((5.0 * k for k, level in enumerate(levels) if level >= 9), math.inf)
        made = Use((), np.zeros(0), {"u": Series(np.array([0.0, 5.0, 10.0, 15.0]), levels)}, late)
        (bad if made.violating else good).append(made)
    [pattern] = learn(bad, good)
    [condition] = pattern.conditions
    assert condition.low == pytest.approx(9, abs=0.1) and condition.feature.extreme == "greatest"
    assert sentence_of(pattern, {}) == f"u ≥ {condition.low:g} at some time"


def test_nothing_to_learn_gives_no_pattern():
    assert learn([], uses(False, 10)) == []


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        (Pattern(("on",) * 4), "on 4 times"),
        (Pattern(("on",) * 3, (Condition(Gap(0), high=5.0),)), "on 3 times, the first by 5"),
        (Pattern(("a", "b"), (Condition(Without("c"), high=0.0),)), "a, then b, without c in between"),
        (Pattern(("a", "b"), (Condition(Gap(1), high=90.0),)), "a, then b within 90"),
        (Pattern(("a", "b"), (Condition(Gap(1), low=4.0, high=5.5),)), "a, then b 4 to 5.5 later"),
        (Pattern(("a",), (Condition(Gap(0), low=3.0),)), "a at 3 or later"),
        (Pattern(("a",), (Condition(Level("T", 0), high=-28.0),)), "a with T ≤ -28 degC"),
        (Pattern((), (Condition(Window("v", 0.0, 14.0, "least"), low=93.0),)), "v ≥ 93 until 14"),
        (Pattern(("a", "a", "a", "b", "a", "a")), "a 3 times, then b, then a, then a"),
        (
            Pattern(("b", "a", "a", "a", "a"), (Condition(Gap(1), low=3.0),)),
            "b, then a after 3 or more, then a 3 more times",
        ),
        (Pattern(()), "any use: no short pattern found"),
    ],
)
def test_sentences(pattern, sentence):
    assert sentence_of(pattern, {"T": "degC"}) == sentence


def test_what_every_use_violates_is_any_use():
    assert sentence_of(Pattern(()), {}, 1.0) == "any use"


def test_names_do_not_change_with_limits_and_differ():
    first = Pattern(("a", "a", "b"), (Condition(Gap(1), high=90.0),))
    assert names_of([first, Pattern(("a", "a", "b")), Pattern(("b",))]) == ["a×2·b", "a×2·b (2)", "b"]


def test_a_use_that_violates_before_its_row_does_is_no_passing_one():
    """Along a row only violations in its last step count as such; others violate all the same."""
    held, violated = Judgement(Verdict.SATISFIED, 1.0), Judgement(Verdict.VIOLATED, -1.0, 2.0)
    answers = [Answer(SimulationStatus.OK, (j,)) for j in (violated, violated, held)]
    answers.append(Answer(SimulationStatus.DIED))
    none = np.zeros(0)
    walks = [Walk(WalkStatus.REACHED_END, none, none, none, none, none) for _ in answers]
    evidence = Evidence()
    evidence.add(walks, answers, [True, False, False, False], 0, 1)
    assert evidence.walks == [[walks[0]]] and evidence.passing == [walks[2]] and len(evidence.followers) == 4


def test_where_no_two_words_are_the_same_single_actions_tell_what_violations_share():
    """A valve that is open for 9.5 fails, among ten actions in any order: words of violating uses do not repeat."""
    rng = np.random.default_rng(4)
    bad, good = [], []
    for _ in range(600):
        names, times = rng.permutation([*"abcdefgh"]), np.sort(rng.uniform(0, 40, 8))
        opened, closed = rng.uniform(20, 25), rng.uniform(1, 12)
        word = sorted([*zip(times, names, strict=True), (opened, "open"), (opened + closed, "close")])
        moment = opened + 9.5 if closed > 9.5 else math.inf
        made = replace(use(*word), violated_at=moment, end=60.0)
        (good if math.isinf(moment) else bad).append(made)
    [pattern] = learn(bad, good)
    assert sentence_of(pattern, {}).startswith("open, no close for 9.5")


def test_if_every_use_violates_no_action_is_named():
    assert learn(uses(True, 50), []) == [Pattern(())]


def test_a_rare_action_before_a_failure_is_left_out_before_those_that_matter():
    """Three boosts fail.  Of guests, who are rare, a use with two boosts is known that passes, of others several."""
    bad = [use((1, "guest"), (2, "boost"), (3, "boost"), (4, "boost"), violated_at=4.0)] * 4
    good = [use((1, "guest"), (2, "boost"), (3, "boost"))] + [use((2, "boost"), (3, "boost"))] * 3
    good += [use((1, "guest"), (2, "shower"))] * 20 + [use((1, "shower"))] * 40
    assert [pattern.core for pattern in learn(bad, good)] == [("boost",) * 3]


def test_a_pattern_that_fails_as_often_as_any_use_says_nothing():
    """Violations depend on nothing that a use shows; "any use" is told in the place of what fits them by chance."""
    rng = np.random.default_rng(4)

    def drawn(violated):
        actions = tuple(rng.choice(["up", "down", "stop"], size=30))
        times = np.cumsum(rng.uniform(1, 2, size=30))
        return Use(actions, times, {}, 25.0 if violated else math.inf, 0.12 / 60 if violated else 0.88 / 440)

    bad, good = [drawn(True) for _ in range(60)], [drawn(False) for _ in range(440)]
    patterns = learn(bad, good)
    sample = Sample((), bad, good)
    assert patterns == [Pattern(())] or all(precision(pattern, sample) > 0.14 for pattern in patterns)
    assert learn(bad, []) == [Pattern(())]
