"""The search for probable counterexamples: what it keeps, when it ends, and that the budget bounds all of it."""

import pytest

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.confirmation import Confirmation
from bbfalsify.core.errors import UserError
from bbfalsify.core.query import Answer, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, StopReason, Verdict
from bbfalsify.engines.falsification.engine import Progress, run
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.guides.cross_entropy import CrossEntropy
from bbfalsify.engines.falsification.search.cylinders import Cylinders
from bbfalsify.engines.falsification.search.neighbours import neighbours, other_endings
from bbfalsify.engines.falsification.search.word_pool import MOST_RUNS, Pool, Word
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.logic import parse_stl
from bbfalsify.logic.stl.stl_monitor import judge
from tests import heater
from tests.unit.engines.test_falsification import FORMULA, simulate_heater, usage_of

BY_MASS = sorted(heater.EXACT, key=heater.EXACT.__getitem__, reverse=True)


class Box:
    """Answers like a driver; remembers what it was asked."""

    def __init__(self, *formulas, stop_after=None):
        self.formulas, self.names, self.stop_after = formulas or (FORMULA,), [], stop_after

    def __call__(self, queries):
        if self.stop_after is not None and len(self.names) >= self.stop_after:
            raise BudgetSpent(StopReason.INTERRUPTED)
        self.names += [q.name for q in queries]
        answers = []
        for q in queries:
            outputs = {**q.stimulus.inputs, **simulate_heater(q.stimulus)}
            answers.append(
                Answer(SimulationStatus.OK, tuple(judge(f, q.stimulus.times, outputs) for f in self.formulas))
            )
        return answers


class SearchOnly:
    """Ends the engine after its search."""

    def __init__(self):
        self.listed, self.masses = [], []

    def found(self, finding):
        self.listed.append(finding)

    def advanced(self, search, masses):
        self.masses.append(tuple(masses))

    def ordering(self, traces):
        pass

    def searched(self, search):
        raise StopIteration


def search(box=None, usage=None, seed=1, listener=None, progress=None, **options):
    box, progress = box or Box(), progress or Progress()
    with pytest.raises(StopIteration):
        run(
            box, usage or usage_of(), progress, Options(**options), requirements=len(box.formulas),
            seeds=SeedTree(seed), listener=listener or SearchOnly(),
        )  # fmt: skip
    return progress.search


def keys(search, requirement=0):
    return [f.actions for f in search.findings if f.requirement == requirement]


def test_two_wanted_are_mostly_the_two_most_probable():
    """Closed forms 2.22e-3 and 9.55e-4, with 9.52e-4 close behind: the second may be either of these.

    Rough masses mistake the second in one of six seeds (10 of 60); six of eight right have a false-alarm rate of 14 %
    with other seeds, none with these.  A search that mistakes every second list fails with probability 0.86.
    """
    right = 0
    for seed in range(1, 9):
        found = search(seed=seed, counterexamples=2, simulations=2000)
        right += keys(found)[0] == BY_MASS[0] and keys(found)[1] in BY_MASS[1:3]
        assert found.stopped is StopReason.COMPLETED and found.iterations < 2000
        assert found.known[0] <= set(heater.EXACT)
    assert right >= 6


def test_the_four_keys_are_found_when_more_are_wanted():
    found = search(counterexamples=10, simulations=440)
    assert set(keys(found)) == set(heater.EXACT) and found.stopped is StopReason.BUDGET_SIMULATIONS
    end = found.convergence[0][-1]
    assert (end.simulations, end.words) == (found.iterations, 4) and 436 <= found.iterations <= 440
    # Rough estimates: right within a factor of two.
    assert sum(heater.EXACT.values()) / 2 < end.mass < 2 * sum(heater.EXACT.values())


class Confirming(SearchOnly):
    """Says that each finding was repeated three times."""

    def found(self, finding):
        super().found(finding)
        finding.confirmation = Confirmation(3, 3, True, None)


@pytest.mark.parametrize("simulations", [20, 60, 120])
def test_a_scarce_budget_is_not_exceeded_and_confirms_what_is_listed_in_the_end(simulations):
    for seed in range(1, 6):
        listener = Confirming()
        found = search(seed=seed, counterexamples=2, simulations=simulations, confirmations=3, listener=listener)
        assert simulations - 4 < found.spent <= simulations or found.stopped is StopReason.COMPLETED
        assert listener.listed == found.findings and len(found.findings) <= 2
        assert found.beside >= 3 * len(found.findings)


THREE = [parse_stl(f"always[0:20](T <= {limit})", signals=["T"]) for limit in (30, 50, 75)]


