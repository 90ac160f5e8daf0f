"""The probability of any violation as a sum over words of actions, for violations that need a rare word.

    words := keys of the violations that tilted uses meet                          (`importance.py`)
    P(violation) ≈ Σ over words of P(follow the word) · P(violate in its last step | word)  +  P(violation, other word)

The first factor is exact where the law of every step depends on the word alone; the second is a share of simulations,
or, where that is small, importance sampling inside the word (`tilted_words.py`), or splitting over levels of robustness
where the weights of that have heavy tails.  Violations with other words are estimated
by importance sampling, unless none is met: then the sum is called "at least".

A violation in the last step comes before the last action, so words that differ from a violating one in that action only
are looked at, too, whether tilted uses met them or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.estimate import AT_LEAST, NOT_ESTIMATED, Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation import splitting as passes
from bbfalsify.engines.estimation.importance import ImportanceSampling, TiltedSource
from bbfalsify.engines.estimation.tilted_uses import TiltedUses
from bbfalsify.engines.estimation.tilted_words import TiltedWord
from bbfalsify.engines.estimation.use_splitting import UseSplitting
from bbfalsify.engines.estimation.uses import JudgedUses
from bbfalsify.engines.estimation.word_runs import WordRuns
from bbfalsify.engines.falsification.estimating import PassPlan, estimate_word
from bbfalsify.engines.falsification.exact import NotExact, exact_word

MOST_WORDS, CLOSEST = 30, 6
FEW_HITS = 100
"""With fewer violating traces than this, rare-event methods look inside the word."""
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
        words = sorted(met, key=lambda key: (-met[key], key))[:MOST_WORDS]
        others, rest = self.uses, self._tilting(source, "others")
        remainder = Estimate(1.0, 0.0, 1.0, self.confidence, NOT_ESTIMATED, 0)
        try:
            for key in words:  # grows
                found = self._word(key)
                if key in self.uses.keys or not found.none_seen:
                    self.parts[key] = found
                if not found.none_seen:
                    words += [other for other in self._siblings(key) if other not in words][: MOST_WORDS - len(words)]
            others = self.uses.without(self.parts, f"{self.uses.name}/others")
            rest = self._tilting(TiltedUses(others), "others")
            if self.parts:
                rest.beside = sum(part.value for part in self.parts.values())
                rest.most_runs = min(self.most_runs, self.simulations + self.uses.asked)
            remainder = rest.estimate()
        except BudgetSpent as spent:
            if not self.parts:
                raise
            self.said.append(f"stopped after {len(self.parts)} of {len(words)} words ({spent.reason.value})")
        self.simulations += self.uses.asked + (0 if others is self.uses else others.asked)
        if not self.parts:
            self.said += rest.said
            return remainder
        return self._sum(remainder, rest.said)

    def _siblings(self, word: Key) -> Iterator[Key]:
        """Possible words with another last action."""
        model = self.uses.usage.model
        for action in dict.fromkeys(model.actions):
            other = (*word[:-1], action)
            try:
                possible = exact_word(model, other).cylinders[-1] > 0
            except NotExact:
                return
            if possible:
                yield other

    def sum_over(self, words: Sequence[Key]) -> Estimate | None:
        """The probability of these words alone, which is at least so much; None where none of them is seen."""
        found = ((word, self._word(word)) for word in words)
        self.parts = {word: part for word, part in found if not part.none_seen}
        unknown = Estimate(1.0, 0.0, 1.0, self.confidence, NOT_ESTIMATED, 0)
        return self._sum(unknown, ()) if self.parts else None

    def _sum(self, remainder: Estimate, said: Sequence[str]) -> Estimate:
        known, unknown = list(self.parts.values()), remainder.method == NOT_ESTIMATED
        if unknown:
            self.said.append("violations with other words were not estimated: at least")
        elif remainder.none_seen:
            self.said.append(f"no use with another word violated: at least; those are at most {remainder.high:.2g}")
        else:
            known.append(remainder)
            self.said += [f"other words: {warning}" for warning in said]
        value = sum(part.value for part in known)
        low = value - math.hypot(*(part.value - part.low for part in known))
        high = value + math.hypot(*(part.high - part.value for part in known))
        at_least = unknown or remainder.none_seen
        method = f"sum over {len(self.parts)} words" + (f", {AT_LEAST}" if at_least else " and the remainder")
        low, high = max(0.0, low), min(1.0, high)
        return Estimate(value, low, high, self.confidence, method, self.simulations, at_least=at_least)

    def _word(self, word: Key) -> Estimate:
        """The probability that a use follows the word and is first violated in its last step."""
        name, seeds = f"{self.uses.name}/word/{' '.join(word)}", self.seeds.child("word", *word)
        plan = PassPlan(PASSES, TRACES, confidence=self.confidence)
        found = estimate_word(
            self.uses.ask, self.uses.usage, word, plan, seeds, requirement=self.uses.requirement, name=name
        )
        self.simulations += PASSES * TRACES
        sampled = found.probability
        if found.passes.total_hits >= FEW_HITS and sampled.high - sampled.low <= 2 * self.relative * sampled.value:
            return sampled
        try:
            law = exact_word(self.uses.usage.model, word)
        except NotExact:
            return sampled
        share = self._share(word, name, seeds) if law.steps_agree else None
        if share is None:
            return sampled
        value, low, high = (law.cylinders[-1] * limit for limit in (share.value, share.low, share.high))
        return Estimate(value, low, high, self.confidence, f"exact product × {share.method}", share.samples)

    def _share(self, word: Key, name: str, seeds: SeedTree) -> Estimate | None:
        """The share of the uses of a word that violate in its last step: by tilts, or by splitting where they fail."""
        own = self.uses.without((), f"{name}/tilted")
        tilting = self._tilting(TiltedWord(WordRuns(own, word, seeds)), name)
        found = tilting.estimate()
        self.simulations += own.asked
        if not found.none_seen and tilting.trusted:
            return found
        if self.simulations >= self.most_runs:
            return None
        own = self.uses.without((), f"{name}/inside")
        plan = passes.PassPlan(PASSES, self.go_on, self.relative, self.most_runs)
        particles = max(50, self.particles // 5)
        runs = WordRuns(own, word, seeds)
        found = UseSplitting(runs, "fixed_effort", particles, plan, self.confidence, seeds.child("inside")).estimate()
        self.simulations += own.asked
        return None if found.none_seen or not found.value or found.method == NOT_ESTIMATED else found

    def _tilting(self, source: TiltedSource, name: str) -> ImportanceSampling:
        return ImportanceSampling(
            source, self.seeds.child(name), self.confidence, self.relative, self.particles, self.most_runs,
            self.go_on,
        )  # fmt: skip
