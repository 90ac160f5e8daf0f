"""The probability of any violation as a sum over words of actions, for violations that need a rare word.

    words := keys of the violations that tilted uses meet                          (`importance.py`)
    P(violation) ≈ Σ over words of P(follow the word) · P(violate in its last step | word)  +  P(violation, other word)

The first factor is exact where the law of every step depends on the word alone.  How the second is found has a name:

    words           a share of simulations, or, where that is small, importance sampling inside the word
                    (`tilted_words.py`), or splitting over levels of robustness where its weights have heavy tails
    conditional     passes of the conditional estimator only (`falsification/estimates/conditional.py`)
    quasi_random    the same with sorted particles and even random numbers; the passes are randomised anew

Violations with other words are estimated by importance sampling, unless none is met: then the sum is called "at least".

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
from bbfalsify.engines.estimation.uses import Allowance, JudgedUses
from bbfalsify.engines.estimation.word_runs import WordRuns
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, estimate_word
from bbfalsify.engines.falsification.estimates.exact import NotExact, exact_word

MOST_WORDS, CLOSEST = 30, 6
FEW_HITS = 100
"""With fewer violating traces than this, rare-event methods look inside the word."""
PASSES, TRACES = 10, 50
FEWEST = 500
"""Uses with which it is worth to look inside a word."""
KEPT = 2
"""Parts of the runs that are kept for other words, where each word still to come may take one."""

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
    inside: str = "words"
    """How the share of a word is found."""
    said: list[str] = field(default_factory=list)
    parts: dict[Key, Estimate] = field(default_factory=dict)
    """Each word with its probability."""

    def __post_init__(self) -> None:
        self._allowance = Allowance(self.uses.ask, self.most_runs, self.uses.ask_uses)
        self.uses.ask, self.uses.ask_uses = self._allowance, self._allowance.uses

    @property
    def simulations(self) -> int:
        return self._allowance.used

    def estimate(self) -> Estimate:
        source = TiltedUses(self.uses)
        tilts = self._tilting(source, "finding", self.most_runs // 2).trained()
        source.draw(tilts, 4 * self.particles, self.seeds.child("finding", "words"))
        # Where nothing was met, the words of the closest uses are tried: splitting may find violations inside them.
        met = self.uses.keys or dict(source.closest.most_common(CLOSEST))
        words = sorted(met, key=lambda key: (-met[key], key))[:MOST_WORDS]
        rest = self._tilting(source, "others", self._allowance.left)
        remainder = Estimate(1.0, 0.0, 1.0, self.confidence, NOT_ESTIMATED, 0)
        try:
            for number, key in enumerate(words):  # grows
                found = self._word(key, self._allowance.left // (len(words) - number + KEPT))
                if key in self.uses.keys or not found.none_seen:
                    self.parts[key] = found
                if not found.none_seen:
                    words += [other for other in self._siblings(key) if other not in words][: MOST_WORDS - len(words)]
            others = self.uses.without(self.parts, f"{self.uses.name}/others")
            # Those who look for other words need not work harder than all words together.
            most = min(self._allowance.left, self.simulations) if self.parts else self._allowance.left
            rest = self._tilting(TiltedUses(others), "others", most)
            if self.parts:
                rest.beside = sum(part.value for part in self.parts.values())
            remainder = rest.estimate()
        except BudgetSpent as spent:
            if not self.parts:
                raise
            self.said.append(f"stopped after {len(self.parts)} of {len(words)} words ({spent.reason.value})")
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
        try:
            for number, word in enumerate(words):
                part = self._word(word, self._allowance.left // (len(words) - number))
                if not part.none_seen:
                    self.parts[word] = part
        except BudgetSpent as spent:
            self.said.append(f"stopped after {len(self.parts)} of {len(words)} words ({spent.reason.value})")
        unknown = Estimate(1.0, 0.0, 1.0, self.confidence, NOT_ESTIMATED, 0)
        return self._sum(unknown, ()) if self.parts else None

    def _sum(self, remainder: Estimate, said: Sequence[str]) -> Estimate:
        known, unknown = list(self.parts.values()), remainder.method == NOT_ESTIMATED
        unseen = 0.0
        if unknown:
            self.said.append("violations with other words were not estimated: at least")
        elif remainder.none_seen:
            unseen = remainder.high
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
        if unknown:  # all violations together are no more than plain uses say
            unseen = max(0.0, self.uses.plainly(self.confidence).high - high)
        return Estimate(value, low, high, self.confidence, method, self.simulations, at_least=at_least, unseen=unseen)

    def _word(self, word: Key, most: int) -> Estimate:
        """The probability that a use follows the word and is first violated in its last step, by at most so many."""
        name, seeds = f"{self.uses.name}/word/{' '.join(word)}", self.seeds.child("word", *word)
        sampled, hits = self._passes(word, TRACES, name, seeds)
        if hits >= FEW_HITS and self._precise(sampled):
            return sampled
        most -= PASSES * TRACES
        if self.inside != "words":
            # As many as the first passes let expect, and new ones: passes that were looked at would be chosen ones.
            width = (sampled.high - sampled.low) / 2 / max(sampled.value, 1e-300) / self.relative
            traces = min(math.ceil(1.2 * TRACES * width**2), most // PASSES) if hits else most // PASSES
            return self._passes(word, traces, f"{name}/more", seeds.child("more"))[0] if traces > TRACES else sampled
        try:
            law = exact_word(self.uses.usage.model, word)
        except NotExact:
            return sampled
        share = self._share(word, name, seeds, most) if law.steps_agree else None
        if share is None:
            return sampled
        value, low, high = (law.cylinders[-1] * limit for limit in (share.value, share.low, share.high))
        return Estimate(value, low, high, self.confidence, f"exact product × {share.method}", share.samples)

    def _passes(self, word: Key, traces: int, name: str, seeds: SeedTree) -> tuple[Estimate, int]:
        """The estimate by passes along the word, and how many of their traces violate."""
        even, estimator = self.inside == "quasi_random", "auto" if self.inside == "words" else "conditional"
        plan = PassPlan(PASSES, traces, estimator, self.confidence, quasi_random=even)
        ask, ask_uses, usage, requirement = self.uses.ask, self.uses.ask_uses, self.uses.usage, self.uses.requirement
        found = estimate_word(ask, usage, word, plan, seeds, requirement=requirement, name=name, ask_uses=ask_uses)
        return found.probability, found.passes.total_hits

    def _precise(self, found: Estimate) -> bool:
        return found.high - found.low <= 2 * self.relative * found.value

    def _share(self, word: Key, name: str, seeds: SeedTree, most: int) -> Estimate | None:
        """The share of the uses of a word that violate in its last step: by tilts, or by splitting where they fail."""
        if most < FEWEST:
            return None
        own = self.uses.without((), f"{name}/tilted")
        tilting = self._tilting(TiltedWord(WordRuns(own, word, seeds)), name, most)
        found = tilting.estimate()
        if not found.none_seen and tilting.trusted:
            return found
        most -= own.asked
        if most < FEWEST:
            return None
        own = self.uses.without((), f"{name}/inside")
        own.ask = Allowance(own.ask, most)
        plan = passes.PassPlan(PASSES, self.go_on, self.relative, most)
        particles = max(50, self.particles // 5)
        runs = WordRuns(own, word, seeds)
        splitting = UseSplitting(runs, "fixed_effort", particles, plan, self.confidence, seeds.child("inside"))
        try:
            found = splitting.estimate()
        except BudgetSpent:  # in its pilot pass
            return None
        return None if found.none_seen or not found.value or found.method == NOT_ESTIMATED else found

    def _tilting(self, source: TiltedSource, name: str, most: int) -> ImportanceSampling:
        seeds = self.seeds.child(name)
        return ImportanceSampling(source, seeds, self.confidence, self.relative, self.particles, most, self.go_on)