@pytest.mark.parametrize("options", [{"search": "first"}, {"search": "first", "adaptive_duration": True}, {}])
@pytest.mark.parametrize("simulations", [1, 3, 7, 25, 90, 230])
def test_no_budget_is_exceeded_by_confirmations_whole_uses_or_tests_of_exact_moments(options, simulations):
    """Three requirements, which one run may violate together; a budget of 25 was exceeded by 20."""
    for seed in (1, 2):
        box, progress = Box(*THREE), Progress()
        listener = ConfirmingByRuns(box, progress.search)
        found = search(box, seed=seed, simulations=simulations, listener=listener, progress=progress, **options)
        assert len(box.names) == found.spent <= simulations
        assert all(f.confirmation.tries >= 1 for f in found.findings)
        assert found.findings or simulations < 25
        if simulations < 4:
            assert found.notes == [
                f"a budget of {simulations} simulations has no room for a run and its confirmations: nothing was tried"
            ]


class ConfirmingByRuns(SearchOnly):
    """Executes each finding again, as often as the search has room for."""

    def __init__(self, box, search):
        super().__init__()
        self.box, self.search = box, search

    def found(self, finding):
        tries = self.search.tries
        again = [Query(f"{finding.requirement}/{finding.name}/{i}", finding.stimulus) for i in range(tries)]
        answers = self.box(again)
        same = all(a.judgements[finding.requirement].verdict is Verdict.VIOLATED for a in answers)
        finding.confirmation = Confirmation(tries, tries, same, None)
        super().found(finding)


def test_findings_of_adaptive_duration_are_whole_uses():
    """Cut where an earlier violation became certain, two of eleven were CHANGED on replay, not SAME."""
    box, usage = Box(parse_stl("always[0:20](T <= 30)", signals=["T"])), usage_of()
    found = search(box, usage, search="first", adaptive_duration=True, counterexamples=10, simulations=600)
    assert len(found.findings) == 10 and any(name.endswith("/whole") for name in box.names)
    for finding in found.findings:
        assert finding.stimulus.duration == usage.duration <= finding.word[-1][0]
        [answer] = box([Query("again", finding.stimulus)])
        assert answer.judgements[0].first_violation_time == finding.judgement.first_violation_time


def test_the_first_ones_are_still_to_be_had():
    found = search(search="first", counterexamples=2, simulations=2000)
    assert found.stopped is StopReason.COMPLETED and found.iterations == 44 and found.convergence == []


def test_an_easy_requirement_is_explained_by_its_most_probable_words():
    """Above 30 degrees at some time: half of the uses; the ten best words hold 95.7 % of them (20,000 simulations)."""
    box = Box(parse_stl("always[0:20](T <= 30)", signals=["T"]))
    found = search(box, counterexamples=10, simulations=1000)
    assert {("on", "off"), ("on", "on"), ("off", "on", "off"), ("off", "on", "on")} <= set(keys(found))
    assert len(found.known[0]) > 10 and max(map(len, keys(found))) <= 6
    assert 0.3 < found.convergence[0][-1].mass < 0.7


def test_listed_runs_along_words_are_whole_uses_so_that_a_replay_can_tell_when_all_is_well():
    """Cut after their last action, they were never FIXED: a repaired heater left `always[0:20]` open."""
    box, usage = Box(parse_stl("always[0:20](T <= 30)", signals=["T"])), usage_of()
    found = search(box, usage, counterexamples=10, simulations=500)
    whole = [name for name in box.names if name.endswith("/whole")]
    assert whole and len(box.names) == found.spent, "some were found along words"
    for finding in found.findings:
        assert finding.stimulus.duration == usage.duration <= finding.walk.times[-1]
        assert finding.walk.actions(usage.model)[: len(finding.actions)] == finding.actions
        assert tuple(action for _, action in finding.word[: len(finding.actions)]) == finding.actions
        assert finding.judgement.verdict is Verdict.VIOLATED


def test_every_simulation_counts_and_has_its_own_name():
    box = Box()
    found = search(box, counterexamples=10, simulations=300)
    # Four would be needed to confirm the next one.
    assert len(box.names) == found.iterations == len(set(box.names)) and 296 <= found.iterations <= 300


def test_patience_decides_when_a_full_list_is_left_alone():
    hasty = search(counterexamples=1, patience=0, simulations=2000)
    patient = search(counterexamples=1, patience=600, simulations=2000)
    assert hasty.iterations < 200 and patient.iterations >= 600
    assert hasty.stopped is patient.stopped is StopReason.COMPLETED


