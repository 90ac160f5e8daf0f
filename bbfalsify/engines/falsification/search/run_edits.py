"""Edit the choices of a run: keep its beginning, move a delay, leave an action out, put another in its place.

Every step of a run owns a span of its choices (`Span`): first the numbers of its race and its edge, then the rest, that
is what the transition itself draws (branches, receivers, values).  An edit keeps the choices before the first step that
changes, and asks from there on, step by step, which choices lead to an action with a delay (`Step`); the rest of a kept
step stays, so that the same values are drawn.  What follows the last step is completed by chance.  So an edit leads
from choices to choices, and any edit gives a run that the profile allows.

A delay is given by its *place*, the quantile in the law of the delay given its action (0 is as early as possible, ½ the
median, near 1 as late as possible), or by the moment of the action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bbfalsify.core.choices import ChoiceSequence
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.search.walk_extension import where_they_end
from bbfalsify.engines.falsification.space import PlayedRun, ProfileSpace
from bbfalsify.kernel import (
    ChosenStep,
    Particles,
    Walk,
    WalkStatus,
    conditional_step,
    spans_of,
    step_towards,
    stochastic_step,
    supports_conditional,
)

DRAWS = 16
"""Draws of what a transition draws, where it is not known; and points per round of the search for a place."""
ROUNDS = 4
"""Rounds of the search for the place of a delay, which distinguish 16⁴ places."""
LATEST = 1 - 2.0**-53
MANY = 200
"""Draws per step if the law is unknown; places are those of the draws."""
CLOSE = 1e-6


@dataclass(frozen=True)
class Span:
    """The choices of one step: quantiles first, …, rest − 1 are those of its race and edge, up to `beyond` the rest."""

    first: int
    rest: int
    beyond: int
    place: float
    """Place of its delay."""


@dataclass(frozen=True, eq=False)
class Step:
    """One step as an edit asks for it; which choices lead there depends on the state in which it begins."""

    action: str
    place: float = 0.5
    moment: float | None = None
    """Wanted time, if possible; the place is only the first guess then."""
    edge: int = -1
    """Wanted edge, if possible."""
    rest: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Choices of what the transition draws; missing ones are drawn."""


@dataclass(frozen=True, eq=False)
class SteppedRun:
    """The first steps of a run, with their choices, completed by chance to the end of the use."""

    played: PlayedRun
    spans: tuple[Span, ...]

    @property
    def walk(self) -> Walk:
        return self.played.walk.prefix(len(self.spans))

    @property
    def places(self) -> tuple[float, ...]:
        return tuple(span.place for span in self.spans)

    @property
    def choices(self) -> np.ndarray:
        """The choices up to the last of these steps."""
        width = 0 if self.played.walk.values is None else len(self.played.walk.values)
        return self.played.choices.quantiles[: self.spans[-1].beyond if self.spans else width]

    def prefix(self, steps: int) -> SteppedRun:
        return SteppedRun(self.played, self.spans[:steps])

    def until(self, stop: float) -> Walk:
        """The walk, with all actions up to a moment."""
        whole = self.played.walk
        return whole.prefix(int(np.searchsorted(whole.times, stop, side="right")))


def placed(steps: Sequence[Step], places: np.ndarray) -> list[Step]:
    """The steps with their delays at these places."""
    return [replace(step, place=float(place), moment=None) for step, place in zip(steps, places, strict=True)]


