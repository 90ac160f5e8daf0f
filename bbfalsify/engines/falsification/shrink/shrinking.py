"""Shrink a counterexample to the actions that matter.

A counterexample of thirty actions often fails because of four of them.  From each finding we search for the shortest
run of the profile that still violates the same requirement, and then for its most ordinary delays:

    1. fewer actions    delta debugging (Zeller, Hildebrandt: ddmin): leave out large parts, then smaller ones, at last
                        single actions.  If a part does not lead back to the place where it began, the shortest way
                        through the profile replaces it.  A shorter word is followed with the same delays, at the same
                        moments, as early and as late as possible, and with drawn delays.
    2. probable delays  each delay is moved towards the median of its law, as far as the violation stays.
    3. simple values    signals with fewer changes, values at ends of their ranges or round ones (`simple_values.py`).

Runs are choices before and after: every attempt edits those of the best run so far (`run_edits.py`), so the profile
allows it, and the result is a counterexample like any other: it has a key, a probability, a file.  Among equally short
words the more probable one is preferred.  Several findings often have the same core, so those of shorter findings are
tried first: accepted only if this finding's own actions, with all others left out, still violate, for a word may
contain the actions of another failure by chance.

The seed and the answers determine the result; `budget` bounds the simulations of each finding.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bbfalsify.core.query import Answer, Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import SimulationStatus, Verdict
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.search.cylinders import Cylinders
from bbfalsify.engines.falsification.search.neighbours import Key
from bbfalsify.engines.falsification.search.routes import Routes
from bbfalsify.engines.falsification.search.run_edits import LATEST, RunEditor, Step, SteppedRun, placed
from bbfalsify.engines.falsification.shrink.delta_debugging import Cut, cuts_of_size, latest_places, next_size
from bbfalsify.engines.falsification.shrink.simple_values import simplify
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk

HINTS = 4
"""Number of cores of other findings that are tried first."""
BATCH = 16
"""Runs asked at a time, whatever the number of workers."""
ACTIONS_SHARE = 0.75
"""Share of the budget for leaving out actions; the rest is for the delays."""
DRAWN = 2
"""Runs with drawn delays along each shorter word."""
ALL_SHARES = (1.0, 0.75, 0.5, 0.25)
ONE_SHARES = (1.0, 0.5, 0.25)
"""Shares of the way to the median: for all delays together, then for one."""


@dataclass(frozen=True, eq=False)
class Core:
    """The shortest run found that violates like a finding."""

    finding: Finding
    """The run: the finding itself if there is no better one."""
    places: tuple[float, ...]
    """Place of each delay of the key in its law; ½ is the median."""
    settled: bool
    """Every part was tried and is needed; otherwise the budget ended first."""

    @property
    def actions(self) -> Key:
        return self.finding.actions


@dataclass(frozen=True, eq=False)
class Shrunk:
    original: Finding
    core: Core
    simulations: int


class Tools:
    """Analyses of the profile, for all findings."""

    def __init__(self, usage: Usage, seeds: SeedTree) -> None:
        self.usage = usage
        self.editor = RunEditor(ProfileSpace(usage), seeds.child("completion").word())
        self.routes = Routes(usage.model.network)
        self.cylinders = Cylinders(usage.model, seeds.child("cylinder"))


def shrink(ask: Ask, tools: Tools, finding: Finding, *, budget: int, seeds: SeedTree, cores: Sequence[Core]) -> Shrunk:
    """Shrink one finding; `cores` are those of shorter findings of the same requirement."""
    attempt = _Attempt(ask, tools, finding, budget, seeds, {core.actions: core for core in cores})
    return Shrunk(finding, attempt.run(), attempt.spent)


@dataclass(frozen=True, eq=False)
class _Failing:
    """A run that violates, with the steps of its key."""

    run: SteppedRun
    finding: Finding

    @property
    def key(self) -> Key:
        return self.finding.actions


Manner = Callable[[_Failing, Iterable[Cut]], Iterator[SteppedRun]]
"""A way to run along shorter words."""


@dataclass
class _Attempt:
    ask: Ask
    tools: Tools
    original: Finding
    budget: int
    seeds: SeedTree
    cores: dict[Key, Core]
    spent: int = 0
    _tried: dict[str, set[Key]] = field(default_factory=dict)
    """By the manner in which their runs were made."""
    _made: int = 0
    _limit: int = 0

    def run(self) -> Core:
        start = self._start()
        if start is None:
            return Core(self.original, (), settled=False)
        if not self.tools.usage.profile.has_actions:
            self._limit = self.budget
            best, settled = self._with_simple_values(_Failing(start, self.original))
            return Core(best.finding, (), settled)
        self._limit = int(self.budget * ACTIONS_SHARE)
        best = self._hinted(_Failing(start, self.original))
        while True:
            self._limit = int(self.budget * ACTIONS_SHARE)
            best, settled = self._with_fewer_actions(best)
            if best.key in self.cores:
                return self.cores[best.key]
            self._limit = self.budget - 1  # one is for the whole run
            moved, simple = self._with_simple_values(self._with_probable_delays(best))
            settled = settled and simple
            shorter, best = len(moved.key) < len(best.key), moved
            if not shorter:
                break
        if best.finding is not self.original:
            best = self._whole(best)
        return Core(best.finding, best.run.places, settled)

    def _start(self) -> SteppedRun | None:
        """The choices of the finding; None if its profile does not allow it (any more)."""
        found, steps = self.original, len(self.original.actions)
        if not self.tools.usage.profile.has_actions:
            return None if found.walk is None else self.tools.editor.begin(found.walk.values)
        if found.walk is None and self.tools.usage.values.width:
            return None  # its parameters and signals are not known as quantiles
        run = self.tools.editor.retraced(found.word[:steps], self.seeds.child("retrace"), found.walk, found.choices)
        return run if len(run.spans) == steps else None

    @property
    def _left(self) -> int:
        return max(0, self._limit - self.spent)

    # ------------------------------------------------------------------ fewer actions

    def _hinted(self, best: _Failing) -> _Failing:
        """Leave out all but the core of another finding."""
        cuts = []
        for core in sorted(self.cores, key=len):
            kept = latest_places(core, best.key) if len(core) < len(best.key) else None
            cuts += [] if kept is None else [Cut.of(best.key, kept)]
        found = self._execute(list(itertools.islice(self._as_before(best, cuts[:HINTS]), self._left)))
        return min([*found, best], key=lambda f: len(f.key))

    def _with_fewer_actions(self, best: _Failing) -> tuple[_Failing, bool]:
        """Find the shortest word, and whether every part was tried: with old delays, then (rarely needed) others."""
        manners = (self._as_before, self._otherwise)
        manner, size = 0, len(best.key) // 2
        while manner < len(manners) and best.key not in self.cores:
            shorter = self._without_a_part(best, size, manners[manner]) if size else None
            if shorter is not None:
                manner, size = 0, min(size, len(shorter.key) // 2) if manner == 0 else len(shorter.key) // 2
                best = shorter
            elif size and not self._left:
                return best, False
            elif size > 1:
                size = next_size(size)
            else:
                manner, size = manner + 1, len(best.key) // 2
        return best, True

    def _without_a_part(self, best: _Failing, size: int, manner: Manner) -> _Failing | None:
        places = [tuple(row) for row in best.run.walk.locations.tolist()]
        tried = self._tried.setdefault(manner.__name__, set())
        cuts = [cut for cut in cuts_of_size(best.key, places, size, self.tools.routes) if cut.word not in tried]
        tried.update(cut.word for cut in cuts)
        weight = self.tools.cylinders.probability
        cuts.sort(key=lambda cut: (len(cut.word), -weight(cut.word), cut.word))
        runs = manner(best, cuts)
        while batch := list(itertools.islice(runs, min(BATCH, self._left))):
            found = [f for f in self._execute(batch) if len(f.key) < len(best.key)]
            if found:
                return min(found, key=lambda f: (len(f.key), -weight(f.key), f.key))
        return None

    def _as_before(self, best: _Failing, cuts: Iterable[Cut]) -> Iterator[SteppedRun]:
        """Keep the choices up to the cut, and add the rest with the old places, and with the old moments, of delays."""
        for cut in cuts:
            before, rest = best.run.prefix(cut.untouched), self._kept(best, cut)[cut.untouched :]
            if rest:
                yield from self._along(before, [replace(step, moment=None) for step in rest])
                yield from self._along(before, rest)
            elif before.spans and best.finding.simulation is not SimulationStatus.OK:
                yield before  # an earlier end does not violate earlier; but a failure may not need the end

    def _otherwise(self, best: _Failing, cuts: Iterable[Cut]) -> Iterator[SteppedRun]:
        """Make the run along each shorter word anew: early, late, and with drawn delays."""
        for cut in cuts:
            steps = self._kept(best, cut)
            drawn = self.seeds.child("drawn", *cut.word).rng().random((DRAWN, len(steps)))
            for places in (np.zeros(len(steps)), np.full(len(steps), LATEST), *drawn):
                yield from self._along(best.run.prefix(0), placed(steps, places))

    def _kept(self, best: _Failing, cut: Cut) -> list[Step]:
        """The steps of a cut: those of the run that are kept, and new ones."""
        steps = self.tools.editor.steps_of(best.run)
        return [steps[part] if isinstance(part, int) else Step(part) for part in cut.parts]

    def _along(self, before: SteppedRun, steps: Sequence[Step]) -> Iterator[SteppedRun]:
        self._made += 1
        found = self.tools.editor.along(before, steps, self.seeds.child("run", self._made))
        if found is not None and found.spans:
            yield found

    # ------------------------------------------------------------------ more probable delays

    def _with_probable_delays(self, best: _Failing) -> _Failing:
        """Move the delays towards their medians: all together, then one by one, the most extreme first."""
        best = self._towards_medians(best, range(len(best.key)), ALL_SHARES)
        order = np.argsort([-abs(place - 0.5) for place in best.run.places], kind="stable").tolist()
        length = len(best.key)
        for number in order:
            if len(best.key) < length:
                break  # it is violated in an earlier step now: another word
            best = self._towards_medians(best, [number], ONE_SHARES)
        return best

    def _towards_medians(self, best: _Failing, numbers: Iterable[int], shares: Sequence[float]) -> _Failing:
        places, steps = np.array(best.run.places), self.tools.editor.steps_of(best.run)
        chosen = [i for i in numbers if abs(places[i] - 0.5) > 1e-3]
        runs: list[SteppedRun] = []
        for share in shares if chosen else ():
            moved = places.copy()
            moved[chosen] += share * (0.5 - moved[chosen])
            first = min(chosen)
            runs += self._along(best.run.prefix(first), placed(steps[first:], moved[first:]))
        found = self._execute(runs[: self._left])
        # The first has moved most; one that is violated earlier is even better.
        return min([*(f for f in found if len(f.key) <= len(best.key)), best], key=lambda f: len(f.key))

    # ------------------------------------------------------------------ simple values

    def _with_simple_values(self, best: _Failing) -> tuple[_Failing, bool]:
        """Simplify parameters and signals, and tell whether all that was to be tried was tried."""
        values, space = best.run.walk.values, self.tools.usage.values
        if values is None:
            return best, True

        def violating(rows: Sequence[np.ndarray]) -> list[bool]:
            nonlocal best
            rows = rows[: self._left]
            whole = not self.tools.usage.profile.has_actions
            runs = [self.tools.editor.with_values(best.run, row) for row in rows]
            found = {self._values_of(f): f for f in self._execute(runs, whole=whole) if len(f.key) <= len(best.key)}
            first = next((found[key] for row in rows if (key := row.tobytes()) in found), None)
            best = best if first is None else first
            return [row.tobytes() in found for row in rows]

        violated = best.finding.judgement.first_violation_time
        settled = simplify(space, values, violated, violating)
        return best, settled  # the last that violates

    @staticmethod
    def _values_of(failing: _Failing) -> bytes:
        values = failing.run.walk.values
        return b"" if values is None else values.tobytes()

    # ------------------------------------------------------------------ the system

    def _execute(self, runs: Sequence[SteppedRun], *, whole: bool = False) -> list[_Failing]:
        """Execute runs (up to their last action, or whole) and keep those that violate, in the order given."""
        usage, original = self.tools.usage, self.original
        stops = [None if whole else float(run.walk.times[-1]) for run in runs]
        walks = [run.until(np.inf if stop is None else stop) for run, stop in zip(runs, stops, strict=True)]
        queries = [
            Query(
                f"shrink/{original.requirement}/{original.name}/{self.spent + n}",
                usage.draft(walk, stop=stop),
                seed_name=original.query,
            )
            for n, (walk, stop) in enumerate(zip(walks, stops, strict=True), start=1)
        ]
        self.spent += len(queries)
        answers = self.ask(queries) if queries else []
        found = [self._failing(*one) for one in zip(runs, walks, queries, answers, strict=True)]
        return [failing for failing in found if failing is not None]

    def _failing(self, run: SteppedRun, walk: Walk, query: Query, answer: Answer) -> _Failing | None:
        original = self.original
        if answer.status is not original.simulation or len(answer.judgements) <= original.requirement:
            return None
        judgement = answer.judgements[original.requirement]
        if judgement.verdict is not Verdict.VIOLATED:
            return None
        steps = min(walk.steps, violating_step(walk.times, judgement.first_violation_time))
        actions = walk.actions(self.tools.usage.model)
        finding = Finding(
            original.requirement,
            actions[:steps],
            tuple(zip(walk.times.tolist(), actions, strict=True)),
            query.stimulus,
            judgement,
            answer.status,
            None,
            walk=walk,
            choices=run.played.choices,
            shrunk_from=original,
        )
        if not self.tools.usage.profile.has_actions:
            return _Failing(run, finding)
        # Of the last action's moment there may be further actions.
        key = run.prefix(steps) if steps <= len(run.spans) else self.tools.editor.spanned(run.played, steps)
        return _Failing(key, finding)

    def _whole(self, best: _Failing) -> _Failing:
        """Execute the run to the end of the use, so that a replay can show that all is well."""
        if best.run.played.walk.times[-1] < self.tools.usage.duration:
            return best
        found = self._execute([best.run], whole=True)
        return found[0] if found and found[0].key == best.key else best