def test_the_list_grows_and_is_told_as_it_does():
    listener = SearchOnly()
    found = search(listener=listener, counterexamples=2, simulations=1000)
    assert [f.actions for f in listener.listed] != [] and set(found.findings) <= set(listener.listed)
    masses = [point.mass for point in found.convergence[0]]
    assert masses == sorted(masses) and len(listener.masses) >= len(masses)
    simulations = [point.simulations for point in found.convergence[0]]
    assert simulations == sorted(set(simulations)) and simulations[-1] == found.iterations


def test_each_requirement_has_its_list():
    box = Box(FORMULA, parse_stl("always[0:20](T <= 78)", signals=["T"]), parse_stl("always(T <= 101)", signals=["T"]))
    found = search(box, counterexamples=2, simulations=600)
    assert keys(found)[0] == BY_MASS[0] and len(keys(found, 1)) == 2 and keys(found, 2) == []
    assert found.stopped is StopReason.BUDGET_SIMULATIONS


def test_an_interrupted_search_keeps_its_list():
    progress = Progress()
    with pytest.raises(BudgetSpent):
        run(
            Box(stop_after=200), usage_of(), progress, Options(counterexamples=3), requirements=1, seeds=SeedTree(1),
            listener=SearchOnly(),
        )  # fmt: skip
    assert progress.search.findings and progress.search.convergence[0][-1].words >= len(progress.search.findings)


def test_only_plain_or_only_accelerated_walks():
    for share in (0.0, 1.0):
        found = search(plain_walks=share, counterexamples=1, simulations=1500, seed=4)
        assert keys(found)[0] in heater.EXACT
    nothing = search(simulations=0)
    assert nothing.findings == [] and nothing.convergence == [()]


TWO_USERS = heater.PROFILE.replace("inputs:", "system: [User, Other]\ninputs:").replace(
    "automata:",
    """automata:
  Other:
    declarations: "clock y;"
    initial: W
    locations:
      W: {invariant: "y <= 50"}
    edges:
      - {from: W, to: W, action: wait, guard: "y >= 40", update: "y = 0"}""",
)


def test_outlier_guiding_and_other_estimators_work_together_with_it():
    found = search(guide="outlier", adaptive_duration=True, counterexamples=2, simulations=800)
    assert set(keys(found)) <= set(heater.EXACT)
    # The second user never acts within the horizon, so nothing changes but the estimator that a race needs.
    found = search(usage=usage_of(TWO_USERS), estimator="splitting", counterexamples=2, simulations=800)
    assert keys(found)[0] == BY_MASS[0]


def test_a_guide_learns_of_accelerated_and_plain_walks_too(monkeypatch):
    """It was told its own proposals only: most simulations of a round taught it nothing."""
    told, tell = [], CrossEntropy.tell

    def recording(self, sequences, scores):
        told.append((list(sequences), scores))
        tell(self, sequences, scores)

    monkeypatch.setattr(CrossEntropy, "tell", recording)
    usage = usage_of()
    found = search(usage=usage, guide="cross_entropy", counterexamples=2, simulations=400)
    own = sum(len(sequences) for sequences, _ in told if len(sequences) == 1)
    others = [rows for rows in told if len(rows[0]) > 1]
    heard = [pair for sequences, scores in others for pair in zip(sequences, scores, strict=True)]
    assert own and len(heard) > own and own + len(heard) <= found.iterations
    space = ProfileSpace(usage)
    for sequence, [score] in heard[:30]:
        played = space.repeated(sequence)
        [answer] = Box()([Query("again", usage.stimulus(played.walk))])
        assert (score < 0) == bool(answer.violated)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search": "probably"}, "search cannot be 'probably'.*Did you mean 'probable'"),
        ({"patience": -1}, "patience must be at least 0; found -1"),
        ({"plain_walks": 1.5}, "plain_walks must be at most 1; found 1.5"),
    ],
)
def test_wrong_options_from_python_are_named(options, message):
    with pytest.raises(UserError, match=message):
        Options(**options)


# --- the pool ---------------------------------------------------------------------------------------------------------


def finding(word, iteration=1):
    seen = Judgement(Verdict.VIOLATED, -1.0, float(len(word)))
    return Finding(0, tuple(word), tuple(enumerate(word, start=1)), None, seen, SimulationStatus.OK, iteration)


