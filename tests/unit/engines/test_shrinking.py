"""Shrinking with a function in place of a driver: known cores, runs that the profile allows, budgets, delays."""

from dataclasses import replace

import numpy as np
import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.search.routes import Routes
from bbfalsify.engines.falsification.search.run_edits import LATEST, RunEditor, Step
from bbfalsify.engines.falsification.search.search import Run, Search
from bbfalsify.engines.falsification.shrink.delta_debugging import Cut, cuts_of_size, latest_places, next_size
from bbfalsify.engines.falsification.shrink.shrinking import Tools, shrink
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.kernel import stochastic_walks
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from tests.support.judging import judge_walk
from tests.unit.engines.test_falsification import usage_of

LETTERS = "abcdefgh"
FREE = (
    """
format_version: 1
name: letters
automata:
  User:
    declarations: "clock x;"
    initial: S
    locations: {S: {invariant: "x <= 3"}}
    edges:
"""
    + "".join(f'      - {{from: S, to: S, action: {letter}, guard: "x >= 1", update: "x = 0"}}\n' for letter in LETTERS)
    + "inputs: {u: {actions: {a: 1, b: 2}, initial: 0}}\n"
)

OFFICE = """
format_version: 1
name: office
automata:
  User:
    declarations: "clock x, total; int[0, 9] visits;"
    initial: Out
    locations:
      Out: {invariant: "x <= 4"}
      Hall: {invariant: "x <= 4"}
      Lift: {invariant: "x <= 4"}
      Desk: {invariant: "x <= 4"}
    edges:
      - {from: Out, to: Hall, action: enter, guard: "x >= 1", update: "x = 0, visits = visits < 9 ? visits + 1 : 9"}
      - {from: Out, to: Out, action: wait, guard: "x >= 1", update: "x = 0"}
      - {from: Hall, to: Lift, action: call, guard: "x >= 1", update: "x = 0"}
      - {from: Lift, to: Desk, action: ride, guard: "x >= 1", update: "x = 0"}
      - {from: Hall, to: Desk, action: stairs, guard: "x >= 2", update: "x = 0"}
      - {from: Hall, to: Out, action: leave, guard: "x >= 1", update: "x = 0"}
      - {from: Desk, to: Hall, action: go, guard: "x >= 1 && total >= 5", update: "x = 0"}
      - {from: Desk, to: Desk, action: press, guard: "x >= 1", update: "x = 0"}
inputs: {u: {actions: {press: 1, go: 0}, initial: 0}}
"""


class Box:
    """Requirement k is violated when `laws[k]`, given the events so far, first says so."""

    def __init__(self, *laws, fails=False):
        self.laws, self.fails, self.asked = laws, fails, []

    def __call__(self, queries):
        self.asked += queries
        return [self.answer(query.stimulus) for query in queries]

    def answer(self, stimulus):
        judgements = tuple(self._judge(law, stimulus) for law in self.laws)
        broken = any(j.verdict is Verdict.VIOLATED for j in judgements)
        status = SimulationStatus.RAISED if self.fails and broken else SimulationStatus.OK
        if status is SimulationStatus.RAISED:  # nobody sees when
            end = stimulus.duration
            judgements = tuple(Judgement(Verdict.VIOLATED, -np.inf, end) for _ in judgements)
        return Answer(status, judgements)

    def _judge(self, law, stimulus):
        for k in range(1, len(stimulus.events) + 1):
            if law(stimulus.events[:k]):
                return Judgement(Verdict.VIOLATED, -1.0, stimulus.events[k - 1][0])
        return Judgement(Verdict.SATISFIED, 1.0)


def contains(*core):
    def law(events):
        rest = iter(action for _, action in events)
        return all(action in rest for action in core)

    return law


def editor_of(usage):
    return RunEditor(ProfileSpace(usage), 1)


def finding_of(usage, box, word, requirement=0, seed=1, places=None):
    """A run along the word that violates, as a search would hand it over."""
    steps = [Step(action, place) for action, place in zip(word, places or [0.3] * len(word), strict=True)]
    editor = editor_of(usage)
    walk = editor.along(editor.begin(), steps, SeedTree(seed)).walk
    search, stimulus = Search(), usage.stimulus(walk)
    search.begin(len(box.laws))
    run = Run(1, walk, stimulus, box.answer(stimulus))
    return next(f for f in search.violations(usage, run) if f.requirement == requirement)


