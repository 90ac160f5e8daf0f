"""The doctor: healthy systems are told so, and each illness is found."""

import itertools
import time

import numpy as np
import pytest

from bbfalsify.running.doctor.doctor import examine
from bbfalsify.systems import Capabilities, FunctionSystem, MachineSystem, Port, StepwiseSession, load_system
from bbfalsify.systems.symbols import MachineSession
from bbfalsify.testing import check_system

count = itertools.count()
memory = []


def accumulates(stimulus):
    """A healthy one: the integral of its input so far."""
    steps = np.append(0.0, np.diff(stimulus.times) * stimulus.inputs["u"][:-1])
    return {"y": np.cumsum(steps)}


def never_the_same(stimulus):
    return {"y": stimulus.times + next(count)}


def remembers(stimulus):
    """Reset does not reset: it starts where the last use with other inputs ended."""
    if not memory or memory[-1] != stimulus.inputs["u"][-1]:
        memory.append(stimulus.inputs["u"][-1])
    return {"y": stimulus.times + len(memory)}


def clairvoyant(stimulus):
    return {"y": stimulus.inputs["u"] + stimulus.times[-1]}


def fails_when_short(stimulus):
    return {"y": np.diff(stimulus.times)[0] + stimulus.inputs["u"]}


def hangs(stimulus):
    while True:
        time.sleep(1)


def silent(stimulus):
    return {"y": np.zeros_like(stimulus.times)}


def short(stimulus):
    return {"y": stimulus.times[:-1]}


def noisy(stimulus, seed):
    return {"y": np.random.default_rng(seed).normal(size=len(stimulus.times))}


def deaf_to_seeds(stimulus, seed):
    return accumulates(stimulus)


def box(function, **more):
    return FunctionSystem(function, inputs=["u"], outputs=["y"], **more)


def test_a_healthy_system():
    report = examine(box(accumulates))
    assert report.healthy and len(report.checks) == 4 and not report.remarks
    assert report.reset_s > 0 and report.step_s > 0 and report.uses == 8
    assert report.as_json()["healthy"] is True


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (never_the_same, "not so: it repeats"),
        (remembers, "not so: it forgets"),
        (clairvoyant, "not so: it is causal"),
        (fails_when_short, "with a single moment: raised, IndexError"),
        (short, "malformed, output 'y': expected"),
    ],
)
def test_each_illness_is_found(function, problem):
    report = examine(box(function))
    assert not report.healthy
    assert any(problem in p for p in report.problems), report.problems


def test_a_system_that_hangs_is_not_waited_for_eight_times():
    report = examine(box(hangs), time_limit_s=0.2)
    assert report.problems == ["in every use: timed out, no answer within 0.2 s"] and report.uses == 2


def test_evidence_is_given():
    report = examine(box(clairvoyant), duration=4.0)
    assert "With switching, cut at half, 'y' at 0 was 2 once and 4 another time." in report.problems[0]


def test_remarks():
    assert examine(box(silent)).remarks == ["output 'y' was 0 all the time"]
    assert examine(box(noisy)).healthy, "random, but the seed decides"
    assert examine(box(deaf_to_seeds)).remarks == ["it declares to be seedable, but another seed changed nothing"]


def test_a_grid_is_respected():
    seen = box(accumulates, capabilities=Capabilities(grid_period_s=0.5))
    assert examine(seen, duration=2.0).healthy


def test_a_step_is_kept_or_not():
    stairs = box(lambda stimulus: {"y": np.floor(stimulus.times / 0.5 + 1e-9) + stimulus.inputs["u"]}, step=0.5)
    report = examine(stairs, duration=2.0)
    assert report.healthy and "it keeps its step: outputs hold in between" in report.checks
    [problem] = examine(box(accumulates, step=0.5), duration=2.0).problems
    assert problem.startswith("not so: it keeps its step") and "'y' changed between" in problem
    assert examine(load_system("adapters/automatic_transmission")).healthy


def test_machines_and_their_illnesses(tmp_path):
    file = tmp_path / "m.dot"
    file.write_text('digraph g {\na -> b [label="x/0"];\nb -> a [label="x/1"];\n}')
    system = load_system("m.dot", base=tmp_path)
    assert isinstance(system, MachineSystem)
    assert check_system(system).kind == "symbols"

    class Leaky(MachineSystem):
        """One machine for all sessions: what the last one left is where the next one starts."""

        shared = None

        def open(self, seed):
            self.shared = self.shared or super().open(seed)
            return self.shared

    with pytest.raises(AssertionError, match="not fit for use:\nnot so: it repeats and forgets"):
        check_system(Leaky(system.machine))


