"""The space of a profile's runs: choices, labels, values, and the search that a guide leads through it."""

from dataclasses import replace

import numpy as np
import pytest

from bbfalsify.core.choices import HIGHEST, Label, Space
from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, StopReason, Verdict
from bbfalsify.engines.falsification.engine import Progress, run
from bbfalsify.engines.falsification.guides.plain_guides import AcceleratorGuide, PlainGuide
from bbfalsify.engines.falsification.guides.portfolio import Portfolio
from bbfalsify.engines.falsification.guides.scores import Scores
from bbfalsify.engines.falsification.search.guided import MOST_CHOICES, GuidedRuns, open_guide
from bbfalsify.engines.falsification.search.search import FirstSearch, Search, WalkPlan
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import accelerated_walks, compile_network
from bbfalsify.modelling import parse_profile
from tests.unit.engines.test_falsification import Quiet

FIXED = """
format_version: 1
name: fixed
signals:
  throttle: {range: [0, 100], every: 5}
  brake: {range: [0, 1], pieces: 2, shape: linear}
parameters:
  mass: {uniform: [1, 2]}
  drag: 0.5
"""
MIXED = """
format_version: 1
name: mixed
declarations: |
  clock x;
  double level = 0.0;
automata:
  User:
    initial: Begin
    locations:
      Begin: {committed: true}
      S: {invariant: x <= 5}
    edges:
      - {from: Begin, to: S, action: begin, update: "level = random(10.0)"}
      - {from: S, to: S, action: on, guard: x >= 4, update: "x = 0, level = random_normal(1.0, 2.0)"}
      - {from: S, to: S, action: off, guard: x >= 4, update: x = 0}
inputs:
  heat: {actions: {on: 1, off: 0}, initial: 0}
  flow: {value: level}
signals:
  throttle: {range: [0, 100], every: 10}
"""


def space_of(text, duration=20.0, period=1.0):
    profile = parse_profile(text)
    return ProfileSpace(Usage(profile, compile_network(profile.network), duration, period))


def test_a_space_of_signals_is_fixed_and_parameters_come_first():
    space = space_of(FIXED)
    assert isinstance(space, Space) and space.fixed
    names = [("parameter", "mass", 0), *(("value", "throttle", k) for k in range(4))]
    names += [("value", "brake", k) for k in range(3)]
    assert space.labels == tuple(Label(*name) for name in names)
    assert space.play([], 1).labels == space.labels


@pytest.mark.parametrize("text", [FIXED, MIXED])
def test_a_run_is_repeated_by_its_own_quantiles(text):
    space = space_of(text)
    played = space.run([0.97, 0.5], 11)
    assert played.choices.quantiles[:2].tolist() == [0.97, 0.5]
    again = space.run(played.choices.quantiles, 99)
    assert again.choices == played.choices
    one, other = (space.usage.stimulus(p.walk) for p in (played, again))
    assert np.array_equal(one.times, other.times) and one.events == other.events
    assert one.parameters == other.parameters
    assert all(np.array_equal(one.inputs[name], other.inputs[name]) for name in one.inputs)


@pytest.mark.parametrize("text", [FIXED, MIXED])
def test_missing_choices_depend_on_the_seed_and_the_run_so_far(text):
    space = space_of(text)
    whole = space.play([], 5)
    for count in (1, 3, len(whole) - 1, len(whole) + 4):
        given = np.append(whole.quantiles, np.zeros(4))[:count]
        assert space.play(given, 5) == whole
    assert space.play([], 6) != whole


def test_labels_name_what_automata_draw():
    labels = [str(label) for label in space_of(MIXED).play([], 3).labels]
    assert labels[:2] == ["value throttle 0", "value throttle 1"]
    assert "initial level 0" in labels and "delay User 0" in labels and "edge User 0" in labels
    assert "value level 0" in labels or "value level 1" not in labels


def test_values_of_a_run_as_people_read_them():
    space = space_of(FIXED)
    played = space.run([0.0, 0.972, 0.88, 0.0, HIGHEST, 0.0, 0.5, 1.0], 1)
    read = [(d.name, d.time, round(d.value, 6)) for d in space.drawn_values(played.walk, 20.0)]
    assert read[:4] == [("drag", None, 0.5), ("mass", None, 1.0), ("throttle", 0.0, 97.2), ("throttle", 5.0, 88.0)]
    assert read[5] == ("throttle", 15.0, 100.0)
    stimulus = space.usage.stimulus(played.walk)
    assert stimulus.parameters == {"drag": 0.5, "mass": 1.0}
    assert stimulus.inputs["throttle"][stimulus.times == 5.0] == pytest.approx(88.0)
    assert stimulus.inputs["brake"][stimulus.times == 5.0] == pytest.approx(0.25)