def shrunk(usage, box, word, budget=400, cores=(), seed=1, **more):
    finding = finding_of(usage, box, word, **more)
    found = shrink(box, Tools(usage, SeedTree(seed)), finding, budget=budget, seeds=SeedTree(seed), cores=cores)
    assert found.simulations == len(box.asked) <= budget
    assert len({query.name for query in box.asked}) == len(box.asked)
    assert {query.seed_name for query in box.asked} <= {finding.query}, "the same noise as when it was found"
    return found


def allowed(usage, walk):
    judgement = judge_walk(ReferenceInterpreter(usage.model.network), walk)
    return judgement.problem is None


# --- the parts --------------------------------------------------------------------------------------------------------


def test_parts_of_a_word_get_smaller_one_by_one_at_last():
    sizes, size = [], 50
    while size:
        sizes.append(size)
        size = next_size(size)
    assert sizes == [50, 25, 12, 6, 5, 4, 3, 2, 1]


def test_a_part_is_left_out_or_replaced_by_a_shorter_way():
    usage = usage_of(OFFICE, duration=60.0)
    names = {location.name: (k,) for k, location in enumerate(usage.model.network.processes[0].locations)}
    routes = Routes(usage.model.network)
    assert routes.shortest(names["Hall"], names["Desk"]) == ("stairs",)
    assert routes.shortest(names["Desk"], names["Desk"]) == ()
    assert routes.shortest(names["Lift"], names["Out"]) == ("ride", "go", "leave")
    word = ("enter", "call", "ride", "press")
    places = [names[n] for n in ("Out", "Hall", "Lift", "Desk", "Desk")]
    cuts = {cut.word: cut for cut in cuts_of_size(word, places, 2, routes)}
    assert ("enter", "stairs", "press") in cuts and ("enter", "press") in cuts and ("enter",) not in cuts
    assert cuts["enter", "stairs", "press"].parts == (0, "stairs", 3)
    assert Cut.of(word, (0, "stairs", 3)).untouched == 1


def test_the_latest_places_of_a_word():
    assert latest_places(("a", "b"), tuple("abab")) == (2, 3)
    assert latest_places(("a", "a"), tuple("abab")) == (0, 2)
    assert latest_places(("b", "b", "a"), tuple("abab")) is None


# --- edits ------------------------------------------------------------------------------------------------------------


def test_places_are_quantiles_in_the_law_of_a_delay():
    """Delays of `letters` are uniform on [1, 3] whatever the action."""
    editor, places = editor_of(usage_of(FREE)), (0.0, 0.25, 0.5, LATEST)
    found = editor.along(editor.begin(), [Step("a", place) for place in places], SeedTree(1))
    np.testing.assert_allclose(np.diff(found.walk.times, prepend=0.0), [1, 1.5, 2, 3], atol=1e-9)
    assert found.places == places
    again = editor.space.run(found.choices, 77)
    np.testing.assert_array_equal(again.walk.times[:4], found.walk.times)


@pytest.mark.parametrize("text", [FREE, OFFICE])
def test_a_word_is_retraced_from_its_times(text):
    usage = usage_of(text, duration=60.0)
    walks = stochastic_walks(usage.model, np.arange(5, dtype=np.uint64), until=60.0, max_steps=1000)
    for walk in map(walks.walk, range(5)):
        word = list(zip(walk.times.tolist(), walk.actions(usage.model), strict=True))
        found = editor_of(usage).retraced(word, SeedTree(1))
        np.testing.assert_allclose(found.walk.times, walk.times, atol=1e-3)
        assert allowed(usage, found.walk)
    if text is OFFICE:
        assert not editor_of(usage).retraced([(1.5, "press")], SeedTree(1)).spans


DICE = """
format_version: 1
name: dice
automata:
  User:
    declarations: "clock x; int[0, 99] shown;"
    initial: S
    locations: {S: {invariant: "x <= 3"}}
    edges:
      - {from: S, to: S, action: roll, guard: "x >= 1", update: "x = 0, shown = fint(random(99))"}
      - {from: S, to: S, action: wait, guard: "x >= 1", update: "x = 0"}
signals: {heat: {range: [0, 10], every: 10}}
inputs: {u: {value: "shown"}}
"""


