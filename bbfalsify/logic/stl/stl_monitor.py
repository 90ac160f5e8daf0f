"""Judge traces: verdict, robustness, time of the violation, vacuity.

    judge(parse_stl("always[0:20](T <= 75)"), times, {"T": values})

VIOLATED and SATISFIED are final, whatever follows the trace: a window that reaches past the last sample leaves the
verdict INCONCLUSIVE unless what was seen already decides it.  (Certainty is that of Kleene's three-valued logic, so
`p or not p` about an unseen moment is not recognised as true.)  The verdict never looks at the robustness: `T <= 75`
is satisfied at exactly 75 and `T < 75` is violated, though both have robustness 0.

Formulas are judged at the first sample.  Dense time: a sample's values hold until the next sample.  Discrete time:
only the samples count, they must be one period apart, and bounds must be multiples of the period.  See `program.py`
for vacuity.  `array_monitor.py` judges a single trace without compiled code.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.core.verdict import VERDICTS, Judgement, Verdict
from bbfalsify.logic.stl.dense import is_sound, judge_dense, robustness_dense
from bbfalsify.logic.stl.discrete import judge_discrete
from bbfalsify.logic.stl.formula import Compare, Formula, Number, Reach, Signal, Window
from bbfalsify.logic.stl.program import Program, atom_values, compile_formula
from bbfalsify.logic.stl.requirement import MONITORS, dense_problems
from bbfalsify.logic.stl.traces import Signals, judgement, sample_bounds, trace_problems


def judge(
    formula: Formula, times: np.ndarray, signals: Signals, *, time: str = "dense", period: float | None = None
) -> Judgement:
    """Judge one trace; `period` (discrete time) is taken from the samples if not given."""
    program = compile_formula(formula)
    times, margins, truths = _prepared(formula, program, times, signals)
    if time == "dense":
        if formula.discrete_only:
            raise UserError(dense_problems(formula))
        found = _judged(program, times, np.array([0, len(times)]), margins, truths)
        robustness, true_at, false_at, violated, occurred = found[0].tolist()
    elif time == "discrete":
        lower, upper = sample_bounds(formula, program, times, period)
        found = judge_discrete(margins, truths, (*program.table[:3], lower, upper, program.table[5]))
        robustness, true_at, false_at = found[program.root, :, 0].tolist()
        occurred = float(found[program.trigger, 1, 0]) if program.trigger >= 0 else -math.inf
        violated = math.inf if false_at == math.inf else float(times[max(0, int(max(false_at, 0.0)))])
    else:
        raise ValueError(f"time is 'dense' or 'discrete', not {time!r}")
    return judgement(robustness, true_at, false_at, violated, occurred)


def judge_many(
    formula: Formula, times: np.ndarray, offsets: np.ndarray, signals: Signals
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Judge traces in dense time that stand one after the other: places in `VERDICTS`, robustness, first violations.

    None where a signal is missing or a comparison undefined: `judge` says of one trace what is wrong with it.
    """
    if not all(name in signals for name in formula.signals):
        return None
    times = _writable(times)
    program = compile_formula(formula)
    values = {name: np.ascontiguousarray(signals[name], np.float64) for name in formula.signals}
    margins, truths = atom_values(program.atoms, values, len(times))
    if np.isnan(margins).any():
        return None
    found = _judged(program, times, offsets, margins, truths)
    verdicts = np.full(len(found), VERDICTS.index(Verdict.INCONCLUSIVE), np.int8)
    verdicts[found[:, 1] < math.inf] = VERDICTS.index(Verdict.SATISFIED)
    verdicts[found[:, 2] < math.inf] = VERDICTS.index(Verdict.VIOLATED)
    return verdicts, found[:, 0] + 0.0, found[:, 3]  # + 0.0: never -0, as of one trace


def _judged(
    program: Program, times: np.ndarray, offsets: np.ndarray, margins: np.ndarray, truths: np.ndarray
) -> np.ndarray:
    """Quantities of each trace in dense time; see `judge_dense`."""
    found = np.empty((len(offsets) - 1, 5))
    judge_dense(times, offsets, margins, truths, program.table, program.seldom, program.root, program.trigger, found)
    return found


def robustness_over_time(formula: Formula, times: np.ndarray, signals: Signals) -> tuple[np.ndarray, np.ndarray]:
    """Robustness of the body of the outermost always or eventually, as steps in dense time.

    (The robustness of a whole `always` only ever falls towards time 0, and does not show the time of a violation.)
    Entry i holds from its time until the next; the last time is that of the last sample.
    """
    body = formula.root
    if isinstance(body, Window) and body.operator in ("always", "eventually"):
        body = body.body
    inner = Formula(body)
    if inner.discrete_only:
        raise UserError(dense_problems(inner))
    program = compile_formula(inner)
    times, margins, truths = _prepared(inner, program, times, signals)
    only_robustness = (*program.table[:5], program.table[5] & 1)
    keys, levels, scale, last = robustness_dense(times, margins, truths, only_robustness, program.seldom, program.root)
    inside = keys <= 2 * last
    keys, levels = keys[inside], levels[inside]
    moments = times[0] + (keys >> 1) / scale
    # A value held only for an instant shares its time with the one after it; the lower of the two is shown.
    instant = np.flatnonzero(np.diff(keys >> 1) == 0)
    levels[instant + 1] = np.minimum(levels[instant], levels[instant + 1])
    moments, levels = np.delete(moments, instant), np.delete(levels, instant)
    if moments[-1] < times[-1]:
        moments, levels = np.append(moments, times[-1]), np.append(levels, levels[-1])
    return moments, levels


def _writable(times: np.ndarray) -> np.ndarray:
    """Times as compiled code takes them: for arrays that cannot be written it would be compiled again."""
    return np.require(times, np.float64, ["C", "W"])


def _prepared(
    formula: Formula, program: Program, times: np.ndarray, signals: Signals
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute times, margins and truth of every comparison, or raise a `UserError` with all mistakes of the trace."""
    times = _writable(times)
    values = {name: np.asarray(signals[name], np.float64) for name in formula.signals if name in signals}
    if len(values) == len(formula.signals) and all(value.shape == times.shape for value in values.values()):
        margins, truths = atom_values(program.atoms, values, len(times))
        if is_sound(times, margins):
            return times, margins, truths
    raise UserError(trace_problems(formula, program, times, signals))


def warm_up(monitors: Collection[str] = MONITORS) -> None:
    """Compile (or load from the cache) everything that these monitors need, whatever the formula."""
    positive = Compare(">=", Signal("x"), Number(0.0))
    future, until = Window("always", 0.0, 1.0, positive), Reach("until", 0.0, 1.0, positive, positive)
    for monitor in monitors:
        formula = Formula(until if monitor == "dense, seldom" else future)
        judge(formula, np.array([0.0, 1.0]), {"x": np.zeros(2)}, time=monitor.partition(",")[0])
