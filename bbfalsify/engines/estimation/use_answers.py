"""Answer how probable a violation of a closed loop is, by a method for rare events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.answering import Answered
from bbfalsify.engines.estimation.importance import MOST_RUNS, RELATIVE, importance_sampling
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.engines.estimation.splitting import PassPlan
from bbfalsify.engines.estimation.tilted_uses import TiltedUses
from bbfalsify.engines.estimation.use_splitting import ProfileRuns, UseSplitting
from bbfalsify.engines.estimation.uses import JudgedUses
from bbfalsify.engines.estimation.words import Words
from bbfalsify.engines.falsification.usage import Usage


def answer_use(
    ask: Ask, usage: Usage, requirement: int, settings: EstimateSettings, seeds: SeedTree, go_on: Callable[[], bool]
) -> Answered:
    """The probability that a use violates the requirement; what was reached when the budget was spent is told."""
    uses = JudgedUses(ask, usage, requirement, f"{settings.method}/{requirement}")
    try:
        if settings.method == "splitting":
            plan = PassPlan(settings.passes, go_on, settings.relative, settings.runs or MOST_RUNS)
            splitting = UseSplitting(
                ProfileRuns(uses), settings.splitting, settings.particles, plan, settings.confidence, seeds
            )
            found, warnings = splitting.estimate(), splitting.warnings()
            evidence: dict[str, Any] = {"distinct_roots": splitting.passes.roots}
        elif settings.method == "words":
            words = Words(uses, seeds, settings.confidence, settings.relative or RELATIVE, settings.particles,
                          settings.runs or MOST_RUNS, go_on)  # fmt: skip
            found, warnings = words.estimate(), words.said
            evidence = {"words": {" ".join(word): part.as_json() for word, part in words.parts.items()}}
            return Answered(found, None, False, words.simulations, found.method, warnings, evidence=evidence)
        else:
            tilting = importance_sampling(TiltedUses(uses), settings, seeds, go_on)
            found, warnings = tilting.estimate(), tilting.said
            evidence = {"effective_samples": round(tilting.effective, 1)}
    except BudgetSpent as spent:
        found, evidence = uses.plainly(settings.confidence), {}
        warnings = [f"stopped while preparing ({spent.reason.value}): only its first, plain uses are counted"]
    return Answered(found, None, False, uses.asked, found.method, warnings, evidence=evidence)