def test_an_edit_keeps_choices_before_it_and_what_later_steps_draw():
    """The second of four rolls is left out: the first is as it was, the others come later and show the same."""
    editor = editor_of(usage_of(DICE, duration=20.0))
    run = editor.along(editor.begin(np.array([0.5, 0.25])), [Step("roll", 0.3)] * 4, SeedTree(3))
    steps = editor.steps_of(run)
    kept = [replace(step, moment=None) for step in steps[2:]]
    edited = editor.along(run.prefix(1), kept, SeedTree(4))
    np.testing.assert_array_equal(edited.choices[: run.spans[0].beyond], run.choices[: run.spans[0].beyond])
    np.testing.assert_array_equal(edited.walk.times[:1], run.walk.times[:1])
    np.testing.assert_array_equal(np.delete(run.walk.integers, 2, axis=0), edited.walk.integers)
    np.testing.assert_allclose(np.diff(edited.walk.times), np.diff(run.walk.times)[[1, 2]])
    assert edited.walk.values.tolist() == [0.5, 0.25]
    other = editor.with_values(edited, np.array([0.75, 0.25]))
    np.testing.assert_array_equal(other.walk.times, edited.walk.times)
    assert other.walk.values.tolist() == [0.75, 0.25] and other.choices[0] == 0.75
    assert editor.along(run.prefix(1), [Step("roll"), Step("wait", moment=2.0)], SeedTree(1)).walk.times[2] > 2.0


def test_the_steps_of_a_run_are_told_from_its_choices():
    """Also where its walk does not tell them: these choices are the run's own."""
    editor = editor_of(usage_of(DICE, duration=20.0))
    played = editor.space.run((), 9)
    run = editor.spanned(played, 4)
    word = list(zip(played.walk.times.tolist(), played.walk.actions(editor.model), strict=True))
    known = editor.retraced(word[:4], SeedTree(1), played.walk, played.choices)
    assert known.spans == run.spans and known.choices.tolist() == run.choices.tolist()
    again = editor.space.run(run.choices, 1)
    np.testing.assert_array_equal(again.walk.times[:4], played.walk.times[:4])


# --- fewer actions ----------------------------------------------------------------------------------------------------

NOISE = tuple("hgfedhgfedhgfed")


