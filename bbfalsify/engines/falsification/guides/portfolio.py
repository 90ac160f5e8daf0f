"""Portfolio: several guides take turns, those that do well more often, and each learns from every simulation.

Nobody knows beforehand which guide suits a requirement: constant corners violate some at once, others need many draws,
others careful steps.  So the first turns are given out by a fixed list, in which corners, and runs in which one signal
moves, alternate with draws.  Later every fourth turn is a draw (every second one while no score has improved for some
time, and most after a long time: what the learning guides cannot approach is left to chance), and the others go to the
learning guides.  Which draws, and which learning guides, is decided by Thompson sampling over the probability that a
turn brings one of the best scores so far.

Where scores have few different values, as those of a controller that goes through modes, most turns go on from the best
runs (`continuations.py`).

Steps lead nowhere on a plateau: where most scores are the same, or where the lowest score was met by draws more than
once.  There all turns are draws, until one is lower.

(The bandit is Thompson's of 1933, the reward by rank is that of Fialho et al. 2010; the list and the rule for equal
scores are our own.)
"""

from __future__ import annotations

from itertools import cycle

import numpy as np

from bbfalsify.core.choices import ChoiceSequence, Guide, GuideFactory, Space
from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.guides.cma_es import CmaEs
from bbfalsify.engines.falsification.guides.coarse_to_fine import (
    Constants,
    Corners,
    FewStretches,
    ManyStretches,
    OneMoves,
)
from bbfalsify.engines.falsification.guides.continuations import Continuations
from bbfalsify.engines.falsification.guides.cross_entropy import CrossEntropy
from bbfalsify.engines.falsification.guides.memory import Memory
from bbfalsify.engines.falsification.guides.plain_guides import PlainGuide
from bbfalsify.engines.falsification.guides.stretch_mutation import StretchMutation
from bbfalsify.engines.falsification.guides.trust_region import TrustRegion

DRAWS: dict[str, GuideFactory] = {
    "corners": Corners,
    "one_moves": OneMoves,
    "constants": Constants,
    "few_stretches": FewStretches,
    "many_stretches": ManyStretches,
    "plain": PlainGuide,
}
DERIVED: dict[str, GuideFactory] = {"continuations": Continuations}
"""Draws that begin as one of the best runs."""
LEARNERS: dict[str, GuideFactory] = {"trust_region": TrustRegion, "cma_es": CmaEs}
ANYWHERE: dict[str, GuideFactory] = {"stretch_mutation": StretchMutation, "cross_entropy": CrossEntropy}
"""Learning guides for spaces that no other can search, those of automata and very large ones."""
FIRST = ("corners", "many_stretches", "corners", "one_moves", "corners", "plain", "corners", "one_moves") + (
    "many_stretches", "plain", "one_moves", "plain", "many_stretches", "constants",
)  # fmt: skip
LATER = ("few_stretches", "plain", "constants", "one_moves")
FLAT = ("plain", "many_stretches", "plain", "few_stretches")
"""Draws while there is nothing to learn."""
PLATEAU = "plain"
"""Draws while the lowest score is one that draws have met more than once."""
STAGED = ("continuations", "continuations", "plain")
"""Turns while the scores are those of stages."""
GIVEN_UP = ("few_stretches", "few_stretches", "plain")
"""Draws after a long time without a lower score."""
DRAW_EVERY, STALLED_DRAW_EVERY, LEARN_EVERY = 4, 2, 6
STALLED, LONG_STALLED = 12, 120
"""Simulations without a lower score, after which learning has stalled and draws get more turns, or most of them."""
STAGES = 0.15
"""Share of different scores up to which a system is taken to go through stages."""
SAME = 0.01
"""Relative difference up to which scores are the same."""
REWARDED = 0.1
"""Share of simulations whose scores count as the best ones."""
REWARDED_DRAWS = 0.25
"""Share of draws whose scores count as good ones."""
FORGETTING = 0.9
"""Factor by which successes and failures of learning guides count less with each later turn."""
TIED = 2
"""Draws with the lowest score that make it a plateau."""


def good_score(values: np.ndarray, share: float) -> float:
    """The score below which this share of all lie; simulations that failed have the highest."""
    return float(np.quantile(np.minimum(values, np.finfo(float).max), share))