class RunEditor:
    """Edits of the runs of a space; what they leave open is drawn from a seed."""

    def __init__(self, space: ProfileSpace, seed: int) -> None:
        self.space, self.model, self._seed = space, space.usage.model, seed
        self._exact = supports_conditional(self.model) is None
        clocks = {slot for store, slot in self.model.analysis.clocks if store == "r"}
        self._drawn = np.array([slot for slot in range(self.model.network.real_count) if slot not in clocks], int)
        """Reals with values that updates have drawn; the others are clocks."""

    # ------------------------------------------------------------------ runs

    def begin(self, values: np.ndarray | None = None) -> SteppedRun:
        """A run without steps yet."""
        return SteppedRun(self.space.run(() if values is None else values, self._seed), ())

    def spanned(self, played: PlayedRun, steps: int) -> SteppedRun:
        """The first steps of a run whose choices are known."""
        width = self.space.usage.values.width
        spans: list[Span] = []
        for first, rest, beyond in spans_of(self.model, played.choices.quantiles[width:], steps):
            place = self._place(played.walk, len(spans))
            spans.append(Span(width + first, width + rest, width + beyond, place))
        return SteppedRun(played, tuple(spans))

    def steps_of(self, run: SteppedRun) -> list[Step]:
        """The steps of a run, as an edit asks for them."""
        walk, quantiles = run.walk, run.played.choices.quantiles
        return [
            Step(action, span.place, float(time), int(edge), quantiles[span.rest : span.beyond])
            for action, span, time, edge in zip(
                walk.actions(self.model), run.spans, walk.times, walk.edges, strict=True
            )
        ]

    def along(self, before: SteppedRun, steps: Sequence[Step], seeds: SeedTree) -> SteppedRun | None:
        """Keep the choices of a run, and add those of these steps; None if the profile does not allow them."""
        numbers = seeds.rng()
        here = where_they_end(self.model, [before.walk], seeds.words(1))
        quantiles, spans, edges = [before.choices], list(before.spans), before.walk.edges.tolist()
        for step in steps:
            taken = self._take(here, step, numbers)
            if taken is None:
                return None
            (edge, place), chosen = taken
            here, first = chosen.after, sum(map(len, quantiles))
            spans.append(Span(first, first + chosen.rest, first + len(chosen.numbers), place))
            quantiles.append(chosen.numbers)
            edges.append(edge)
        return self._run(np.concatenate(quantiles), spans, edges)

    def with_values(self, run: SteppedRun, values: np.ndarray) -> SteppedRun:
        """Replace the parameters and signals of a run."""
        quantiles = np.concatenate([values, run.played.choices.quantiles[len(values) :]])
        return replace(run, played=self.space.run(quantiles, self._seed))

    def _run(self, quantiles: np.ndarray, spans: Sequence[Span], edges: Sequence[int]) -> SteppedRun | None:
        """The run of these choices; of steps after the first action beyond the end of the use there are none."""
        played = self.space.run(quantiles, self._seed)
        count = min(len(spans), played.walk.steps)
        ended = played.walk.status is WalkStatus.REACHED_END
        if not ended or not np.array_equal(played.walk.edges[:count], edges[:count]):
            return None
        return SteppedRun(played, tuple(spans[:count]))

    # ------------------------------------------------------------------ the choices of a run that is known otherwise

    def retraced(
        self,
        word: Sequence[tuple[float, str]],
        seeds: SeedTree,
        walk: Walk | None = None,
        choices: ChoiceSequence | None = None,
    ) -> SteppedRun:
        """The choices of a run along a word: its own if they are known, or told from its walk, else similar ones.

        As many steps as the profile allows.
        """
        played = None
        if walk is not None:
            played = self.space.played(walk) if choices is None else self.space.repeated(choices)
        if played is not None and walk is not None and played.begins_with(walk.prefix(len(word))):
            return self.spanned(played, len(word))
        run = self.begin(None if walk is None else walk.values)
        for k, (time, action) in enumerate(word):
            edge = -1 if walk is None else int(walk.edges[k])
            tries = range(1 if walk is None else DRAWS)
            own = seeds.child(k)
            longer = [self.along(run, [Step(action, moment=time, edge=edge)], own.child(n)) for n in tries]
            further = [one for one in longer if one is not None and len(one.spans) > k]
            if not further:
                break
            run = further[0] if walk is None else min(further, key=lambda one: self._difference(one.walk, walk, k + 1))
        return run

    def _difference(self, one: Walk, other: Walk, k: int) -> tuple[float, float, float]:
        """Difference of the states after k steps, apart from clocks."""
        return (
            float(np.sum(one.locations[k] != other.locations[k])),
            float(np.sum(one.integers[k] != other.integers[k])),
            float(np.abs(one.reals[k][self._drawn] - other.reals[k][self._drawn]).sum()),
        )

    def _place(self, walk: Walk, k: int) -> float:
        """The place of the delay before step k of a walk; ½ where the profile's law does not tell."""
        seeds = SeedTree(self._seed).child("place", k)
        here, numbers = where_they_end(self.model, [walk.prefix(k)], seeds.words(1)), seeds.rng()
        action = int(self.model.edge_action[walk.edges[k]])
        aim = self._aim(here, Step(self.model.actions[action], moment=float(walk.times[k])), numbers)
        return 0.5 if aim is None else aim[2]

    # ------------------------------------------------------------------ one step

    def _take(
        self, here: Particles, step: Step, numbers: np.random.Generator
    ) -> tuple[tuple[int, float], ChosenStep] | None:
        """The edge and place of a step, with its choices; None if the profile does not allow it."""
        aim = self._aim(here, step, numbers)
        if aim is None:
            return None
        edge, moment, place = aim
        seed = int(numbers.integers(0, 2**63))
        for wanted in dict.fromkeys((step.edge, edge)):
            if wanted >= 0 and self.model.edge_action[wanted] == self.model.edge_action[edge]:
                chosen = step_towards(self.model, here, wanted, moment, step.rest, seed)
                if chosen is not None:
                    return (wanted, place), chosen
        return None

    def _aim(self, here: Particles, step: Step, numbers: np.random.Generator) -> tuple[int, float, float] | None:
        """(edge, moment, place) of the action; None if it is impossible, or if the model fails there."""
        label, now = self.model.actions.index(step.action), float(here.time[0])
        delay = None if step.moment is None else step.moment - now
        if not self._exact:
            return self._drawn_aim(here, label, step.place, delay, numbers)
        place = min(step.place, LATEST)
        found = self._at(here, label, np.array([place]), numbers)
        if found is None:
            return None
        if delay is not None and abs(found[1][0] - delay) > CLOSE:
            place = self._place_of(here, label, delay, numbers)
            found = self._at(here, label, np.array([place]), numbers)
            if found is None:
                return None
        edges, delays = found
        near = delay is not None and abs(delays[0] - delay) <= CLOSE
        return int(edges[0]), now + float(delay if near and delay is not None else delays[0]), place

    def _at(
        self, here: Particles, label: int, places: np.ndarray, numbers: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Edges and delays of an action at some places."""
        count = len(places)
        copies = here.take(np.zeros(count, int), numbers.integers(0, 2**64, size=count, dtype=np.uint64))
        step = conditional_step(self.model, copies, label, np.column_stack([places, numbers.random(count)]))
        return (step.edge, step.delay) if step.made.all() else None

    def _place_of(self, here: Particles, label: int, delay: float, numbers: np.random.Generator) -> float:
        """Find the place with the closest delay; delays grow with their places."""
        low, high, best = 0.0, LATEST, (np.inf, 0.5)
        for _ in range(ROUNDS):
            points = np.linspace(low, high, DRAWS)
            found = self._at(here, label, points, numbers)
            if found is None:
                break
            reached = found[1]
            nearest = int(np.argmin(np.abs(reached - delay)))
            best = min(best, (abs(float(reached[nearest]) - delay), float(points[nearest])))
            if best[0] <= CLOSE:
                break
            right = int(np.searchsorted(reached, delay))
            low, high = points[max(right - 1, 0)], points[min(right, DRAWS - 1)]
        return best[1]

    def _drawn_aim(
        self, here: Particles, label: int, place: float, delay: float | None, numbers: np.random.Generator
    ) -> tuple[int, float, float] | None:
        """Draw many steps and choose a fitting one, if the law of the next action is not computed."""
        words = numbers.integers(0, 2**64, size=MANY, dtype=np.uint64)
        step = stochastic_step(self.model, here.take(np.zeros(MANY, int), words))
        rows = np.flatnonzero(step.made & (step.action == label))
        if not len(rows):
            return None
        rows = rows[np.argsort(step.delay[rows], kind="stable")]
        wanted = int(min(place, LATEST) * len(rows))
        if delay is not None:
            wanted = int(np.argmin(np.abs(step.delay[rows] - delay)))
        row = rows[wanted]
        return int(step.edge[row]), float(here.time[0] + step.delay[row]), (wanted + 0.5) / len(rows)
