"""Values that last: a computed input stays low, or high, for a while, whenever it comes.

Actions steer such an input only from afar: many spells of weather move the temperature outdoors, and a heating fails
when that stays below -31.5 for 24, whichever spells led there.  Where hardly two violating words are the same, this
says more than their actions do:

    Lasting("T_out", 24, "greatest")  ≤ -31.5      at some time T_out ≤ -31.5 for 24

Inputs are looked at on a regular grid.  Limits are chosen by the pattern's worth (`limits_table.py`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from bbfalsify.engines.falsification.modes.limits_table import LimitsTable, best_conditions
from bbfalsify.engines.falsification.modes.pattern import Lasting, Pattern
from bbfalsify.engines.falsification.modes.use import Use

MOST_USES = 1_000
"""Violating uses whose inputs are looked at, and so many that pass."""
LENGTHS = (1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
"""How long a value may last, in steps of the grid rounded down to a power of ten."""


def what_lasts(bad: Sequence[Use], good: Sequence[Use]) -> Pattern:
    """The pattern of lasting values that is worth most; one that any use matches where no input is computed."""
    features = list(_features(bad)) if bad and good else []
    if not features:
        return Pattern(())
    uses = (*bad, *good)
    signals = (use.regular() for use in uses)
    values = np.array([[feature.among(known, uses[0].step) for feature in features] for known in signals])
    table = LimitsTable.of(features, values, np.arange(len(uses)), bad, good)
    return Pattern((), tuple(best_conditions(table)))


def some_of(uses: Sequence[Use]) -> list[Use]:
    """Every second, third, … use if there are too many to look at their inputs."""
    step = -(-len(uses) // MOST_USES) or 1
    return [replace(use, weight=use.weight * step) for use in uses[::step]] if step > 1 else list(uses)


def _features(uses: Sequence[Use]) -> Iterator[Lasting]:
    step, longest = uses[0].step, max(min(use.violated_at, use.end) for use in uses) / 2
    unit = 10.0 ** math.floor(math.log10(step))
    lengths = [float(f"{unit * length:g}") for length in LENGTHS if step <= unit * length <= longest]
    for name, length in itertools.product(uses[0].regular(), lengths):
        yield from (Lasting(name, length, extreme) for extreme in ("least", "greatest"))