@pytest.mark.parametrize(
    "core",
    [("a",), ("a", "b"), ("a", "b", "a", "c"), ("c", "b", "a", "a", "b", "c")],
)
def test_the_core_of_thirty_actions_is_found(core):
    """The system fails once it has seen the core's actions in their order; all others are noise."""
    word = []
    for k, action in enumerate(core):
        word += [*NOISE[k : k + 24 // len(core)], action]
    usage, box = usage_of(FREE, duration=100.0), Box(contains(*core))
    found = shrunk(usage, box, tuple(word), budget=500)
    assert found.core.actions == core and found.core.settled
    assert allowed(usage, found.core.finding.walk)
    assert found.core.finding.walk.times[-1] >= usage.duration, "a whole run, so that a replay can say FIXED"


def test_another_way_takes_the_place_of_a_detour():
    """Leaving out `call ride` alone is impossible; the stairs are shorter."""
    usage, box = usage_of(OFFICE, duration=100.0), Box(contains("press"))
    word = ("wait", "enter", "leave", "wait", "enter", "call", "ride", "go", "call", "ride", "press")
    found = shrunk(usage, box, word)
    assert found.core.actions == ("enter", "stairs", "press") and found.core.settled
    assert allowed(usage, found.core.finding.walk)


def test_guards_stay_respected():
    """To go is possible only late enough; one who takes the stairs and presses at once has to wait at the desk."""
    usage, box = usage_of(OFFICE, duration=100.0), Box(contains("go", "stairs"))
    found = shrunk(usage, box, ("wait", "enter", "call", "ride", "press", "press", "go", "stairs", "press"))
    assert found.core.actions == ("enter", "stairs", "go", "stairs")
    assert allowed(usage, found.core.finding.walk)


def test_only_its_own_requirement_counts():
    usage = usage_of(FREE, duration=100.0)
    box = Box(contains("a"), contains("b", "c"))
    found = shrunk(usage, box, tuple("hadbgc"), requirement=1)
    assert found.core.actions == ("b", "c") and found.core.finding.requirement == 1


def test_a_failing_simulation_shrinks_to_one_that_fails():
    usage, box = usage_of(FREE, duration=100.0), Box(contains("a", "b"), fails=True)
    found = shrunk(usage, box, tuple("hagbd"))
    assert found.core.actions == ("a", "b")
    assert found.core.finding.simulation is SimulationStatus.RAISED


def test_the_core_of_another_finding_is_taken_where_it_is_the_same_failure():
    usage = usage_of(FREE, duration=100.0)
    core = shrunk(usage, Box(contains("a", "b")), tuple("ab")).core
    box = Box(contains("a", "b"))
    found = shrunk(usage, box, tuple("hagfbd"), cores=[core])
    assert found.core is core and len(box.asked) <= 2


def test_the_core_of_another_failure_is_not_taken_by_chance():
    """a…b fails only within two time units; this word has both far from each other, and fails because of c c."""

    def soon(events):
        last = max((t for t, action in events[:-1] if action == "a"), default=-np.inf)
        return events[-1][1] == "b" and events[-1][0] - last <= 2

    usage, box = usage_of(FREE, duration=100.0), Box(lambda events: soon(events) or contains("c", "c")(events))
    core = shrunk(usage, Box(soon), tuple("ab"), places=[0.1, 0.1]).core
    found = shrunk(usage, box, tuple("ahgfebhcdc"), cores=[core], places=[0.9] * 10)
    assert found.core.actions == ("c", "c")


# --- more probable delays ---------------------------------------------------------------------------------------------


def slow(limit):
    """Violated when the second action comes more than `limit` after the first."""
    return lambda events: len(events) >= 2 and events[1][0] - events[0][0] > limit


@pytest.mark.parametrize(("limit", "low", "high"), [(1.2, 0.5, 0.5), (2.5, 0.75, 0.85)])
def test_delays_move_to_their_medians_as_far_as_the_violation_stays(limit, low, high):
    """Uniform on [1, 3]: a limit of 1.2 allows the median, one of 2.5 is at the quantile 0.75."""
    usage, box = usage_of(FREE, duration=20.0), Box(slow(limit))
    found = shrunk(usage, box, ("a", "b"), places=[0.0, LATEST])
    first, second = found.core.places
    assert found.core.actions == ("a", "b") and first == pytest.approx(0.5, abs=1e-3)
    assert low - 1e-3 <= second <= high
    assert box.laws[0](found.core.finding.word)


# --- budgets, seeds, what cannot be followed --------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 2, 5, 20])
def test_the_budget_bounds_all_and_what_is_found_still_violates(budget):
    usage, box = usage_of(FREE, duration=100.0), Box(contains("a", "b"))
    found = shrunk(usage, box, (*NOISE, "a", *NOISE, "b"), budget=budget)
    assert not found.core.settled and contains("a", "b")(found.core.finding.word)
    assert len(found.core.actions) <= 32
    assert len(found.core.actions) < 32 or budget < 20


def test_the_same_seed_gives_the_same_core():
    def once(seed):
        usage, box = usage_of(OFFICE, duration=100.0), Box(contains("press"))
        found = shrunk(usage, box, ("wait", "enter", "call", "ride", "go", "call", "ride", "press"), seed=seed)
        return found.core.finding.word, found.core.places, [query.name for query in box.asked]

    assert once(1) == once(1)


def test_a_profile_whose_law_is_not_computed_is_shrunk_by_drawing():
    text = FREE.replace("action: h, guard", 'action: h, weight: "1 + x", guard')
    usage, box = usage_of(text, duration=100.0), Box(contains("a", "b"))
    found = shrunk(usage, box, tuple("hgahfgbd"))
    assert found.core.actions == ("a", "b")
    assert allowed(usage, found.core.finding.walk)
    assert all(0 < q < 1 for q in found.core.places)


def test_a_finding_from_elsewhere_that_this_profile_does_not_allow_stays_as_it_is():
    usage, box = usage_of(FREE, duration=100.0), Box(contains("a"))
    finding = finding_of(usage, box, tuple("hgfa"))
    late = replace(finding, walk=None, actions=("press",), word=((0.4, "press"),))
    usage, impossible = usage_of(OFFICE, duration=100.0), late
    found = shrink(box, Tools(usage, SeedTree(1)), impossible, budget=50, seeds=SeedTree(1), cores=[])
    assert found.core.finding is impossible and not found.core.settled and box.asked == []


def test_a_finding_from_the_store_is_shrunk_from_its_times():
    usage, box = usage_of(FREE, duration=100.0), Box(contains("a"))
    stored = replace(finding_of(usage, box, tuple("hgfa")), walk=None, iteration=None, known_as="x")
    found = shrink(box, Tools(usage, SeedTree(1)), stored, budget=50, seeds=SeedTree(1), cores=[])
    assert found.core.actions == ("a",) and {query.seed_name for query in box.asked} == {"known/x"}
