"""The doctor: healthy systems are told so, and each illness is found."""

import itertools

import numpy as np
import pytest

from bbfalsify.running.doctor import examine
from bbfalsify.systems import Capabilities, FunctionSystem, MachineSystem, load_system
from bbfalsify.testing.systems import check_system

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
