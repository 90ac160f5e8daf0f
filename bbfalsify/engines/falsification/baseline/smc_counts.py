"""Counts of plain simulation in bounded memory, and what follows from them: the baseline of a falsification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Answer
from bbfalsify.core.settings import Settings, setting
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.falsification.coverage import Visits
from bbfalsify.engines.falsification.settings import FalsifySettings
from bbfalsify.kernel import Walk
from bbfalsify.results.falsify_insights import Baseline, Key, Met
from bbfalsify.results.self_check import Meetings
from bbfalsify.stats.estimates import bounded_by_part, share_explained
from bbfalsify.stats.rules import KINDS
from bbfalsify.stats.sequential import ConfidenceSequence, Counts, StoppingRule

KEPT_TIMES = 10_000
"""Times of first violation kept per requirement; of more, a uniform sample."""
KEPT_KEYS = 10_000
"""Distinct keys counted per requirement, besides those that are watched."""
LITTLE = 0.05
"""A share between less than this and 1 is as good as unknown."""


class SmcOptions(Settings):
    """When plain simulation stops; `StoppingRule` explains the first four."""

    rule: str = setting("The stopping rule.", default="sequence", choices=KINDS)
    epsilon: float | None = setting("Wanted half width of the interval.", default=None, above=0)
    relative: float | None = setting("Wanted half width as a share of the estimate.", default=None, above=0)
    confidence: float = setting("Confidence of the interval.", default=0.95, above=0, at_most=1)
    simulations: int | None = setting(
        "Stop after so many, however wide the interval; None: only the rule stops.",
        default=FalsifySettings.smc_simulations,
        at_least=0,
    )
    batch: int = setting(
        "Simulations between two looks at the interval, whatever the number of workers.", default=100, at_least=1
    )
    growth: float = setting(
        "Share of the simulations so far after which the next look comes, if that is more than `batch`.",
        default=0.0, at_least=0, internal=True,
    )  # fmt: skip

    @staticmethod
    def of(engine: FalsifySettings) -> SmcOptions | None:
        """Make the options that the settings `smc…` of an engine ask for; None without `smc`."""
        if engine.smc == "none":
            return None
        epsilon = engine.smc_epsilon if engine.smc_relative is None else None
        return SmcOptions(
            rule=engine.smc, epsilon=epsilon, relative=engine.smc_relative, simulations=engine.smc_simulations
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.stopping  # noqa: B018  refuses what does not go together

    @cached_property
    def stopping(self) -> StoppingRule:
        return StoppingRule(self.rule, self.epsilon, self.relative, self.confidence)


OnAnswer = Callable[[Walk, Answer], None]
"""Called with each walk that was executed, and its answer."""


@dataclass
class Tally:
    """One requirement's counts, in bounded memory."""

    hits: int = 0
    failed: int = 0
    """Simulations without a verdict."""
    keys: Counter[Key] = field(default_factory=Counter)
    """How often each key was met, as far as there is room; watched keys are here from the start."""
    other_keys: int = 0
    """Violations whose key found no room, or is not known."""
    unlocated: int = 0
    """Of those, simulations that failed: nobody saw when."""
    times: list[float] = field(default_factory=list)
    """Times of first violation: all of them, or a uniform sample of KEPT_TIMES."""

    def violated(self, key: Key | None, time: float, rng: np.random.Generator) -> None:
        if key is None:
            self.other_keys += 1
            self.unlocated += 1
        elif key in self.keys or len(self.keys) < KEPT_KEYS:
            self.keys[key] += 1
        else:
            self.other_keys += 1
        if len(self.times) < KEPT_TIMES:
            self.times.append(time)
        elif (place := int(rng.integers(self.hits + 1))) < KEPT_TIMES:
            self.times[place] = time  # reservoir sampling: each violation so far is kept with the same probability
        self.hits += 1


