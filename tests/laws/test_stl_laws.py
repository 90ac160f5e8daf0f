"""Laws that hold for every formula and trace."""

import os
import pickle
import subprocess
import sys

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.core.verdict import Verdict
from bbfalsify.logic import Formula, parse_stl
from bbfalsify.logic.stl import piecewise_arrays
from bbfalsify.logic.stl.array_monitor import judge_once
from bbfalsify.logic.stl.formula import Not, nodes_of
from bbfalsify.logic.stl.stl_monitor import judge, judge_many
from tests.laws.stl_reference import Generator

KINDS = ("dense", "discrete")


def cases(seed, count, *, depth=3, most_samples=40):
    """(formula, times, signals, time); half of the traces have values exactly on the thresholds."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        time = KINDS[i % 2]
        generator = Generator(rng, unit=0.5, most=6, steps=time == "discrete")
        formula = Formula(generator.condition(depth))
        n = int(rng.integers(1, most_samples))
        gaps = np.full(n, 0.5) if time == "discrete" else rng.choice([0.1, 0.25, 0.5, 1.3], n)
        times = np.cumsum(gaps) - gaps[0]
        if i % 4 < 2:
            signals = {name: rng.integers(-3, 4, n).astype(float) for name in "xy"}
        else:
            signals = {name: np.cumsum(rng.normal(size=n)) for name in "xy"}
        yield formula, times, signals, time


def period(time):
    return 0.5 if time == "discrete" else None


def looks_back(formula):
    past = ("historically", "once", "since", "prev", "s_prev", "rise", "fall")
    return any(getattr(node, "operator", None) in past for node in nodes_of(formula.root))


def test_the_sign_of_the_robustness_never_contradicts_the_verdict():
    """Discrete robustness is cut at the end as in RTAMT: there, after the end nothing is remembered of the past."""
    for formula, times, signals, time in cases(1, 900):
        if time == "discrete" and looks_back(formula):
            continue
        found = judge(formula, times, signals, time=time, period=period(time))
        if found.robustness > 0:
            assert found.verdict is not Verdict.VIOLATED, formula
        if found.robustness < 0:
            assert found.verdict is not Verdict.SATISFIED, formula


def test_negation_negates():
    opposite = {
        Verdict.VIOLATED: Verdict.SATISFIED, Verdict.SATISFIED: Verdict.VIOLATED,
        Verdict.INCONCLUSIVE: Verdict.INCONCLUSIVE,
    }  # fmt: skip
    for formula, times, signals, time in cases(2, 300):
        found = judge(formula, times, signals, time=time, period=period(time))
        negated = judge(Formula(Not(formula.root)), times, signals, time=time, period=period(time))
        assert negated.robustness == -found.robustness
        assert negated.verdict is opposite[found.verdict]


def test_a_verdict_once_given_stays_and_a_violation_keeps_its_time():
    seen = set()
    for formula, times, signals, time in cases(3, 120, most_samples=20):
        last = None
        for n in range(1, len(times) + 1):
            part = {name: values[:n] for name, values in signals.items()}
            found = judge(formula, times[:n], part, time=time, period=period(time))
            if last is not None and last.verdict is not Verdict.INCONCLUSIVE:
                assert found.verdict is last.verdict, formula
                assert found.first_violation_time == last.first_violation_time, formula
            elif found.verdict is Verdict.VIOLATED and n > 1:
                assert times[n - 2] <= found.first_violation_time <= times[n - 1], formula
            seen.add((last and last.verdict, found.verdict))
            last = found
    assert (Verdict.INCONCLUSIVE, Verdict.VIOLATED) in seen and (Verdict.INCONCLUSIVE, Verdict.SATISFIED) in seen


def test_splitting_samples_changes_nothing_in_dense_time():
    """A trace sampled more often, with the values held, is the same trace."""
    for formula, times, signals, time in cases(4, 300):
        if time == "discrete":
            continue
        finer = np.sort(np.concatenate([times, (times[1:] + times[:-1]) / 2]))
        index = np.searchsorted(times, finer, side="right") - 1
        assert judge(formula, finer, {k: v[index] for k, v in signals.items()}) == judge(formula, times, signals), (
            formula
        )


def test_printing_and_parsing_and_pickling_come_back():
    for formula, _, _, _ in cases(6, 400, depth=4):
        assert parse_stl(str(formula), signals=["x", "y"]) == formula
        assert pickle.loads(pickle.dumps(formula)) == formula


SCRIPT = """
import pickle, sys
from tests.laws.test_stl_laws import cases, period
from bbfalsify.logic.stl.stl_monitor import judge
pickle.dump([judge(f, t, s, time=k, period=period(k)) for f, t, s, k in cases(7, 60)], sys.stdout.buffer)
"""


def test_compiled_and_plain_python_give_the_same():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    plain = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True).stdout
    here = [judge(f, t, s, time=k, period=period(k)) for f, t, s, k in cases(7, 60)]
    assert pickle.loads(plain) == here


def test_a_trace_judged_once_without_compiled_code_has_the_same_judgement(monkeypatch):
    """Bit by bit (text tells 0 from -0); in parts of a few pieces, too, as a million samples are judged."""
    for chunk in (piecewise_arrays.CHUNK, 3):
        monkeypatch.setattr(piecewise_arrays, "CHUNK", chunk)
        for seed in range(4):
            for formula, times, signals, time in cases(70 + seed, 200, depth=1 + seed):
                how = {"time": time, "period": period(time)}
                once, compiled = (repr(f(formula, times, signals, **how)) for f in (judge_once, judge))
                assert once == compiled, formula


def test_windows_longer_than_the_trace_and_bad_traces_are_judged_once_as_by_compiled_code():
    """In discrete time, with the period given or taken from the samples; complaints are the same, word for word."""

    def result(function, *arguments, **how):
        try:
            return repr(function(*arguments, **how))
        except UserError as error:
            return str(error)

    rng, seen = np.random.default_rng(79), set()
    for i in range(400):
        formula = Formula(Generator(rng, unit=0.5, most=(2, 30, 200)[i % 3], steps=True).condition(1 + i % 4))
        n = int(rng.choice([1, 2, 60]))
        times, signals = np.arange(n) * 0.5, {name: rng.integers(-3, 4, n).astype(float) for name in "xy"}
        if i % 10 == 0:
            times[n // 2] += 0.1
        if i % 25 == 0:
            signals["x"][n // 2] = np.nan
        how = {"time": "discrete", "period": (0.5, None)[i % 2]}
        once = result(judge_once, formula, times, signals, **how)
        assert once == result(judge, formula, times, signals, **how), formula
        seen |= {word for word in ("VIOLATED", "SATISFIED", "one sample every", "not a number") if word in once}
    assert len(seen) == 4


def test_robustness_is_never_minus_zero():
    trace = np.arange(2.0), {"x": np.zeros(2)}
    for text in ("not x <= 0", "always(not x <= 0)", "not(x <= 0 and x >= 0)"):
        for function in (judge_once, judge):
            for time in KINDS:
                assert str(function(parse_stl(text), *trace, time=time).robustness) == "0.0"
        [margin] = judge_many(parse_stl(text), trace[0], np.array([0, 2]), trace[1])[1]
        assert str(margin) == "0.0"