def test_a_mass_follows_the_runs_and_extremes_are_smoothed():
    word = Word(("a",), cylinder=0.4)
    assert word.mass == pytest.approx(0.2)
    word.count(0.4, 4, 0)
    assert word.mass == pytest.approx(0.04)
    word.count(0.4, 4, 4)
    assert (word.runs, word.hits, word.mass) == (8, 4, pytest.approx(0.2))
    assert word.contested(0.2) and not word.contested(0.39) and not word.contested(0.01)
    word.count(0.4, MOST_RUNS, MOST_RUNS // 2)
    assert not word.contested(0.2)


def test_plain_walks_count_for_masses_as_runs_along_a_word_do():
    """A word of probability 0.034 lost its place to words of 0.004, though every thirtieth plain walk met it."""
    word = Word(("a",), cylinder=0.003)  # a rough look, ten times too low
    assert word.mass == pytest.approx(0.0015)
    word.walks, word.met = 300, 10
    assert 0.025 < word.mass < 10.5 / 300
    word.count(0.003, 4, 0)
    assert 0.015 < word.mass < 0.034
    rare = Word(("b",), cylinder=0.1, walks=300)
    assert rare.mass == pytest.approx(0.5 / 310), "followed by one of ten walks, and none of 300 met it"


def test_a_word_that_plain_walks_often_meet_is_listed_though_its_probability_was_guessed_far_too_low(monkeypatch):
    """on off violates `T <= 30` in 11 % of all uses; particles that guess a thousandth of that are outvoted."""
    guessed = Cylinders.probability

    def far_too_low(self, word, floor=0.0):
        return guessed(self, word, floor) * (1e-3 if word == ("on", "off") else 1.0)

    monkeypatch.setattr(Cylinders, "probability", far_too_low)
    box = Box(parse_stl("always[0:20](T <= 30)", signals=["T"]))
    found = search(box, counterexamples=3, simulations=600)
    assert found.plain.meetings(0, ("on", "off")).met >= 5 and ("on", "off") in keys(found)


def test_cylinders_that_differ_by_chance_are_averaged():
    word = Word(("a",), cylinder=0.5)  # a first look, without runs, is replaced
    word.count(0.2, 4, 1)
    word.count(0.4, 4, 1)
    assert word.cylinder == pytest.approx(0.3)


def test_the_list_are_the_best_and_only_what_matters_counts_as_improvement():
    pool = Pool(wanted=2)
    for name, cylinder, iteration in (("a", 0.5, 1), ("b", 0.001, 2)):
        pool.add(finding(name, iteration), [(0,), (0,)])
        pool.words[(name,)].cylinder = cylinder
    assert pool.threshold() == pytest.approx(0.0005) and [w.actions for w in pool.best()] == [("a",), ("b",)]
    assert [f.actions for f in pool.newly_listed(10)] == [("a",), ("b",)] and pool.improved == 10
    pool.add(finding("c", 3), [(0,), (0,)])
    pool.words[("c",)].cylinder = 0.002
    assert [f.actions for f in pool.newly_listed(20)] == [("c",)] and pool.improved == 10, "less than 1 % of the list"
    assert [(p.simulations, p.words) for p in pool.convergence([1, 2, 5])] == [(1, 1), (2, 2), (5, 3)]
    assert pool.convergence([1, 2, 5])[-1].mass == pytest.approx(0.251)


# --- neighbours -------------------------------------------------------------------------------------------------------


def test_neighbours_leave_out_and_put_in_loops():
    """small fade large again calm: from Normal (0) to Small (1) and back, to Large (2), again, and back."""
    actions = ("s", "f", "l", "a", "c")
    known = actions, [(place,) for place in (0, 1, 0, 2, 2, 0)]
    rng = SeedTree(5).rng()
    near = set(neighbours([known], [1.0], actions, rng, 400))
    assert {("l", "a", "c"), ("s", "f", "l", "c")} <= near, "loops left out"
    assert {("s", "f", "s", "f", "l", "a", "c"), ("s", "f", "l", "a", "a", "c")} <= near, "loops put in"
    assert ("s", "f", "l", "a", "a") in near, "an action changed"
    assert all(near)
    assert other_endings(("s", "f"), actions) == [("s", "s"), ("s", "l"), ("s", "a"), ("s", "c")]


def test_a_pool_knows_how_many_runs_followed_a_word_without_a_violation():
    pool = Pool(3)
    for actions in ("ab", "abc", "ab", "b", "abd", ""):
        pool.walked(tuple(actions))
    assert [pool.passed(tuple(word)) for word in ("", "a", "ab", "abc", "abcd", "b", "c")] == [6, 4, 4, 1, 0, 1, 0]
