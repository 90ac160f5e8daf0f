"""Order of a list of counterexamples: most probable first, without the winner's curse.

The largest of many similar estimates is too large on average: it is the largest because chance was on its side (the
winner's curse), and its interval covers too seldom.  So rows whose intervals overlap are ordered by further passes of
their own, a quarter as many.  The numbers that are reported have no part in that order, so their mean and coverage are
the same at every rank; in return, numbers of such a group need not descend.  A row whose interval overlaps no other has
its rank by more than luck, and needs no further pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, estimate
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.usage import Usage

PART = 4
"""One further pass for so many."""


def ranking(rows: Sequence[Finding]) -> list[Finding]:
    """The rows of one requirement in their order; what was never met in the estimation comes last.

    Rows that are possible only at exact moments follow even those.
    """
    order = [row for group in close_rows(rows) for row in _ordered(group)]
    return order + sorted((row for row in rows if not row.met), key=lambda row: (row.exact_moments, _by_value(row)))


def close_rows(rows: Sequence[Finding]) -> list[list[Finding]]:
    """The rows that were met, in groups whose intervals overlap (perhaps by way of others), highest group first."""
    groups: list[list[Finding]] = []
    lowest = 0.0
    for row in sorted((row for row in rows if row.met), key=_by_upper_limit):
        probability = row.estimated.probability
        if groups and probability.high >= lowest:
            groups[-1].append(row)
            lowest = min(lowest, probability.low)
        else:
            groups.append([row])
            lowest = probability.low
    return groups


def _ordered(group: list[Finding]) -> list[Finding]:
    """By their own further passes; by value where the run was stopped before it had made them all."""
    return sorted(group, key=_by_value if any(row.ordering is None for row in group) else _by_ordering)


def _by_upper_limit(row: Finding) -> tuple:
    return -row.estimated.probability.high, row.actions


def _by_value(row: Finding) -> tuple:
    return -row.estimated.probability.value, len(row.actions), row.actions


def _by_ordering(row: Finding) -> tuple:
    """Sort by the further passes; rows that none of them met by the probability of their actions, not by value."""
    passes, actions = row.ordering, row.actions
    assert passes is not None
    return -float(passes.values.mean()), -sum(passes.cylinders), len(actions), actions


def further_passes(passes: int) -> int:
    """How many passes order a row that was estimated by so many."""
    return -(-passes // PART)


def order_row(ask: Ask, usage: Usage, row: Finding, plan: PassPlan, seeds: SeedTree) -> None:
    """Make the further passes of a row; `plan` is that of its estimate."""
    fewer = replace(plan, passes=further_passes(plan.passes), columns=(), fan=0)
    row.ordering = estimate(ask, usage, row, fewer, seeds, "order").passes
