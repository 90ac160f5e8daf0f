"""When `auto` goes on from plain simulation to a method for rare events: the rule, which method, and how many runs.

    plain simulation stops      by its confidence sequence, as ever; where a relative precision was asked for, already
                                after 10,000 runs (or a fifth of `runs`) of which fewer than 20 met it
    it goes on                  where none of its runs met it, or it stopped with too few; not where a bound was asked
                                about and decided, nor where the number of runs was fixed by the query
    with                        words         a system whose profile has actions
                                splitting     a model for which a score is given
                                importance    any other model or system
    by at most                  10 times as many runs as plain simulation made (of a model, at least 200,000), and no
                                more than `runs` in all

The runs of plain simulation are not used again, so that what they met does not bias what comes after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bbfalsify.core.estimate import NOT_ESTIMATED
from bbfalsify.engines.estimation.answered import Answered
from bbfalsify.engines.estimation.importance import NothingToTilt
from bbfalsify.engines.estimation.plain_rule import PlainRule
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.stats.sequential import Counts

MORE, OF_MODEL, FEWEST = 10, 200_000, 200
"""Runs of the second method for each plain one; the least that a model is allowed; the fewest that it is worth."""


def second_method(settings: EstimateSettings, has_actions: bool) -> str:
    if settings.horizon is None:
        return "importance" if settings.score is None else "splitting"
    return "words" if has_actions else "importance"


def second_settings(rule: PlainRule, counts: Counts, has_actions: bool = False) -> EstimateSettings | None:
    """The settings with which `auto` goes on after these plain runs; None where it has its answer, or no runs left."""
    settings = rule.settings
    answered = counts.hits > 0 and not rule.hopeless(counts)
    decided = rule.bound is not None and rule.verdict(counts) is not None
    if settings.method != "auto" or rule.samples is not None or not counts.trials or answered or decided:
        return None
    allowed = MORE * counts.trials
    if settings.horizon is None:
        allowed = max(allowed, OF_MODEL)
    if settings.runs is not None:
        allowed = min(allowed, settings.runs - counts.trials)
    if allowed < FEWEST:
        return None
    return replace(settings, method=second_method(settings, has_actions), runs=allowed)


def combined(
    plain: Answered, counts: Counts, second: EstimateSettings, go_on: Callable[[EstimateSettings], Answered]
) -> Answered:
    """The answer after both: that of the second method if it met anything, else the bound that the plain runs give."""
    try:
        more = go_on(second)
    except NothingToTilt:
        return plain
    assert plain.estimate is not None and more.estimate is not None
    met = "none" if not counts.hits else f"only {counts.hits}"
    said = f"{met} of {counts.trials} plain runs met it, so auto went on with --method {second.method}"
    runs = plain.runs + more.runs
    if more.estimate.none_seen or more.estimate.method == NOT_ESTIMATED:
        return replace(plain, runs=runs, warnings=[*plain.warnings, f"{said}, which says nothing more", *more.warnings])
    warnings, found = [said, *more.warnings], more.estimate
    if found.at_least:  # all of it is no more than the plain runs say
        found = replace(found, unseen=min(found.unseen, max(0.0, plain.estimate.high - found.high)))
    if found.low > plain.estimate.high:
        warnings.append(f"the two disagree: by the plain runs it is at most {plain.estimate.high:.3g}")
    return replace(more, estimate=found, runs=runs, warnings=warnings)
