"""Systems that execute many stimuli in one call: fewer calls, the same answers, and failures still have a name."""

import os
import signal

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.core.query import Query
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.running import Execution, WorkerPool
from bbfalsify.systems import FunctionSystem
from tests import heater

TIMES = np.linspace(0.0, 1.0, 4)


def judge(trace):
    return (Judgement(Verdict.SATISFIED, float(trace.signals["y"][0])),)


def queries(values):
    return [Query(f"q/{i}", Stimulus(TIMES, {"u": np.full(4, float(v))})) for i, v in enumerate(values)]


class Doubler:
    """Counts its calls in a file, because it lives in another process; `deed` happens where an input is negative."""

    def __init__(self, file, deed=lambda: None):
        self.file, self.deed = file, deed

    def __call__(self, stimuli):
        with self.file.open("a") as calls:
            calls.write(f"{len(stimuli)}\n")
        if any(stimulus.inputs["u"][0] < 0 for stimulus in stimuli):
            self.deed()
        return [{"y": 2 * stimulus.inputs["u"]} for stimulus in stimuli]

    @property
    def calls(self):
        return [int(line) for line in self.file.read_text().split()]


def answers(function, values, batch=True, **options):
    box = FunctionSystem(function, inputs=["u"], outputs=["y"], name="box", batch=batch)
    with WorkerPool(box, judge, Execution(**options)) as pool:
        return list(pool.answers(queries(values)))


def robustness(found):
    return [a.judgements[0].robustness if a.ok else a.status for a in found]


def test_many_queries_are_one_call(tmp_path):
    doubler = Doubler(tmp_path / "calls")
    assert robustness(answers(doubler, range(100))) == [2.0 * v for v in range(100)]
    assert doubler.calls == [1, 64, 35]  # the first one alone: until it is ready nobody knows what a worker can


def test_workers_share_a_batch(tmp_path):
    doubler = Doubler(tmp_path / "calls")
    assert robustness(answers(doubler, range(41), jobs=2)) == [2.0 * v for v in range(41)]
    assert sum(doubler.calls) == 41 and len(doubler.calls) < 10 and max(doubler.calls) <= 20


def fail():
    raise ValueError("negative")


def die():
    os._exit(7)


def hang():
    signal.pause()


@pytest.mark.parametrize(
    ("deed", "status"),
    [
        (fail, SimulationStatus.RAISED),
        (die, SimulationStatus.DIED),
        (hang, SimulationStatus.TIMED_OUT),
    ],
)
def test_of_a_batch_that_fails_the_input_that_fails_is_known(tmp_path, deed, status):
    values = [0, 1, -2, 3]
    doubler = Doubler(tmp_path / "calls", deed)
    found = answers(doubler, values, time_limit=0.5)
    assert robustness(found) == [2.0 * v if v >= 0 else status for v in values]
    assert doubler.calls == [1, 3, 1, 1, 1]
    if deed is fail:
        assert found[2].message.startswith("ValueError: negative")


def test_after_a_failure_the_next_queries_are_together_again(tmp_path):
    doubler = Doubler(tmp_path / "calls", die)
    box = FunctionSystem(doubler, inputs=["u"], outputs=["y"], name="box", batch=True)
    with WorkerPool(box, judge) as pool:
        list(pool.answers(queries([0, 1, -2])))
        list(pool.answers(queries(range(10))))
    assert doubler.calls == [1, 2, 1, 1, 10]


def test_one_malformed_answer_is_that_of_its_query():
    def short(stimuli):
        return [{"y": s.inputs["u"][: 4 if s.inputs["u"][0] >= 0 else 3]} for s in stimuli]

    found = answers(short, [0, 1, -2, 3])
    assert robustness(found) == [0.0, 1.0, SimulationStatus.MALFORMED, 3.0]


def test_too_few_answers_are_no_answers():
    found = answers(lambda stimuli: [{"y": stimuli[0].inputs["u"]}], [0, 1, 2])
    assert robustness(found) == [0.0, 1.0, 2.0]  # one by one it answers rightly
    found = answers(lambda stimuli: [], [0])
    assert (
        found[0].status is SimulationStatus.MALFORMED and "expected 1 answers to 1 stimuli, got 0" in found[0].message
    )


def noise(stimuli, seeds):
    return [
        {"y": np.random.default_rng(seed).normal(size=len(s.times))} for s, seed in zip(stimuli, seeds, strict=True)
    ]


def one_noise(stimulus, seed):
    return noise([stimulus], [seed])[0]


def test_every_simulation_of_a_batch_has_its_own_seed():
    together = robustness(answers(noise, range(10)))
    assert together == robustness(answers(one_noise, range(10), batch=False)) and len(set(together)) == 10


def test_a_whole_falsification_is_the_same(tmp_path):
    file = tmp_path / "calls"

    def heaters(stimuli):
        with file.open("a") as calls:
            calls.write(f"{len(stimuli)}\n")
        return [heater_system(stimulus) for stimulus in stimuli]

    ports = {"inputs": {"heat": "1"}, "outputs": {"T": "degC"}}
    requirement = Requirement("R1", "", parse_stl("always[0:20](T <= 75)", signals=["T", "heat"]))
    options = Options(counterexamples=4, simulations=220, passes=2, traces=20)
    plain, batched = (
        falsify(box, heater.profile(), [requirement], horizon=20.0, seed=1, out=None, options=options)
        for box in (heater_system, FunctionSystem(heaters, batch=True, **ports))
    )
    assert plain.counterexamples == batched.counterexamples and plain.simulations == batched.simulations
    calls = [int(line) for line in file.read_text().split()]
    assert len(calls) < plain.simulations / 5 and max(calls) >= 40