class Bandit:
    """Thompson sampling over the success rates of some names; a success counts less with each later turn."""

    def __init__(self, names: list[str], rng: np.random.Generator, forgetting: float = FORGETTING) -> None:
        self.names, self.rng, self.forgetting = names, rng, forgetting
        self.wins, self.losses = np.ones(len(names)), np.ones(len(names))

    def choose(self) -> str:
        return self.names[int(np.argmax(self.rng.beta(self.wins, self.losses)))]

    def learn(self, name: str, won: bool) -> None:
        place = self.names.index(name)
        (self.wins if won else self.losses)[place] += 1.0
        self.wins = 1 + (self.wins - 1) * self.forgetting
        self.losses = 1 + (self.losses - 1) * self.forgetting


class Portfolio:
    any_length = True

    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        self.members: dict[str, Guide] = {}
        for factories in (DRAWS, DERIVED, LEARNERS, ANYWHERE):
            if factories is ANYWHERE and any(name in self.members for name in LEARNERS):
                break
            for name, factory in factories.items():
                try:
                    self.members[name] = factory(space, requirements, seed.child(name))
                except UserError:
                    continue  # it cannot search this space; the others take its turns
        self.memory = Memory(requirements)
        learners = [name for name in LEARNERS | ANYWHERE if name in self.members]
        self.bandit = Bandit(learners, seed.child("bandit").rng())
        later = [name for name in LATER if name in self.members]
        self.later = Bandit(later, seed.child("draws").rng(), forgetting=1.0)
        self.first, self.flat, self.given_up = iter(FIRST), cycle(FLAT), cycle(GIVEN_UP)
        self.staged = cycle(STAGED)
        self.turn = 0
        self.at_turn = ""
        self.improved = 0
        """Number of simulations at the last improvement."""
        self.drawn: list[int] = []
        """The simulations that draws have proposed."""

    def ask(self, count: int) -> list[np.ndarray]:
        while True:
            name = self._next()
            proposals = self.members[name].ask(count) if name in self.members else []
            if proposals:
                self.at_turn = name
                return proposals

    def _next(self) -> str:
        name = next(self.first, None)
        if name is None:
            self.turn += 1
            idle = len(self.memory) - self.improved
            if self._ties(self.memory.values) > len(self.memory) / 2:
                name = next(self.flat)
            elif self._in_stages():
                name = next(self.staged)
            elif self._ties(self.memory.values[self.drawn]) >= TIED:
                name = PLATEAU
            elif idle >= LONG_STALLED:
                name = next(self.given_up) if self.turn % LEARN_EVERY else self.bandit.choose()
            elif self.turn % (STALLED_DRAW_EVERY if idle >= STALLED else DRAW_EVERY) == 0:
                name = self.later.choose()
            else:
                name = self.bandit.choose()
        return name

    def _ties(self, values: np.ndarray) -> int:
        """Count the scores among these that are as low as the lowest of all."""
        lowest = self.memory.values.min(initial=np.inf)
        return int(np.count_nonzero(values <= lowest + SAME * abs(lowest)))

    def _in_stages(self) -> bool:
        """Tell whether scores have few different values, as those of stages, which no step approaches."""
        return len(np.unique(self.memory.values)) <= STAGES * len(self.memory)

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        own, self.at_turn = self.at_turn, ""
        self._learn(own, scores[:, self.memory.focus])
        first, lowest = len(self.memory), self.memory.values.min(initial=np.inf)
        self.memory.add(sequences, scores)
        if own in DRAWS:
            self.drawn += range(first, len(self.memory))
        if self.memory.values.min() < lowest * (1 - SAME):
            self.improved = len(self.memory)
        # The one whose proposals these are knows them by `tell` directly after `ask`.
        for name in sorted(self.members, key=lambda name: name != own):
            self.members[name].tell(sequences, scores)

    def _learn(self, own: str, values: np.ndarray) -> None:
        """Tell the bandit of the guide at turn which of its scores are among the best."""
        if own in self.bandit.names:
            bar = good_score(self.memory.values, REWARDED)
            for value in values:
                self.bandit.learn(own, bool(value < bar))
        elif own in self.later.names and self.drawn:
            bar = good_score(self.memory.values[self.drawn], REWARDED_DRAWS)
            for value in values:
                self.later.learn(own, bool(value <= bar))