@dataclass
class Progress:
    """State of a run, updated in place, so that Ctrl-C keeps it."""

    tallies: list[Tally] = field(default_factory=list)
    iterations: int = 0
    zeno_walks: int = 0
    """Walks that stood still; not simulated, and without a verdict."""
    visits: Visits = field(default_factory=Visits)
    """Parts of the profile that the walks have used."""
    statuses: dict[str, int] = field(default_factory=dict)
    names: str = "smc"
    """The beginning of the names of the queries."""
    stopped: StopReason | None = None
    on_answer: OnAnswer | None = None
    tilted: dict[int, Estimate] = field(default_factory=dict)
    """By requirement, where plain simulation met too few: the probability of any violation by importance sampling, or
    of the listed words together, which is at least so much."""

    def counts(self, requirement: int) -> Counts:
        if not self.tallies:
            return Counts()
        tally = self.tallies[requirement]
        return Counts(tally.hits, self.iterations, tally.failed)

    def meetings(self, requirement: int, key: Key) -> Meetings:
        """How often a watched key was met."""
        if not self.tallies:
            return Meetings()
        tally = self.tallies[requirement]
        return Meetings(tally.keys[key], self.iterations, tally.failed + tally.unlocated)

    def baseline(
        self,
        requirement: int,
        options: SmcOptions,
        *,
        found: Iterable[Key] | None = None,
        found_probability: Estimate | None = None,
    ) -> Baseline:
        """Return the results so far; `found` must not come from this run, or `met_share` would be biased."""
        counts = self.counts(requirement)
        tally = self.tallies[requirement] if self.tallies else Tally()
        probability, share, unknown = options.stopping.estimate(counts), None, ""
        part, tilted = found_probability, self.tilted.get(requirement)
        weighed = found_probability is not None and tilted is not None and not tilted.at_least
        if found_probability is not None and tilted is not None and weighed:
            probability = _at_least(tilted, found_probability)
            share = share_explained(found_probability, probability)
        elif found_probability is not None:
            share, unknown = _explained(found_probability, probability, counts.hits)
            part = tilted or found_probability
        if part is not None and unknown and part.low > 0:
            probability = bounded_by_part(probability, part)
        met = {key: count for key, count in tally.keys.items() if count}
        keys = None if found is None else list(dict.fromkeys(found))
        # A key that found no room may have been met; watching it avoids that.
        known = [key for key in keys or () if (key in tally.keys or not tally.other_keys) and not tally.unlocated]
        direct = keys is not None and len(known) == len(keys)
        return Baseline(
            probability=probability,
            by_importance=weighed,
            violations=counts.hits,
            failed=counts.failed,
            simulations=counts.trials,
            met=tuple(Met(*item) for item in sorted(met.items(), key=lambda item: (-item[1], len(item[0]), item[0]))),
            other_keys=tally.other_keys,
            violation_times=tuple(sorted(tally.times)),
            never_met=tuple(key for key in known if key not in met),
            explained=share,
            share_unknown=unknown,
            met_share=_share(sum(met.get(key, 0) for key in known), counts.hits, options) if direct else None,
        )


def _explained(found: Estimate, anything: Estimate, hits: int) -> tuple[Estimate | None, str]:
    """Return the share of all violations that the list accounts for, or why it is unknown."""
    share = share_explained(found, anything)
    if not hits:
        bound = f", so it is at least {share.low:.0%}" if share.low >= LITTLE else ""
        return None, f"plain simulation met none{bound}"
    if share.high >= 1 and share.low < LITTLE:
        return None, f"plain simulation met only {hits}"
    return share, ""


def _at_least(whole: Estimate, part: Estimate) -> Estimate:
    """The whole, which is no less probable than its part."""
    low = max(whole.low, part.low)
    high = max(whole.high, low)
    return replace(whole, value=min(high, max(low, whole.value)), low=low, high=high)


def _share(explained: int, violations: int, options: SmcOptions) -> Estimate:
    """Estimate a share of the violations: given a violation, its key is a fresh draw, so they form Bernoulli trials."""
    low, high = ConfidenceSequence(options.confidence).interval(explained, violations)
    value = explained / violations if violations else high
    return Estimate(value, low, high, options.confidence, "confidence sequence over the violations met", violations)