class Integrator(StepwiseSession):
    """The integral of its input, step by step; `save` is right or forgets half of the state."""

    def __init__(self, saves=True):
        self.y = self.time = 0.0
        self.saves = saves

    def observe(self):
        return {"y": self.y + self.time}

    def step(self, inputs, duration_s):
        self.y += inputs["u"] * duration_s
        self.time += duration_s

    def save(self):
        return self.y, self.time

    def restore(self, state):
        self.y = state[0]
        if self.saves:
            self.time = state[1]

    def fork(self):
        other = Integrator()
        other.restore(self.save())
        return other


class Clinging(Integrator):
    """Its fork is no other session."""

    def fork(self):
        return self


class Stepped:
    name = "stepped"
    inputs, outputs = (Port("u"),), (Port("y"),)

    def __init__(self, session=Integrator, **abilities):
        self.session, self.capabilities = session, Capabilities(**abilities)

    def open(self, seed):
        return self.session()


def adds_up(stimuli):
    return [accumulates(stimulus) for stimulus in stimuli]


def spoils_others(stimuli):
    """Each answer starts where the one before ended."""
    answers = adds_up(stimuli)
    return [{"y": a["y"] + sum(b["y"][-1] for b in answers[:i])} for i, a in enumerate(answers)]


def noise_of(stimuli, seeds):
    return [noisy(stimulus, seed) for stimulus, seed in zip(stimuli, seeds, strict=True)]


def test_declared_abilities_are_tried():
    report = examine(box(adds_up, batch=True))
    assert report.healthy and any(c.startswith("it takes batches") for c in report.checks)
    assert examine(box(noise_of, batch=True)).healthy
    report = examine(Stepped(stepwise=True, snapshot=True))
    assert report.healthy and len(report.checks) == 6 and report.uses == 11
    report = examine(Stepped(stepwise=True, forkable=True))
    assert report.healthy and "it forks: a copy goes on with the same outputs" in report.checks


class Rounds(Integrator):
    """Whole signals are executed in another way than steps."""

    def execute(self, stimulus):
        return {"y": np.round(super().execute(stimulus)["y"], 1)}


@pytest.mark.parametrize(
    ("system", "problem"),
    [
        (box(spoils_others, batch=True), "not so: it takes batches"),
        (Stepped(batch=True), "with inputs switching (batch): raised, AttributeError: 'Integrator' object has no "
         "attribute 'execute_many'"),
        (Stepped(Rounds, stepwise=True), "not so: it goes step by step"),
        (Stepped(lambda: Integrator(saves=False), stepwise=True, snapshot=True), "not so: it saves and restores"),
        (box(accumulates, capabilities=Capabilities(snapshot=True)), "has no attribute 'observe'"),
        (Stepped(Clinging, stepwise=True, forkable=True), "not so: it forks"),
    ],
    ids=["batches", "no batches", "steps", "states", "no states", "forks"],
)  # fmt: skip
def test_abilities_that_are_only_declared(system, problem):
    report = examine(system)
    assert any(problem in p for p in report.problems), report.problems


def test_saved_states_of_machines(tmp_path):
    (tmp_path / "m.dot").write_text('digraph g {\na -> b [label="x/0"];\nb -> a [label="x/1"];\n}')
    system = load_system("m.dot", base=tmp_path)
    assert "it saves and restores: from a saved state, the same answers" in examine(system).checks

    class Forgetful(MachineSession):
        def restore(self, state):
            pass

    system.open = lambda seed: Forgetful(system.machine)
    assert "not so: it saves and restores" in examine(system).problems[0]

    class Siamese(MachineSession):
        def fork(self):
            return self

    system.open = lambda seed: Siamese(system.machine)
    assert "not so: it forks: what is done to a copy changes nothing" in examine(system).problems[0]
    session = MachineSession(system.machine)
    session.step("x")
    other = session.fork()
    assert (session.step("x"), session.step("x"), other.step("x")) == ("1", "0", "1")


def test_an_unknown_unit_is_a_remark():
    found = examine(FunctionSystem(accumulates, inputs={"u": "1"}, outputs={"y": "degCs"}), duration=1.0)
    assert found.healthy
    [remark] = [text for text in found.remarks if "unit" in text]
    assert remark.startswith("system 'accumulates', port 'y': unknown unit 'degCs'.") and "'degC'?" in remark
