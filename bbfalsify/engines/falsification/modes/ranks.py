"""Which assumption of the profile changes the rank of a failure mode.

The violating traces of a mode are weighted by exact likelihood ratios (`sensitivity.py`): that gives its probability as
a function of one weight or rate of the profile, without new simulations, and the factor at which it changes places with
a neighbour.  Violations that plain simulations met beside the list are not part of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bbfalsify.engines.falsification.estimates.sensitivity import Influence, influence_of_walks, swaps
from bbfalsify.engines.falsification.modes.estimating import EstimatedMode
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.modelling import Parameter, profile_parameters
from bbfalsify.results.falsify_insights import Swap

MOST_MODES = 5
MOST_WALKS = 30
"""Violating traces of one pass along one row that are weighted."""


def rank_changes(usage: Usage, modes: Sequence[EstimatedMode], confidence: float) -> dict[Pattern, Swap]:
    """For each mode, the smallest change of one parameter that makes it as probable as a neighbour in the ranking."""
    parameters = profile_parameters(usage.profile.network)
    if not parameters or len(modes) < 2:
        return {}
    influences = [_influence(usage, mode, parameters) for mode in modes[:MOST_MODES]]
    found: dict[Pattern, Swap] = {}
    for rank, (first, second) in enumerate(zip(influences, influences[1:], strict=False), start=1):
        if first is None or second is None:
            continue
        for swap in swaps(first, second, (rank, rank + 1), confidence)[:1]:
            for mode in modes[rank - 1 : rank + 1]:
                old = found.get(mode.pattern)
                if old is None or abs(math.log(swap.factor)) < abs(math.log(old.factor)):
                    found[mode.pattern] = swap
    return found


def _influence(usage: Usage, mode: EstimatedMode, parameters: Sequence[Parameter]) -> Influence | None:
    """Add up the influences over the rows of a mode, pass by pass."""
    parts = [
        influence_of_walks(usage.model, [walks[:MOST_WALKS] for walks in own], passes.values, parameters)
        for passes, own in mode.traces
        if any(own)
    ]
    if not parts or len({len(part.weights) for part in parts}) > 1:
        return None  # passes of different numbers do not add up
    weights = np.array([part.weights for part in parts])
    total = weights.sum(axis=0)
    shares = weights / np.where(total > 0, total, 1.0)
    return Influence(
        parts[0].parameters,
        total,
        np.einsum("pr,prn->rn", shares, np.array([part.scores for part in parts])),
        np.einsum("pr,prnf->rnf", shares, np.array([part.ratios for part in parts])),
        np.sum([part.effective for part in parts], axis=0),
        np.all([part.untouched for part in parts], axis=0),
        sum(part.traces for part in parts),
        True,
    )
