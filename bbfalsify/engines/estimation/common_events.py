"""Plain simulation in place of a sum over words, where the violation turns out to be common.

A sum over words takes passes for each word, and a common violation has dozens of words; a share of plain uses then says
the same for a fraction of the cost.  A first look decides; where it leaves that open, a longer one.  The confidence
sequence is valid whatever made us stop, so the uses of the looks count.
"""

from __future__ import annotations

from collections.abc import Callable

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.uses import JudgedUses
from bbfalsify.stats.sequential import Counts, StoppingRule

LOOK, COMMON = 100, 10
"""Uses of the first look, and violations among them that make plain simulation cheaper than a sum over words."""
LONGER, OPEN, OFTEN = 1000, 3, 20
"""Uses of both looks together, violations of the first that call for the second, and of both that are common."""
_BATCH, _GROWTH = 1000, 10
"""Uses between two looks at least, and the part of all uses that they are."""


def plainly_if_common(
    uses: JudgedUses, most: int, relative: float, confidence: float, seeds: SeedTree, go_on: Callable[[], bool]
) -> tuple[Estimate, list[str]] | None:
    """The estimate by plain uses with what is to be said about it; None where the violation is not common."""
    if most < 10 * LOOK:
        return None
    rule, counts, size = StoppingRule("sequence", None, relative, confidence), Counts(), LOOK
    while size > 0 and go_on():
        try:
            met, unknown = uses.plain_violations(seeds.child(counts.trials).words(size))
        except BudgetSpent:
            break
        counts = Counts(counts.hits + int(met.sum()), counts.trials + size, counts.failed + unknown)
        if counts.hits < (COMMON if counts.trials < LONGER else OFTEN):
            if counts.trials >= LONGER or counts.hits < OPEN or most < 10 * LONGER:
                return None
            size = LONGER - counts.trials
            continue
        if rule.reached(counts):
            return rule.estimate(counts), [_said(counts)]
        size = min(max(_BATCH, counts.trials // _GROWTH), most - counts.trials)
    if not counts.hits:
        return None
    return rule.estimate(counts), [
        _said(counts),
        f"stopped after {counts.trials} uses, before the precision was reached",
    ]


def _said(counts: Counts) -> str:
    return f"the violation is common ({counts.hits} of {counts.trials} plain uses), so words are not summed"
