"""The sampling grid of a run: chosen from the requirements and the system, and how far it may be refined.

In dense time a sample holds until the next one, so what happens between two samples is not judged.  A run without a
`period` of its own chooses one:

    the system's own step, where it declares one: nothing happens in between;
    else a hundredth of the duration, or a tenth of the shortest interval of a formula, whichever is less, reduced until
    every end of an interval is a sample.

More than `MOST_CHOSEN` samples are never chosen, only obeyed.  Whatever the period, findings and some passing runs are
judged again at a tenth of it (`engines/falsification/search/judging_again.py`), unless finer samples cannot change
a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from bbfalsify.core.errors import UserError
from bbfalsify.logic import Requirement
from bbfalsify.logic.stl.requirement import intervals
from bbfalsify.modelling import ComputedInput, Profile
from bbfalsify.systems import System
from bbfalsify.systems.interface import own_step

SAMPLES = 100
"""Samples of the whole duration, at least."""
WINDOW_SAMPLES = 10
"""Samples of the shortest interval, at least."""
MOST_CHOSEN = 10_000
"""Samples of the whole duration, at most, where the period is chosen or refined."""
MOST_SAMPLES = 10_000_000
"""More samples than this exceed memory and are surely a typo."""
FINER = 10
"""Each refinement, and each second judgement, takes so many samples for one."""


@dataclass(frozen=True)
class Grid:
    period: float
    finer: tuple[float, ...] = ()
    """Periods for second judgements, each a tenth of the one before (the last that the run may go over to may be a
    larger part); none where they cannot change a verdict."""
    refinements: int = 0
    """Number of them that may become the period of the run."""
    notes: tuple[str, ...] = ()


def choose_grid(
    system: System, profile: Profile, requirements: Sequence[Requirement], duration: float, period: float | None
) -> Grid:
    """The given period, which is never refined, or the one that requirements and system need."""
    if not duration > 0:
        return Grid(period or 1.0)
    step = own_step(system)
    notes: tuple[str, ...] = ()
    computed = {i.name for i in profile.inputs if isinstance(i, ComputedInput)}
    computed |= {signal.name for signal in profile.signals if signal.shape != "constant"}
    if any(computed & set(r.formula.signals) for r in requirements):
        step = None  # inputs that change all the time are judged, too
    given = period is not None
    if period is None:
        period, notes = _chosen(requirements, duration, step)
    if duration / period > MOST_SAMPLES:
        raise UserError(f"a period of {period:g} over {duration:g} makes more than {MOST_SAMPLES} samples.")
    if all(_is_exact(requirement, period, step) for requirement in requirements):
        return Grid(period, notes=notes)
    if given:
        return Grid(period, tuple(p for p in (period / FINER,) if duration / p <= MOST_SAMPLES))
    finer = _finer(period, duration, step)
    return Grid(period, finer, sum(duration / p <= MOST_CHOSEN for p in finer), notes)


def _is_exact(requirement: Requirement, period: float, step: float | None) -> bool:
    """True where samples between those of the period cannot change a verdict."""
    if requirement.time == "discrete":
        return requirement.period is None or _divides(period, requirement.period)
    return step is not None and _divides(period, step)


def _divides(period: float, whole: float) -> bool:
    return math.isinf(whole) or (whole >= period and abs(whole / period - round(whole / period)) < 1e-6)


def _finer(period: float, duration: float, step: float | None) -> tuple[float, ...]:
    """A tenth, a hundredth, … as far as refinement may go, and one more to judge that; never below the step."""
    periods = [period]
    while len(periods) == 1 or (duration / periods[-1] <= MOST_CHOSEN and periods[-1] != step):
        last = periods[-1]
        room = int(MOST_CHOSEN * last / duration * (1 + 1e-9))
        finer = last / (min(room, FINER) if room > 1 else FINER)
        if step is not None and finer < step < last:
            finer = step
        if duration / finer > MOST_SAMPLES:
            break
        periods.append(finer)
    return tuple(periods[1:])


def _chosen(requirements: Sequence[Requirement], duration: float, step: float | None) -> tuple[float, tuple[str, ...]]:
    """The period, and what a reader must know of it."""
    if step is not None and math.isfinite(step) and duration / step <= MOST_CHOSEN:
        return step, ()
    dense = [ends for r in requirements if r.time == "dense" for ends in intervals(r.formula)]
    sampled = [_exactly(r.period) for r in requirements if r.time == "discrete" and r.period is not None]
    if len(sampled) == len(requirements):
        return float(_common(sampled)), ()  # only these samples are looked at
    widths = [upper - lower for lower, upper in dense if 0 < upper - lower < math.inf]
    most = min([duration / SAMPLES, *(width / WINDOW_SAMPLES for width in widths)])
    bounds = sorted({_exactly(bound) for ends in dense for bound in ends if 0 < bound < math.inf})
    for missed in range(len(bounds) + 1):  # the smallest bounds ask for the shortest periods
        for grid in ([*bounds[missed:], _exactly(duration)], bounds[missed:]):
            period = _part(_common([*grid, *sampled]), most) if grid or sampled else most
            if duration / period <= MOST_CHOSEN:
                return period, _missed_ends(bounds[:missed], period)
    period = max(most, duration / MOST_CHOSEN)
    period = _part(_common(sampled), period) if sampled else period
    return period, (
        f"samples every {period:g} ({MOST_CHOSEN} in all) are too few for the shortest intervals of the formulas: give "
        "a shorter period, or declare the system's step",
    )


def _missed_ends(bounds: Sequence[Fraction], period: float) -> tuple[str, ...]:
    if not bounds:
        return ()
    shown = ", ".join(f"{float(bound):g}" for bound in bounds)
    return (
        f"the bounds {shown} of the formulas are no multiples of the sampling period {period:g}: that would take more "
        f"than {MOST_CHOSEN} samples",
    )


def _exactly(value: float) -> Fraction:
    """The decimal number that was written."""
    return Fraction(repr(float(value)))


def _common(values: Sequence[Fraction]) -> Fraction:
    """The largest number of which all are multiples."""
    return reduce(lambda a, b: Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator),
                                        a.denominator * b.denominator), values)  # fmt: skip


def _part(whole: Fraction, most: float) -> float:
    """A whole part of it, at most so large; a round one: the number of parts has no prime factors but 2 and 5."""
    least = max(1, math.ceil(float(whole) / most * (1 - 1e-12)))
    parts = min(
        two * five
        for two in (2**i for i in range(least.bit_length() + 1))
        for five in (5**i for i in range(least.bit_length() + 1))
        if two * five >= least
    )
    return float(whole / parts)
