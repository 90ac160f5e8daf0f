"""Answer how probable a violation of a closed loop is, by a method for rare events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Ask, AskUses
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.answered import Answered
from bbfalsify.engines.estimation.common_events import plainly_if_common
from bbfalsify.engines.estimation.importance import MOST_RUNS, RELATIVE, fitting, importance_sampling
from bbfalsify.engines.estimation.settings import OF_WORDS, EstimateSettings
from bbfalsify.engines.estimation.splitting import PassPlan
from bbfalsify.engines.estimation.tilted_uses import TiltedUses
from bbfalsify.engines.estimation.use_splitting import ProfileRuns, UseSplitting
from bbfalsify.engines.estimation.uses import Allowance, JudgedUses
from bbfalsify.engines.estimation.words import Words
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import supports_conditional


def answer_use(
    ask: Ask,
    usage: Usage,
    requirement: int,
    settings: EstimateSettings,
    seeds: SeedTree,
    go_on: Callable[[], bool],
    ask_uses: AskUses | None = None,
) -> Answered:
    """The probability that a use violates the requirement; what was reached when the budget was spent is told."""
    check_method(usage, settings.method)
    allowance = Allowance(ask, settings.runs or MOST_RUNS, ask_uses)
    name = f"{settings.method}/{requirement}"
    uses = JudgedUses(allowance, usage, requirement, name, ask_uses=allowance.uses)
    evidence: dict[str, Any]
    try:
        if settings.method == "splitting":
            plan = PassPlan(settings.passes, go_on, settings.relative, allowance.most)
            splitting = UseSplitting(
                ProfileRuns(uses), settings.splitting, settings.particles, plan, settings.confidence, seeds
            )
            found, warnings = splitting.estimate(), splitting.warnings()
            times = {"uses": round(uses.duration, 6), "simulated": round(uses.simulated, 6)}
            evidence = {"distinct_roots": splitting.passes.roots, "simulated_time": times}
        elif settings.method == "words" and (plain := _plainly(uses, settings, seeds, go_on)) is not None:
            (found, warnings), evidence = plain, {}
        elif settings.method in OF_WORDS:
            words = Words(uses, seeds, settings.confidence, settings.relative or RELATIVE, fitting(settings),
                          allowance.most, go_on, settings.method)  # fmt: skip
            found, warnings = words.estimate(), words.said
            evidence = {"words": {" ".join(word): part.as_json() for word, part in words.parts.items()}}
        else:
            tilting = importance_sampling(TiltedUses(uses), settings, seeds, go_on)
            found, warnings = tilting.estimate(), tilting.said
            evidence = {"effective_samples": round(tilting.effective, 1)}
    except BudgetSpent as spent:
        found, evidence = uses.plainly(settings.confidence), {}
        warnings = [f"stopped while preparing ({spent.reason.value}): only its first, plain uses are counted"]
    return Answered(found, None, False, allowance.used, found.method, warnings, evidence=evidence)


def _plainly(
    uses: JudgedUses, settings: EstimateSettings, seeds: SeedTree, go_on: Callable[[], bool]
) -> tuple[Estimate, list[str]] | None:
    relative, most = settings.relative or RELATIVE, settings.runs or MOST_RUNS
    return plainly_if_common(uses, most, relative, settings.confidence, seeds.child("plain"), go_on)


def check_method(usage: Usage, method: str) -> None:
    """Refuse a method that the profile does not allow."""
    reason = supports_conditional(usage.model) if method in ("conditional", "quasi_random") else None
    if method in OF_WORDS and not usage.profile.has_actions:
        reason = "it has no actions, so there are no words"
    if reason is not None:
        raise UserError(Problem(f"--method {method} does not support this profile: {reason}.", usage.profile.file,
                                allowed=("importance", "splitting")))  # fmt: skip
