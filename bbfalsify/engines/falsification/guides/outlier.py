"""Outlier guiding of the randomized accelerator (Kiviriga, Paper D, section 5.1).

    for each pair of walks:
        first       choose actions freely; if it does not violate, the actions after which the robustness is unusual are
                    promising: it falls more than one standard deviation below its mean
        second      prefer the promising actions of the first, and forget them: no local minimum traps the search

The robustness is that of the formula *inside* a top-level `always` (that of the `always` itself is monotone and has no
outliers); the monitor returns those moments with its judgement.

This guide learns moments, which no score tells, and what it proposes are preferences among the actions that are
enabled in each state, which no quantile can say before the walk is made.  So the accelerator makes its walks
(`accelerator.py`), and for a profile without actions there is nothing to guide.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.core.choices import Guide, Space
from bbfalsify.core.errors import UserError
from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.kernel import CompiledModel, Walk

Preferred = np.ndarray | None
"""Marks of the actions that a walk prefers."""


class OutlierGuiding:
    """Preferences of a batch of walks, by their positions."""

    def __init__(self, model: CompiledModel, walks: int, *, guided: bool) -> None:
        self.model, self.guided = model, guided
        positions = np.arange(walks)
        self.turns = (positions[::2], positions[1::2]) if guided else (positions,)
        """The first walks of all pairs, then the second ones; without guiding all walks at once."""
        self._promising: dict[int, np.ndarray] = {}

    def learns_from(self, turn: np.ndarray) -> bool:
        """Tell whether answers to these walks are to say when the requirements came unusually close."""
        return self.guided and turn is self.turns[0]

    def learn(self, position: int, walk: Walk, answer: Answer) -> None:
        """Note the promising actions of a walk for the second walk of its pair."""
        moments = [t for judgement in answer.judgements for t in judgement.outlier_times]
        # The last action before the moment counts; before the first action there is none.
        before = np.searchsorted(walk.times, moments, side="right") - 1
        before = before[before >= 0]
        if len(before):
            preferred = np.zeros(len(self.model.actions), dtype=np.bool_)
            preferred[self.model.edge_action[walk.edges[before]]] = True
            self._promising[position + 1] = preferred

    def alike(self, turn: np.ndarray) -> list[tuple[list[int], Preferred]]:
        """Group the walks of a turn by the actions that they prefer: such walks are made together."""
        groups: dict[bytes, list[int]] = {}
        for position in turn.tolist():
            preferred = self._promising.get(position)
            groups.setdefault(b"" if preferred is None else preferred.tobytes(), []).append(position)
        return [(members, self._promising.get(members[0])) for members in groups.values()]


def outlier_guide(space: Space, requirements: int, seed: SeedTree) -> Guide:
    """Refuse a profile without actions."""
    raise UserError(
        "the guide 'outlier' prefers actions after which a run came close, and this profile has no actions."
    )