def test_drawn_variables_are_read_from_the_walk():
    space = space_of(MIXED)
    played = space.run([], 3)
    drawn = [d for d in space.drawn_values(played.walk, 20.0) if d.name == "level"]
    assert drawn[0].time == 0.0 and 0 <= drawn[0].value < 10
    stimulus = space.usage.stimulus(played.walk)
    for value in drawn:
        assert stimulus.inputs["flow"][stimulus.times == value.time] == value.value
    assert len(drawn) == 1 + sum(action == "on" for _, action in stimulus.events)


def test_a_spline_stays_within_its_values():
    space = space_of("format_version: 1\nname: s\nsignals: {a: {range: [0, 1], every: 5, shape: spline}}")
    stimulus = space.usage.stimulus(space.run([0.0, 1.0, 1.0, 0.0, 1.0], 1).walk)
    values = stimulus.inputs["a"]
    assert values.min() == 0.0 and values.max() == pytest.approx(1.0)
    assert np.all(values[(stimulus.times >= 5) & (stimulus.times <= 10)] == pytest.approx(1.0))


# ---------------------------------------------------------------------- the search


def judged(value):
    verdict = Verdict.VIOLATED if value < 0 else Verdict.SATISFIED
    return Answer(SimulationStatus.OK, (Judgement(verdict, value, 1.0 if value < 0 else np.inf),))


def test_scores_below_zero_are_violations_and_nothing_else():
    equality = Judgement(Verdict.VIOLATED, 0.0, 1.0)
    answers = [
        judged(-2.0),
        judged(3.0),
        Answer(SimulationStatus.OK, (equality,)),
        Answer(SimulationStatus.OK, (Judgement(Verdict.SATISFIED, np.nan),)),
        Answer(SimulationStatus.DIED),
    ]
    scores = Scores()(answers, 1)[:, 0]
    assert scores[:2].tolist() == [-2.0, 3.0] and scores[2] < 0 and scores[3:].tolist() == [np.inf, np.inf]


class Listing:
    def __init__(self):
        self.findings = []

    def found(self, finding):
        self.findings.append(finding)

    def advanced(self, search, masses):
        pass


class Recorder(PlainGuide):
    """A guide that remembers what it was told, and proposes the first quantile in steps."""

    def __init__(self):
        self.told, self.asked = [], 0

    def ask(self, count):
        first, self.asked = self.asked, self.asked + count
        return [np.array([0.0, (first + k) / 16]) for k in range(count)]

    def tell(self, sequences, scores):
        self.told += [(s.quantiles[1], float(row[0])) for s, row in zip(sequences, scores, strict=True)]


def search_with(guide, space, *, simulations=50, batch=4, wanted=10):
    search, listing = Search(), Listing()

    def ask(queries):
        return [judged(60.0 - float(q.stimulus.inputs["throttle"][0])) for q in queries]

    plan = WalkPlan(wanted, simulations, batch)
    source = GuidedRuns(ask, space.usage, search, plan, space, guide, SeedTree(1))
    first = FirstSearch(space.usage, search, plan, source, listing)
    first.begin(requirements=1)
    first.go_on()
    return search, listing


def test_the_guide_is_told_what_was_really_made_and_the_search_ends_with_the_only_key():
    guide, space = Recorder(), space_of(FIXED)
    search, listing = search_with(guide, space)
    assert guide.told[:3] == [(0.0, 60.0), (0.0625, 53.75), (0.125, 47.5)]
    assert search.stopped is StopReason.COMPLETED and search.iterations == 12
    [finding] = listing.findings
    assert finding.iteration == 11 and finding.choices.quantiles[1] == 0.625


def test_a_guide_that_finds_nothing_ends_with_the_budget_and_one_without_ideas_by_itself():
    search, _ = search_with(PlainGuide(None, 1, SeedTree(0)), space_of(FIXED.replace("100", "50")), simulations=7)
    assert (search.stopped, search.iterations) == (StopReason.BUDGET_SIMULATIONS, 4)
    silent = PlainGuide(None, 1, SeedTree(0))
    silent.ask = lambda count: []
    search, _ = search_with(silent, space_of(FIXED))
    assert (search.stopped, search.iterations) == (StopReason.COMPLETED, 0)


