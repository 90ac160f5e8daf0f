"""Patterns of one action with conditions: its time, values in force, times without another action.

Where hardly two violating words are the same, a word shows nothing that others share, but a single action with its
circumstances may: "large_neg with T_out ≤ -7, no calm for 124".  Limits are chosen by the pattern's worth
(`limits_table.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bbfalsify.engines.falsification.modes.limits_table import LimitsTable, best_conditions
from bbfalsify.engines.falsification.modes.pattern import Free, Gap, Level, Pattern
from bbfalsify.engines.falsification.modes.use import Use

MOST_PLACES = 30
"""Places of the action in one use that are looked at, the first ones."""


def around(action: str, bad: Sequence[Use], good: Sequence[Use]) -> Pattern:
    """The pattern of one action that is worth most."""
    absent = {other for use in (*bad, *good) for other in use.standing} - {action}
    names = next((list(use.values) for use in bad), [])
    features: list[Gap | Level | Free] = [Gap(0), *(Level(name, 0) for name in names)]
    features += [Free(other, 0) for other in sorted(absent)]
    rows, numbers = [], []
    for number, use in enumerate((*bad, *good)):
        for place in use.places_of((action,))[:MOST_PLACES]:
            rows.append([feature.value(use, (place,)) for feature in features])
            numbers.append(number)
    values = np.array(rows).reshape(-1, len(features))
    return Pattern(
        (action,), tuple(best_conditions(LimitsTable.of(features, values, np.array(numbers, np.int64), bad, good)))
    )
