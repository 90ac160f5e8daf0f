"""Ways to avoid a failure mode: the nearest use that passes, found by changing one delay, value or action.

Of the choices of a typical violating use, one thing is changed at a time; the profile allows every run that is tried
(`run_edits.py`), and each is simulated to the horizon:

    delays     as early, and as late, as possible
    actions    left out, or another in their place at the same moment
    values     at either end of the range (parameters and signals; numbers that updates draw keep their choices)

The use without any change is simulated in the same way: where it passes, what comes after it or chance decides, and
nothing is said.  Delays and values whose change avoids the violation are then moved back towards the
violating use by bisection, as far as the use still passes.  The nearest is the one that is moved least, measured in the
profile's own law.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.core.choices import HIGHEST, LOWEST
from bbfalsify.core.query import Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.use import Use
from bbfalsify.engines.falsification.search.run_edits import CLOSE, LATEST, RunEditor, Step, SteppedRun
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk

FEWEST = 6
"""Simulations for one mode below which nothing is tried."""
EXPLORE = 0.6
"""Part of a mode's simulations that tries changes; the rest is for bisection."""
CLOSER = 4
"""Changes that are made smaller."""
MOST_OTHERS = 3
"""Actions that are tried in the place of one."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

Word = tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """One thing of a use that is made otherwise."""

    kind: str
    """delay, action, value, or none"""
    place: int
    """Number of the action, or of the drawn value."""
    quantile: float = 0.0
    """The new place in the law of a delay or value."""
    action: str | None = None
    """The action in the place of another; None leaves that out."""


class Avoiding:
    """The search for passing uses near violating ones."""

    def __init__(self, ask: Ask, usage: Usage, requirement: int, units: Mapping[str, str], seeds: SeedTree) -> None:
        self._ask, self._usage, self._requirement = ask, usage, requirement
        self._units, self._seeds = units, seeds
        self._editor = RunEditor(ProfileSpace(usage), seeds.child("rest").word())
        self._made = 0

    def of(self, patterns: Sequence[Pattern], bad: Sequence[Use], budget: int) -> dict[Pattern, str]:
        """For each pattern of a decision list, the nearest passing use in words; patterns without one are left out."""
        own: dict[Pattern, list[Use]] = {}
        for use in bad:
            first = next((pattern for pattern in patterns if pattern.matches(use)), None)
            if first is not None and use.walk is not None:
                own.setdefault(first, []).append(use)
        most = max(1, budget // FEWEST)
        heavy = sorted(own, key=lambda p: -sum(use.weight for use in own[p]))[:most]
        found = {pattern: self._nearest(own[pattern], budget // len(heavy)) for pattern in heavy}
        return {pattern: text for pattern, text in found.items() if text is not None}

    def _nearest(self, uses: Sequence[Use], budget: int) -> str | None:
        if budget < FEWEST:
            return None
        use = _typical(uses)
        start = self._start(use)
        if start is None:
            return None
        changes = [Change("none", 0), *self._changes(start, use.until_violation)][: int(EXPLORE * budget)]
        unchanged, *passed = self._try(start, changes)
        if unchanged:
            return None
        passing = [change for change, ok in zip(changes[1:], passed, strict=True) if ok]
        spent = len(changes)
        near = sorted((c for c in passing if c.kind != "action"), key=lambda c: self._size(start, c))[:CLOSER]
        failing = [self._old(start, c) for c in near]
        while near and spent + len(near) <= budget:
            middles = [replace(c, quantile=(c.quantile + q) / 2) for c, q in zip(near, failing, strict=True)]
            for k, passes in enumerate(self._try(start, middles)):
                if passes:
                    near[k] = middles[k]
                else:
                    failing[k] = middles[k].quantile
            spent += len(near)
        near += [change for change in passing if change.kind == "action"]
        best = min(near, key=lambda c: self._size(start, c), default=None)
        return None if best is None else self._text(start, best)

    # ------------------------------------------------------------------ runs

    def _start(self, use: Use) -> SteppedRun | None:
        """The choices of a violating use, with the steps up to the action after its violation."""
        walk = use.walk
        assert walk is not None
        if not self._usage.profile.has_actions:
            return self._editor.begin(walk.values)
        steps = len(_key(use))
        word = list(zip(use.times[:steps].tolist(), use.actions[:steps], strict=True))
        run = self._editor.retraced(word, self._seeds.child("retrace"), walk)
        return run if steps and len(run.spans) == steps else None

    def _changes(self, start: SteppedRun, until_violation: int) -> Iterator[Change]:
        """Everything that can be tried, what is next to the violation first."""
        actions = start.walk.actions(self._usage.model)
        for place in reversed(range(len(start.spans))):
            yield from (Change("delay", place, q) for q in (LATEST, 0.0) if abs(q - start.places[place]) > 1e-3)
            if place >= until_violation:
                continue  # only an action up to the violation can have led to it
            yield Change("action", place)
            others = [a for a in self._usage.model.actions if a != actions[place]]
            yield from (Change("action", place, action=action) for action in others[:MOST_OTHERS])
        labels = self._usage.values.labels if start.walk.values is not None else ()
        for place, label in enumerate(labels):
            if label.kind in ("parameter", "value"):
                yield from (Change("value", place, q) for q in (LOWEST, HIGHEST))

    def _changed(self, start: SteppedRun, change: Change) -> Walk | None:
        """The run with one change, to its end; None if the profile does not allow it."""
        self._made += 1
        if change.kind == "none":
            return start.played.walk
        if change.kind == "value":
            values = np.array(start.walk.values)
            values[change.place] = change.quantile
            return self._editor.with_values(start, values).played.walk
        steps = self._editor.steps_of(start)[change.place :]
        if change.kind == "delay":
            steps[0] = replace(steps[0], place=change.quantile)
        elif change.action is None:
            del steps[0]
        # Later delays are as long as before; another action comes at the same moment, or its time is another change.
        steps = [replace(step, moment=None) for step in steps]
        if change.action is not None:
            steps[0] = Step(change.action, moment=float(start.walk.times[change.place]))
        run = self._editor.along(start.prefix(change.place), steps, self._seeds.child("run", self._made))
        if run is None:
            return None
        if change.kind == "delay" and abs(_delay(run.walk, change.place) - _delay(start.walk, change.place)) <= CLOSE:
            return None  # the profile leaves this delay no choice
        return run.played.walk

    def _try(self, start: SteppedRun, changes: Sequence[Change]) -> list[bool]:
        """Execute the changed uses; tell which of them pass."""
        walks = [self._changed(start, change) for change in changes]
        allowed = [(k, walk) for k, walk in enumerate(walks) if walk is not None]
        queries = [Query(f"avoid/{self._requirement}/{self._made}/{k}", self._usage.draft(walk)) for k, walk in allowed]
        passes = [False] * len(changes)
        for (k, _), answer in zip(allowed, self._ask(queries) if queries else (), strict=True):
            passes[k] = answer.ok and answer.judgements[self._requirement].verdict is not Verdict.VIOLATED
        return passes

    # ------------------------------------------------------------------ words

    def _old(self, start: SteppedRun, change: Change) -> float:
        if change.kind == "value":
            assert start.walk.values is not None
            return float(start.walk.values[change.place])
        return start.places[change.place]

    def _size(self, start: SteppedRun, change: Change) -> float:
        """Distance in the law of the thing that is changed; an action counts as a whole."""
        return 1.0 if change.kind == "action" else abs(change.quantile - self._old(start, change))

    def _text(self, start: SteppedRun, change: Change) -> str | None:
        actions = start.walk.actions(self._usage.model)
        if change.kind == "action":
            does = "leaves out" if change.action is None else f"does {change.action} instead of"
            return f"a use passes that {does} {which(actions, change.place)}"
        changed = self._changed(start, change)
        assert changed is not None
        if change.kind == "value":
            return self._value_text(start.walk, changed)
        by = _delay(changed, change.place) - _delay(start.walk, change.place)
        longer, before = "longer" if by > 0 else "less", which(actions, change.place)
        return f"a use passes that waits {abs(by):.2g} {longer} before {before}"

    def _value_text(self, old: Walk, new: Walk) -> str | None:
        before, after = (list(self._usage.values.values(walk.values).drawn(np.inf)) for walk in (old, new))
        for was, now in zip(before, after, strict=False):
            if was.value != now.value:
                unit = f" {self._units[now.name]}" if now.name in self._units else ""
                when = "" if now.time is None else f" from {now.time:g} on" if now.time else " at the start"
                return f"a use passes that has {now.name} {now.value:.3g}{unit} instead of {was.value:.3g}{when}"
        return None


def _delay(walk: Walk, place: int) -> float:
    """Time between an action and the one before it."""
    return float(np.diff(walk.times[: place + 1], prepend=0.0)[-1])


def _key(use: Use) -> Word:
    """The actions up to the one that ends the delay of the violation."""
    return use.actions[: use.until_violation + 1]


def _typical(uses: Sequence[Use]) -> Use:
    """The use nearest to the median delays of the most probable word."""
    weights: dict[Word, float] = {}
    for use in uses:
        weights[_key(use)] = weights.get(_key(use), 0.0) + use.weight
    key = min(weights, key=lambda word: (-weights[word], word))
    own = [use for use in uses if _key(use) == key]
    delays = np.array([np.diff(use.times[: len(key)], prepend=0.0) for use in own])
    spread = delays.std(axis=0)
    away = np.abs(delays - np.median(delays, axis=0)) / np.where(spread > 0, spread, 1.0)
    return own[int(np.argmin(away.max(axis=1, initial=0.0)))]


def which(key: Word, place: int) -> str:
    """the third on; an action that comes once needs no number"""
    if key.count(key[place]) == 1:
        return key[place]
    number = key[: place + 1].count(key[place])
    return f"the {ORDINALS[number - 1]} {key[place]}" if number <= len(ORDINALS) else f"{key[place]} number {number}"
