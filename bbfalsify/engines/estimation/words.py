"""The probability of any violation as a sum over words of actions, for violations that need a rare word.

    words := keys of the violations that tilted uses meet                          (`importance.py`)
    P(violation) ≈ Σ over words of P(follow the word) · P(violate in its last step | word)  +  P(violation, other word)

The first factor is exact where the law of every step depends on the word alone; the second is a share of simulations,
or, where that is small, splitting over levels of robustness inside the word.  Violations with other words are estimated
by importance sampling, unless none is met: then the sum is called "at least".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.importance import ImportanceSampling
from bbfalsify.engines.estimation.tilted_uses import TiltedUses
from bbfalsify.engines.estimation.use_splitting import UseSplitting
from bbfalsify.engines.estimation.uses import JudgedUses
from bbfalsify.engines.estimation.word_runs import WordRuns
from bbfalsify.engines.falsification.estimating import PassPlan, estimate_word
from bbfalsify.engines.falsification.exact import NotExact, exact_word

MOST_WORDS, CLOSEST = 30, 6
FEW_HITS = 100
"""With fewer violating traces than this, splitting looks inside the word."""
PASSES, TRACES = 10, 50

Key = tuple[str, ...]


@dataclass
class Words:
    uses: JudgedUses
    seeds: SeedTree
    confidence: float
    relative: float
    particles: int
    most_runs: int
    go_on: Callable[[], bool]
    said: list[str] = field(default_factory=list)
    parts: dict[Key, Estimate] = field(default_factory=dict)
    """Each word with its probability."""
    simulations: int = 0

    def estimate(self) -> Estimate:
        source = TiltedUses(self.uses)
        tilts = self._tilting(source, "finding").trained()
        source.draw(tilts, 4 * self.particles, self.seeds.child("finding", "words"))
        # Where nothing was met, the words of the closest uses are tried: splitting may find violations inside them.
        met = self.uses.keys or dict(source.closest.most_common(CLOSEST))
        for key, _ in sorted(met.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS]:
            found = self._word(key)
            if self.uses.keys or not found.none_seen:
                self.parts[key] = found
        others = self.uses.without(self.parts, f"{self.uses.name}/others")
        rest = self._tilting(TiltedUses(others), "others")
        remainder = rest.estimate()
        self.simulations += self.uses.asked + others.asked
        if not self.parts:
            self.said += rest.said
            return remainder
        return self._sum(remainder, rest)

    def _sum(self, remainder: Estimate, rest: ImportanceSampling) -> Estimate:
        known = list(self.parts.values())
        if remainder.none_seen:
            self.said.append(f"no use with another word violated: at least; those are at most {remainder.high:.2g}")
        else:
            known.append(remainder)
            self.said += [f"other words: {warning}" for warning in rest.said]
        value = sum(part.value for part in known)
        low = value - math.hypot(*(part.value - part.low for part in known))
        high = value + math.hypot(*(part.high - part.value for part in known))
        method = f"sum over {len(self.parts)} words" + (", at least" if remainder.none_seen else " and the remainder")
        return Estimate(value, max(0.0, low), min(1.0, high), self.confidence, method, self.simulations)

    def _word(self, word: Key) -> Estimate:
        """The probability that a use follows the word and is first violated in its last step."""
        name, seeds = f"{self.uses.name}/word/{' '.join(word)}", self.seeds.child("word", *word)
        plan = PassPlan(PASSES, TRACES, confidence=self.confidence)
        found = estimate_word(
            self.uses.ask, self.uses.usage, word, plan, seeds, requirement=self.uses.requirement, name=name
        )
        self.simulations += PASSES * TRACES
        if found.passes.total_hits >= FEW_HITS:
            return found.probability
        try:
            law = exact_word(self.uses.usage.model, word)
        except NotExact:
            return found.probability
        if not law.steps_agree:
            return found.probability
        own = self.uses.without((), f"{name}/inside")
        inside = UseSplitting(WordRuns(own, word, seeds), "fixed_effort", max(50, self.particles // 5), PASSES,
                              self.confidence, seeds.child("inside"), self.go_on)  # fmt: skip
        share = inside.estimate()
        self.simulations += own.asked
        if share.none_seen or not share.value:
            return found.probability
        cylinder = law.cylinders[-1]
        method = f"exact product × {share.method}"
        return Estimate(cylinder * share.value, cylinder * share.low, cylinder * share.high, self.confidence, method,
                        share.samples)  # fmt: skip

    def _tilting(self, source: TiltedUses, name: str) -> ImportanceSampling:
        return ImportanceSampling(
            source, self.seeds.child(name), self.confidence, self.relative, self.particles, self.most_runs,
            self.go_on,
        )  # fmt: skip
