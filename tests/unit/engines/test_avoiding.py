"""Passing uses near violating ones: one delay, action or value is changed, by few simulations."""

from pathlib import Path

import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.modes.avoiding import Avoiding
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.sampling import everyday_walks
from bbfalsify.engines.falsification.modes.use import use_of
from bbfalsify.engines.falsification.usage import Usage, WalkDraft
from bbfalsify.kernel import compile_network
from bbfalsify.modelling import load_profile
from tests.heater import profile


class WalksOnly(Usage):
    """Queries carry walks, which the judges of the tests read."""

    def draft(self, walk, *, stop=None):
        return WalkDraft(self, walk, stop)


USAGE = WalksOnly(profile(), compile_network(profile().network), 20.0, 0.1)


def avoided(judge, word, *, budget=60):
    """Look for passing uses near a violating one; `judge` reads (actions, times).  Return the text and the use."""
    own, asked = None, []
    for walk in everyday_walks(USAGE, SeedTree(1), 4_000):
        actions = walk.actions(USAGE.model)
        if actions[: len(word)] == word and judge(actions, walk.times):
            own = walk
            break

    def ask(queries):
        answers = []
        for query in queries:
            asked.append(query)
            walk = query.source.walk
            verdict = Verdict.VIOLATED if judge(walk.actions(USAGE.model), walk.times) else Verdict.SATISFIED
            answers.append(Answer(SimulationStatus.OK, (Judgement(verdict, 0.0, 5.0),)))
        return answers

    use = use_of(USAGE, own, float(own.times[max(0, len(word) - 1)]) + 0.1)
    pattern = Pattern(word[:1])
    found = Avoiding(ask, USAGE, 0, {}, SeedTree(2)).of([pattern], [use], budget)
    assert len(asked) <= budget
    return found.get(pattern), own


def test_the_nearest_passing_use_waits_a_little_longer():
    """Violated where the second action comes less than 4.5 after the first: a delay is moved just beyond that."""

    def early(actions, times):
        return float(times[1] - times[0]) < 4.5

    said, walk = avoided(early, ("on", "on"))
    needed = 4.5 - float(walk.times[1] - walk.times[0])
    assert said.startswith("a use passes that waits ") and said.endswith(" longer before the second on")
    assert float(said.split()[5]) == pytest.approx(needed, abs=0.06)


def test_the_nearest_passing_use_does_another_action():
    """Violated where two of the first three actions are "on", however late: delays do not help."""

    def switched(actions, times):
        return actions[:3].count("on") >= 2

    said, _ = avoided(switched, ("on", "on", "off"))
    assert said in ("a use passes that does off instead of the second on", "a use passes that leaves out the second on")


def test_an_action_after_the_violation_is_not_changed():
    """Violated by a second action that comes early: what comes instead at its moment, or a third, avoids nothing."""

    def early(actions, times):
        return float(times[1] - times[0]) < 4.5

    for first in ("on", "off"):
        said, _ = avoided(early, (first, "on"))
        assert said.startswith("a use passes that waits ")


def test_nothing_is_said_where_no_change_helps_or_too_few_simulations_are_there():
    always = lambda actions, times: True  # noqa: E731
    assert avoided(always, ("on", "on"))[0] is None
    early = lambda actions, times: float(times[1] - times[0]) < 4.5  # noqa: E731
    assert avoided(early, ("on", "on"), budget=5)[0] is None


def test_nothing_is_said_where_numbers_drawn_again_decide():
    """Here the use as it is passes when it is made again: whatever is changed besides explains nothing."""
    seen = []

    def moody(actions, times):
        seen.append(actions)
        return len(seen) <= 1  # found violating, passing ever after

    assert avoided(moody, ())[0] is None


def test_a_delay_that_cannot_be_changed_is_not_named():
    """The driver changes the throttle every 5 s exactly, and draws its level: waiting is no way to avoid anything."""
    driver = load_profile(Path(__file__).parents[3] / "profiles" / "throttle_and_brake.yaml")
    usage = WalksOnly(driver, compile_network(driver.network), 20.0, 0.1)
    walk = next(iter(everyday_walks(usage, SeedTree(1), 1)))
    seeker = Avoiding(None, usage, 0, {}, SeedTree(2))
    use = use_of(usage, walk, 12.0)
    start = seeker._start(use)
    delays = [change for change in seeker._changes(start, use.until_violation) if change.kind == "delay"]
    assert delays and all(seeker._changed(start, change) is None for change in delays)