def test_mixed_profiles_are_searched_for_distinct_keys():
    search, listing = search_with(PlainGuide(None, 1, SeedTree(0)), space_of(MIXED), wanted=2, simulations=400)
    keys = [f.actions for f in listing.findings]
    assert len(keys) == len(set(keys)) == 2 and search.stopped is StopReason.COMPLETED


def test_the_accelerator_takes_ends_mostly():
    guide = AcceleratorGuide(space_of(FIXED), 1, SeedTree(3))
    proposals = np.array(guide.ask(110))
    assert proposals.shape == (110, 8)
    at_ends = (proposals == 0.0) | (proposals == HIGHEST)
    assert np.all(at_ends[np.arange(110) % 11 != 10]) and not np.all(at_ends[10::11])


def test_a_guide_that_cannot_manage_many_choices_is_replaced_and_that_is_said(monkeypatch):
    space = space_of(f"format_version: 1\nname: s\nsignals: {{a: {{range: [0, 1], pieces: {MOST_CHOICES + 1}}}}}")
    monkeypatch.delattr(PlainGuide, "any_length")
    search = Search()
    assert isinstance(open_guide("none", space, search, 1, SeedTree(0)), AcceleratorGuide)
    assert "more than the guide 'none' manages (10000): 'accelerator' took over" in search.notes[0]


def test_outlier_guiding_needs_actions():
    search = Search()
    assert isinstance(open_guide("outlier", space_of(FIXED), search, 1, SeedTree(0)), Portfolio)
    assert search.notes == [
        "the guide 'outlier' prefers actions after which a run came close, and this profile has no actions: "
        "'portfolio' took over"
    ]


def test_a_search_for_probable_words_takes_proposals_of_a_guide_too(monkeypatch):
    """Mixed profiles: the guide is asked in every round, and what it finds is listed with its choices."""
    asked = []

    class Watched(PlainGuide):
        def ask(self, count):
            asked.append(count)
            return [np.array([0.625])] * count

    monkeypatch.setattr("bbfalsify.engines.falsification.search.guided.guide_factory", lambda name: Watched)
    progress, usage = Progress(), space_of(MIXED).usage

    def ask(queries):
        return [judged(abs(62.5 - float(q.stimulus.inputs["throttle"][0])) - 0.001) for q in queries]

    options = Options(simulations=300, counterexamples=2, guide="none", proposals=5, passes=0, patience=50)
    run(ask, usage, progress, options, requirements=1, seeds=SeedTree(1), listener=Quiet())
    assert asked and set(asked) <= {1, 2, 3, 4, 5}
    assert {f.actions for f in progress.search.findings} == {("begin", "on"), ("begin", "off")}
    assert all(f.choices is not None and f.choices.quantiles[0] == 0.625 for f in progress.search.findings)


# --- from a walk to its choices ---------------------------------------------------------------------------------------


def test_an_accelerated_walk_is_played_by_its_choices():
    space = space_of(MIXED)
    walks = accelerated_walks(space.usage.model, np.arange(22, dtype=np.uint64), np.arange(22) % 11, 20.0, 100)
    for number in range(22):
        walk = replace(walks.walk(number), values=np.array([0.25, HIGHEST]))
        played = space.played(walk)
        assert played.begins_with(walk)
        assert played.choices.quantiles[:2].tolist() == [0.25, HIGHEST]
        again, first = space.usage.stimulus(played.walk), space.usage.stimulus(walk)
        assert [action for _, action in again.events] == [action for _, action in first.events]
        for name in first.inputs:
            assert np.allclose(again.inputs[name], first.inputs[name], rtol=1e-9, atol=1e-9)
        assert space.repeated(played.choices).walk.times.tolist() == played.walk.times.tolist()


def test_a_walk_that_ends_early_is_the_beginning_of_its_run():
    space = space_of(MIXED)
    walk = space.run(np.full(60, 0.3), 1).walk.prefix(3)
    played = space.played(walk)
    assert played.begins_with(walk) and played.walk.steps > 3


def test_a_walk_without_its_signals_has_no_choices():
    space = space_of(MIXED)
    assert space.played(replace(space.run((), 1).walk, values=None)) is None
