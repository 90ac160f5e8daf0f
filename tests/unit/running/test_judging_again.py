"""Second judgements at a tenth of the sampling period: what is missed is found, what is none is not listed."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.search.judging_again import _matters
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.records.event_log import read_events
from bbfalsify.registry import ENGINES
from bbfalsify.reporting.html.writing import write_report
from bbfalsify.reporting.terminal.falsify import falsification_lines
from bbfalsify.results.falsify_insights import SamplingCheck
from bbfalsify.running.replay import ReplayOutcome, replay
from bbfalsify.systems import system
from tests import heater

SMALL = Options(simulations=600, passes=2, traces=20, fan=0)


@system(inputs={"heat": "1"}, outputs={"T": "degC"})
def spike(stimulus):
    """Hot for 0.03 time units, 0.11 after each 'on': between two samples that are 0.2 apart, most of the times."""
    hot = np.zeros(len(stimulus.times))
    for time, action in stimulus.events:
        since = stimulus.times - time
        hot += (action == "on") & (since > 0.11) & (since < 0.14)
    return {"T": 100.0 * (hot > 0)}


@system(inputs={"heat": "1"}, outputs={"T": "degC"})
def pulses(stimulus):
    """Warm for 0.05 of every 0.75 time units: never cold for 1, but samples that are 0.1 apart may say so."""
    return {"T": np.where(np.mod(stimulus.times - 0.27, 0.75) < 0.05, 20.0, 0.0)}


ALWAYS_COOL, OFTEN_WARM = "always[0:20](T <= 75)", "always[0:19](eventually[0:1](T >= 10))"


def run(box, stl, out=None, **arguments):
    settings = {"horizon": 20.0, "options": SMALL, "seed": 1, **arguments}
    return falsify(box, heater.profile(), [Requirement("R1", "", parse_stl(stl))], out=out, **settings)


@pytest.fixture(scope="module")
def refined(tmp_path_factory):
    directory = tmp_path_factory.mktemp("refined") / "run"
    return run(spike, ALWAYS_COOL, directory=directory, baseline=smc.SmcOptions(simulations=300))


def test_what_samples_miss_is_found_at_a_shorter_period(refined):
    """Almost every use switches on once: 'on' has probability 1/4 in each of four to six decisions."""
    result = refined
    first = result.sampling.checks[0]
    assert first.violating > 0 and first.matters and first.finer == pytest.approx(0.02)
    assert result.sampling.period == pytest.approx(0.02) and result.sampling.first_period == pytest.approx(0.2)
    assert not result.sampling.checks[-1].matters
    assert result.requirements[0].baseline.probability.low > 0.5
    assert any("samples were taken every 0.02" in note for note in result.notes)
    given = run(spike, ALWAYS_COOL, period=0.2, baseline=smc.SmcOptions(simulations=300))
    assert given.requirements[0].baseline.probability.high < 0.3


def test_counterexamples_of_a_refined_run_are_stored_at_its_period(refined):
    for row in refined.counterexamples:
        assert replay(row.file, spike).outcome is ReplayOutcome.SAME
        assert row.status == "confirmed" and not row.sampling_artefact


def test_a_refined_run_is_the_same_for_any_number_of_workers_and_when_it_is_continued(refined, tmp_path):
    two = run(spike, ALWAYS_COOL, jobs=2, directory=tmp_path / "two", baseline=smc.SmcOptions(simulations=300))
    assert two.sampling == refined.sampling and two.found_probability == refined.found_probability
    assert [c.actions for c in two.counterexamples] == [c.actions for c in refined.counterexamples]
    lines = (refined.directory / "events.jsonl").read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["event"] for line in lines]
    for cut in (kinds.index("JudgedAgain") - 1, kinds.index("JudgedAgain") + 3):
        again = tmp_path / str(cut)
        shutil.copytree(refined.directory, again)
        (again / "events.jsonl").write_bytes(b"".join(lines[:cut]))
        (again / "results.json").unlink()
        result = run(spike, ALWAYS_COOL, directory=again, baseline=smc.SmcOptions(simulations=300))
        assert result.as_json()["requirements"] == refined.as_json()["requirements"]
        assert result.sampling == refined.sampling and result.simulations == refined.simulations
        asked = [
            answer["query"]
            for event in read_events(again / "events.jsonl")
            if event.kind in ("BatchAnswered", "Repeated")
            for answer in event.data["answers"]
        ]
        assert len(asked) == len(set(asked))


@pytest.mark.parametrize("search", ["first", "probable"])
def test_most_of_the_budget_is_left_for_the_period_that_is_needed(search):
    """Without an early judgement 8 or 9 were found, and one or two of these judged again at their own period."""
    options = replace(SMALL, search=search, counterexamples=10, passes=0)
    result = run(spike, ALWAYS_COOL, options=options)
    [early, last] = result.sampling.checks
    assert early.finer == pytest.approx(0.02) and early.matters and early.findings + early.passing + early.closest <= 15
    assert result.sampling.period == pytest.approx(0.02) and not last.matters
    assert result.simulations <= 600 and len(result.counterexamples) == 10
    assert last.findings == 10 and last.passing > 0


@pytest.mark.parametrize("search", ["first", "probable"])
@pytest.mark.parametrize("budget", [7, 30, 60, 240])
@pytest.mark.parametrize("stl", ["always[0:20](T <= 1000)", ALWAYS_COOL], ids=["nothing", "something"])
def test_the_search_goes_on_with_what_judging_again_has_left(search, budget, stl):
    """Of 60 simulations 49 were used where nothing was found.  No run is judged again twice."""
    found = run(spike, stl, options=replace(SMALL, search=search, simulations=budget, passes=0, counterexamples=40))
    checks = found.sampling.checks
    assert budget == 7 or checks[-1].findings + checks[-1].passing + checks[-1].closest > 0
    assert budget - 6 < found.simulations <= budget or len(found.counterexamples) == 40


def test_a_given_period_is_kept_and_the_note_is_loud():
    result = run(spike, ALWAYS_COOL, period=0.2)
    assert result.sampling.period == 0.2 and result.sampling.given and len(result.sampling.checks) == 1
    [note] = [note for note in result.notes if "TOO LONG" in note]
    assert "passing runs violate" in note


def test_artefacts_of_sampling_are_no_counterexamples():
    result = run(pulses, OFTEN_WARM)
    assert result.sampling.checks[0].not_confirmed > 0
    assert result.sampling.checks[0].artefacts[0].requirement == "R1"
    assert result.outcome is Outcome.NOT_FALSIFIED and result.counterexamples == ()


def test_artefacts_of_a_given_period_are_listed_as_what_they_are(tmp_path):
    result = run(pulses, OFTEN_WARM, period=0.1, out=tmp_path)
    shown = [str(line) for line in falsification_lines(result.as_json(), 100, False) if isinstance(line, str)]
    assert any(line.startswith("note: judged again at samples every 0.01 instead of 0.1") for line in shown)
    assert "sampling artefact" in Path(write_report(result.directory, ENGINES)).read_text()
    assert result.outcome is Outcome.FALSIFIED and all(c.sampling_artefact for c in result.counterexamples)
    assert any("findings not confirmed" in note and "TOO LONG" in note for note in result.notes)
    assert result.as_json()["counterexamples"][0]["sampling_artefact"] is True


def test_a_system_with_a_step_is_not_judged_again():
    @system(inputs={"heat": "1"}, outputs={"T": "degC"}, step=0.5)
    def stairs(stimulus):
        return {"T": np.floor(2 * stimulus.times) * 3}

    result = run(stairs, "always[0:20](T <= 200)")
    assert result.as_json()["sampling"] == {"period": 0.5, "given": False, "first_period": 0.5, "checks": []}
    assert 596 <= result.simulations <= 600


def test_chance_is_no_reason_to_refine():
    """The system draws otherwise for another number of samples: verdicts change, as they do with another seed."""

    @system(inputs={"heat": "1"}, outputs={"T": "degC"})
    def noise(stimulus, seed):
        rng = np.random.default_rng([seed, len(stimulus.times)])
        return {"T": np.full(len(stimulus.times), 90.0 if rng.random() < 0.4 else 0.0)}

    result = run(noise, ALWAYS_COOL)
    [check] = result.sampling.checks
    assert check.violating > 0 and check.by_chance > 0 and not check.matters
    assert result.sampling.period == pytest.approx(0.2) and result.counterexamples


def test_violations_close_to_an_action_refine_only_where_they_are_many():
    """One finding of ten falls on the other side of an action; a ten times shorter period would not end that."""
    counts = {"findings": 10, "not_confirmed": 0, "moved": 1, "passing": 10, "violating": 0, "closest": 9}
    check = SamplingCheck(period=0.1, finer=0.01, closest_violating=0, violations=100, by_chance=0, **counts)
    assert not _matters(check, uncertain=False)
    assert not _matters(replace(check, findings=3), uncertain=False)
    assert _matters(replace(check, moved=2), uncertain=False)
    assert _matters(replace(check, not_confirmed=1), uncertain=False)
