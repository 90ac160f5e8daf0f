"""The pool of a search for probable counterexamples: every word considered, with the results of runs along it.

A word's *mass* is the probability of its event, "the run follows a1…ak and is first violated in step k".  The search
estimates it roughly.  n runs were drawn along the word from the profile's own law, which is as good as n / c plain
walks, where c is the probability of following the word at all; h of them are first violated in the last step.  N plain
walks were made since the word was found, and m of them met it.  Together:

    mass = (h + m + ½) / ((n + 1) / c + N)

So a word that nobody tried counts with half of c, and one without a violation in many runs with almost nothing.  c is
known roughly only, from a few particles: where plain walks meet the word surely more often, their share stands for it.
The words that are kept are estimated carefully afterwards (`engine.py`).
"""

from __future__ import annotations

import bisect
import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.search.neighbours import Key, Place
from bbfalsify.results.falsify_insights import Convergence
from bbfalsify.stats.intervals import clopper_pearson

MOST_RUNS = 64
"""Runs along one word that are enough to rank its mass."""
CONFIDENCE = 0.8
"""Confidence of the intervals that decide whether a word needs more runs, and whether plain walks outvote particles."""
MATTERS = 0.01
"""Smallest part of the list's mass that makes a word an improvement of the list."""


@dataclass(eq=False)
class Word:
    """One word for one requirement; a counterexample once it has a finding, before that a candidate."""

    actions: Key
    finding: Finding | None = None
    places: Sequence[Place] = ()
    """Places of the profile before each action and after the last, in the run that found it."""
    cylinder: float | None = None
    """Probability of following the word; only an upper bound if it is below all words of the list."""
    runs: int = 0
    hits: int = 0
    walks: int = 0
    """Plain walks since it was found."""
    met: int = 0
    """Those that met it."""
    listed: bool = False
    """It was among the best at some time."""

    @property
    def mass(self) -> float:
        least = clopper_pearson(self.met, self.walks, CONFIDENCE)[0] if self.met else 0.0
        cylinder = max(self.cylinder or 0.0, least)
        return (self.hits + self.met + 0.5) / ((self.runs + 1) / cylinder + self.walks) if cylinder else 0.0

    @property
    def order(self) -> tuple:
        return -self.mass, len(self.actions), self.actions

    def count(self, cylinder: float, runs: int, hits: int) -> None:
        """Add the result of a round of runs along the word; cylinders are averaged."""
        known = self.cylinder if self.cylinder is not None and self.runs else cylinder
        self.cylinder = (known * self.runs + cylinder * runs) / (self.runs + runs) if runs else cylinder
        self.runs, self.hits = self.runs + runs, self.hits + hits

    def contested(self, threshold: float) -> bool:
        """Tell whether more runs may decide if the word belongs above the threshold."""
        if not 0 < self.runs < MOST_RUNS:
            return False
        low, high = clopper_pearson(self.hits, self.runs, CONFIDENCE)
        return low <= threshold / (self.cylinder or 1.0) < high


@dataclass
class Pool:
    """The words of one requirement."""

    wanted: int
    words: dict[Key, Word] = field(default_factory=dict)
    improved: int = 0
    """The simulation that last added a word that matters to the list."""
    candidates_tried: int = 0
    candidates_violated: int = 0
    _walked: list[Key] = field(default_factory=list)
    """What runs did without a violation, sorted."""

    def walked(self, actions: Key) -> None:
        """Remember the actions of a run as far as it was not violated."""
        bisect.insort(self._walked, actions)

    def passed(self, word: Key) -> int:
        """Number of runs that followed a word and were not violated by its end."""
        first = bisect.bisect_left(self._walked, word)
        return bisect.bisect_right(self._walked, word, lo=first, key=lambda actions: actions[: len(word)]) - first

    @property
    def found(self) -> list[Word]:
        return [word for word in self.words.values() if word.finding is not None]

    @property
    def full(self) -> bool:
        return len(self.found) >= self.wanted

    def best(self) -> list[Word]:
        return sorted(self.found, key=lambda word: word.order)[: self.wanted]

    def further(self) -> list[tuple[Finding, float]]:
        """The findings that are not on the list, the most probable first, with their masses."""
        rest = sorted(self.found, key=lambda word: word.order)[self.wanted :]
        return [(word.finding, word.mass) for word in rest if word.finding is not None]

    def threshold(self) -> float:
        """Smallest mass of a word of the list, if that is full."""
        best = self.best()
        return best[-1].mass if len(best) >= self.wanted else 0.0

    def add(self, finding: Finding, places: Sequence[Place]) -> None:
        word = self.words.setdefault(finding.actions, Word(finding.actions))
        if word.finding is None:
            word.finding, word.places = finding, places

    def worth_running(self, *, contested: bool) -> list[tuple[float, Word]]:
        """Find words to run along, with the expected gain of a run: contested ones, or those without any run.

        The gain of a candidate, which is only a neighbour of a counterexample, includes the share of candidates that
        have violated so far.
        """
        threshold, promising = self.threshold(), (self.candidates_violated + 0.5) / (self.candidates_tried + 1)
        worth = []
        for word in self.words.values():
            if word.cylinder is None or word.cylinder <= threshold:
                continue
            if word.contested(threshold) if contested else word.runs == 0:
                gain = word.mass / (word.runs + 1)
                worth.append((gain * promising if word.finding is None else gain, word))
        return worth

    def newly_listed(self, simulations: int) -> list[Finding]:
        """Return the findings that are among the best for the first time; note whether one of them matters."""
        best = self.best()
        total = sum(word.mass for word in best)
        new = [word for word in best if not word.listed]
        for word in new:
            word.listed = True
            if word.mass >= MATTERS * total:
                self.improved = simulations
        return [word.finding for word in new if word.finding is not None]

    def mass(self) -> float:
        """Mass of the list."""
        return sum(word.mass for word in self.best())

    def convergence(self, rounds: Sequence[int]) -> tuple[Convergence, ...]:
        """Mass of the list after each round that changed it, by the masses known now."""
        order = sorted((w.finding.iteration or 0, w.mass) for w in self.found if w.finding is not None)
        held: list[float] = []
        points: list[Convergence] = []
        known = 0
        for simulations in rounds:
            before = known
            while known < len(order) and order[known][0] <= simulations:
                heapq.heappush(held, order[known][1])
                if len(held) > self.wanted:
                    heapq.heappop(held)
                known += 1
            mass = math.fsum(held)
            if known > before and (not points or mass > points[-1].mass) or simulations == rounds[-1]:
                points.append(Convergence(simulations, known, mass))
        return tuple(points)
