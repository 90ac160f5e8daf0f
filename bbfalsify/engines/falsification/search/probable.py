"""Search for the most probable counterexamples, not only the first ones.

The accelerator (`accelerator.py`) finds rare violations soon, but the first words it finds are not those that users
meet most.  So this search goes on, and keeps a pool of words from several sources.  In every round:

    accelerated walks   Algorithm 4, which finds rare usage, too;
    plain walks         drawn from the profile itself, so that a violating one is probable;
    runs along words    of the pool, to count how often they violate, and of their neighbours (`neighbours.py`), which
                        may be more probable; only if the word is more probable than the last one of the list;
    proposals           of a guide (`guided.py`), if the profile draws values or the user asks for one.

The list has the best words by their rough masses (`word_pool.py`).  The search ends when no requirement's list got a
word that matters within the last `patience` simulations, or with its budget.  A source that adds nothing to the list
gets less of the next rounds.  The seed and the answers determine the result, not the number of workers.

A budget of less than `ROUNDS` rounds is divided into so many smaller ones.  Then no plain walks are made before the
list is full, findings are confirmed when the search is over, and walks end where the room to confirm them begins.  Runs
along words get what is left beside the accelerated walks that the list needs, and none along a word that several
runs have followed without a violation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from bbfalsify.core.query import Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.falsification.baseline.failing_runs import shortest_failing
from bbfalsify.engines.falsification.estimates.genealogy import Split
from bbfalsify.engines.falsification.finding import Finding, query_name
from bbfalsify.engines.falsification.instants import whole_moments
from bbfalsify.engines.falsification.search.accelerator import Accelerator, moving
from bbfalsify.engines.falsification.search.cylinders import Cylinders
from bbfalsify.engines.falsification.search.guided import GuidedRuns
from bbfalsify.engines.falsification.search.neighbours import neighbours, other_endings
from bbfalsify.engines.falsification.search.search import Listener, Run, Search, WalkPlan, turns
from bbfalsify.engines.falsification.search.walk_extension import continued, to_the_end
from bbfalsify.engines.falsification.search.whole_uses import make_whole
from bbfalsify.engines.falsification.search.word_pool import Key, Pool, Word
from bbfalsify.engines.falsification.usage import MAX_STEPS, Usage
from bbfalsify.kernel import CompiledModel, Walk

LOOKS = 2
"""Neighbours per walk of a round: computing the probability of a word is cheap, running the system is not."""
RUNS = 4
"""Runs along a word at a time: the first ones show whether it violates at all."""
FURTHER = 2
"""Actions by which runs along a word are extended: a violation may come a little later, and have another word."""
GUIDED_SHARE = 0.5
"""Proposals of a guide per walk of a round."""
ROUNDS = 4
"""Rounds at least, however small the budget: the later ones go along the words of the earlier."""
HOPELESS = 4
"""Runs that followed a word and did not violate, after which no others are made along it where the budget is scarce."""
MARGIN = 1.0
"""Standard deviations by which the walks that a list needs may be more than expected, where the budget is scarce."""
QUIET_SHARE = 4
"""Factor by which the simulations of a source are reduced if it added nothing to the list in the last round."""


class Splitter(Protocol):
    """One of the splitting estimators: the probability of a word, and traces that follow it."""

    def __call__(self, model: CompiledModel, word: Sequence[str], *, effort: int, seeds: SeedTree) -> Split: ...


@dataclass
class ProbableSearch:
    ask: Ask
    usage: Usage
    search: Search
    plan: WalkPlan
    split: Splitter
    effort: int
    """Particles of a round of runs along a word."""
    patience: int
    plain_walks: float
    """Share of plain walks."""
    seeds: SeedTree
    listener: Listener
    guided: GuidedRuns | None = None
    """Proposes some of the runs."""
    pools: list[Pool] = field(init=False, default_factory=list)
    _rounds: list[int] = field(init=False, default_factory=list)
    _scarce: bool = field(init=False, default=False)
    """The budget is less than that of `ROUNDS` rounds."""
    _reported: list[Finding] = field(init=False, default_factory=list)
    """Findings of a scarce budget that were reported in the end."""
    _accelerated: int = field(init=False, default=0)
    """Accelerated walks so far …"""
    _brought: int = field(init=False, default=0)
    """… and the words that they found."""
    _quiet: set[str] = field(init=False, default_factory=set)
    """Sources that added nothing to the list when they were last used."""

    def begin(self, requirements: int) -> None:
        search = self.search
        search.begin(requirements)
        budget = self.plan.left(search)
        places = self.plan.wanted * requirements
        self._scarce = budget - self.plan.per_finding * places < ROUNDS * self.plan.batch
        if self._scarce:
            batch = max(min(budget // ROUNDS, self.plan.batch), 1)
            # Whole uses at once: no simulation is spent on making a finding whole.
            self.plan = replace(self.plan, batch=batch, adaptive_duration=False, cut_short=False)
        else:
            search.kept = self.plan.per_finding * places
        self._before = list(search.findings)
        for finding in self._before:
            search.plain.know(finding.requirement, finding.actions)
        self.pools = [Pool(self.plan.wanted) for _ in range(requirements)]
        learning = self.guided is not None
        self._accelerator = Accelerator(self.ask, self.usage, search, self.plan, self.seeds, shortfalls=learning)
        self._cylinders = Cylinders(self.usage.model, self.seeds.child("cylinder"))
        self._plain_seeds = self.seeds.child("plain").rng()
        for pool in self.pools:
            pool.improved = search.iterations
        for finding in search.carried:
            if finding.walk is not None and finding.iteration is not None:
                self._add(finding, finding.walk)
        if search.carried:
            self._weigh()
            self._list()

    def go_on(self, out_of_time: Callable[[], bool] = lambda: False) -> None:
        """Search until it stops or pauses."""
        search = self.search
        try:
            for _ in turns(search, self.plan, self._settled, out_of_time):
                self._round()
            if search.stopped is not None:
                self._report_all()
        except BaseException:  # an interrupted search keeps what it has confirmed
            if self._scarce:
                search.findings[:] = [f for f in search.findings if f in self._before or f in self._reported]
            raise
        finally:
            search.convergence = [pool.convergence(self._rounds) for pool in self.pools]
            search.further = [pool.further() for pool in self.pools]

    def _settled(self, requirement: int) -> bool:
        """True if a list does not improve any more; one that cannot be filled need not be full."""
        pool, modes = self.pools[requirement], self.search.modes
        if modes is not None and modes.shown(requirement):
            return True
        if self.search.has_all(requirement):
            return True
        enough = pool.full or (self.search.possible is not None and bool(pool.found))
        return enough and modes is None and self.search.iterations - pool.improved >= self.patience

    # ------------------------------------------------------------------ a round

    def _round(self) -> None:
        # The first round is for words to go on from: plain walks would violate too rarely to give any.
        before = self.search.iterations
        filling = self._scarce and not all(pool.full for pool in self.pools)
        share = self.plain_walks if self._rounds and not filling else 0.0
        plain = round(self._share("plain", self.plan.batch * share))
        accelerated = self.plan.batch - plain
        if filling and self._rounds:
            # Words to go on from are there; runs along them get what filling the list does not need.
            accelerated = max(accelerated // 2, min(accelerated, accelerated - self._spare()))
        found = self._found
        runs = []
        for run in self._accelerator.runs(self._room(accelerated), range(len(self.pools))):
            self._read(run)
            runs.append(run)
        self._accelerated += len(runs)
        self._brought += self._found - found
        self._tell(runs)
        sources = {"plain": self._plain(plain), "guided": self._guided(), "along": self._along_words()}
        if self.search.iterations == before:  # what is left does not suffice to find and confirm another one
            self.search.stopped = StopReason.BUDGET_SIMULATIONS
            return
        self._weigh()
        self._rounds.append(self.search.iterations)
        brought = self._list()
        for name, numbers in sources.items():
            if brought & set(numbers):
                self._quiet.discard(name)
            elif numbers:
                self._quiet.add(name)

    def _room(self, count: int) -> int:
        """At most so many walks; fewer if the budget would not suffice to confirm what may be listed."""
        left, places, cost = self.plan.left(self.search), self.plan.wanted * len(self.pools), self.plan.per_finding
        if left - cost * places >= count:
            return count
        if self._scarce:  # the list is confirmed in the end
            listed = [word.finding for pool in self.pools for word in pool.best()]
            unpaid = sum(finding not in self._reported for finding in listed)
            room = self.plan.with_room(left - cost * unpaid, places - len(listed), len(self.pools))
        else:  # words that were found before may come on the list, too
            waiting = sum(not word.listed for pool in self.pools for word in pool.found)
            room = self.plan.with_room(
                left - cost * min(waiting, places), places - min(waiting, places), len(self.pools)
            )
        return max(0, min(count, room))

    @property
    def _found(self) -> int:
        return sum(len(pool.found) for pool in self.pools)

    def _spare(self) -> int:
        """Walks of a scarce budget that are left beside accelerated ones that fill the list, as they did so far."""
        missing = sum(max(self.plan.wanted - len(pool.found), 0) for pool in self.pools)
        rate = min((self._brought + 0.5) / (self._accelerated + 1), 1.0)
        needed = (missing + MARGIN * math.sqrt(missing * (1 - rate))) / rate
        places = self.plan.wanted * len(self.pools) - len(self._reported)
        return max(0, int(self.plan.left(self.search) - self.plan.per_finding * places - needed))

    def _share(self, source: str, size: float) -> float:
        return size / QUIET_SHARE if source in self._quiet else size

    def _read(self, run: Run, *, plain: bool = False) -> list[Finding]:
        known_before = self.search.remembered
        violated = list(self.search.violations(self.usage, run))
        if plain:
            keys = [(f.requirement, f.actions) for f in violated]
            self.search.plain.count(keys, judged=bool(run.answer.judgements))
        if self._scarce:
            self._remember(run, violated)
        findings = [f for f in violated if f.actions not in known_before[f.requirement]]
        for finding in findings:
            self._add(finding, run.walk)
        return findings

    def _remember(self, run: Run, violated: Sequence[Finding]) -> None:
        """Remember how far a run went without a violation."""
        steps = {finding.requirement: len(finding.actions) - 1 for finding in violated}
        happened = int(np.searchsorted(run.walk.times, run.stimulus.duration, side="right"))
        actions = run.walk.actions(self.usage.model)[:happened]
        for number in range(len(run.answer.judgements)):
            self.pools[number].walked(actions[: steps.get(number, happened)])

    def _add(self, finding: Finding, walk: Walk) -> None:
        if finding.actions not in self.search.known[finding.requirement]:
            self.search.plain.know(finding.requirement, finding.actions)
            self.search.known[finding.requirement].add(finding.actions)
            self._accelerator.learn(finding)
        places = [tuple(row) for row in walk.locations[: len(finding.actions) + 1].tolist()]
        self.pools[finding.requirement].add(finding, places)
        if self._scarce:
            found = sum(min(len(pool.found), self.plan.wanted) for pool in self.pools)
            self.search.kept = self.plan.per_finding * max(found - len(self._reported), 0)

    def _plain(self, count: int) -> range:
        iterations = self.plan.next(self.search, self._room(count))
        if not iterations:
            return iterations
        words = self._plain_seeds.integers(0, 2**64, size=len(iterations), dtype=np.uint64)
        walks = self.usage.stochastic_walks(words)
        made = self.usage.values.seeded(dict(moving(self.usage, self.search, walks)), words)
        reached = {iterations[i]: walk for i, walk in made.items()}
        runs = list(self._execute(reached, stop=False))
        for run in runs:
            self._read(run, plain=True)
        self._tell(runs)
        for _ in range(len(iterations) - len(reached)):
            self.search.plain.count((), judged=False)
        return iterations

    def _tell(self, runs: Sequence[Run]) -> None:
        """Tell the guide whole runs that it did not propose."""
        if self.guided is not None:
            self.guided.hear([run for run in runs if run.stimulus.duration >= self.usage.duration])

    def _guided(self) -> range:
        """Execute proposals of the guide, as many at a time as it learns from."""
        first = self.search.iterations + 1
        if self.guided is not None:
            last = self.search.iterations + round(self._share("guided", self.plan.batch * GUIDED_SHARE))
            while (left := self._room(last - self.search.iterations)) > 0:
                before = self.search.iterations
                for run in self.guided.runs(min(self.guided.plan.batch, left), ()):
                    self._read(run)
                if self.search.iterations == before:
                    break
        return range(first, self.search.iterations + 1)

    def _execute(self, walks: dict[int, Walk], *, stop: bool) -> Iterator[Run]:
        """Execute walks, each under its number; only up to its last action with `stop`."""
        stimuli = [self.usage.stimulus(w, stop=float(w.times[-1]) if stop else None) for w in walks.values()]
        learning = self.guided is not None
        answers = self.ask([Query(query_name(i), s, shortfalls=learning) for i, s in zip(walks, stimuli, strict=True)])
        for (iteration, walk), stimulus, answer in zip(walks.items(), stimuli, answers, strict=True):
            run, most = Run(iteration, walk, stimulus, answer), self.plan.spare(self.search)
            cut = shortest_failing(self.search.counting(self.ask), self.usage, run, most=most)
            if cut is not None:
                yield cut

    # ------------------------------------------------------------------ runs along words

    def _along_words(self) -> range:
        """Run along the words with the largest expected gain, a few times each; return the numbers of first tries."""
        self._weigh()
        self._look_around()
        first = self.search.iterations + 1
        self._run_along(self._beside(round(self._share("along", self.plan.batch))), contested=False)
        tried = range(first, self.search.iterations + 1)
        self._run_along(self._beside(self.plan.batch // 2), contested=True)
        return tried

    def _beside(self, count: int) -> int:
        """At most so many runs beside those that fill a list."""
        return min(count, self._spare()) if self._scarce else count

    def _run_along(self, count: int, *, contested: bool) -> None:
        promised: dict[Key, float] = {}
        for pool in self.pools:
            # Nothing is contested while there are free places.
            for gain, word in pool.worth_running(contested=contested and pool.full):
                if self._scarce and word.finding is None and pool.passed(word.actions) >= HOPELESS:
                    continue
                promised[word.actions] = max(gain, promised.get(word.actions, 0.0))
        chosen = self._allotted(promised, self._room(count))
        walks: dict[int, Walk] = {}
        tried: list[tuple[Key, float, range]] = []
        for key, runs in chosen.items():
            drawn = self.seeds.child("along", *key, self._runs_along(key))
            split = self.split(self.usage.model, key, effort=self.effort, seeds=drawn)
            # Neighbouring traces may have the same ancestors.
            traces = split.walks()
            traces = traces[:: max(1, len(traces) // runs)][:runs]
            traces = continued(self.usage.model, traces, FURTHER, drawn.child("further"))
            traces = whole_moments(self.usage.model, traces, drawn.child("moment"))
            if not self.plan.cut_short:
                limits = self.usage.duration, MAX_STEPS
                traces = [to_the_end(self.usage.model, w, *limits, drawn.child(i)) for i, w in enumerate(traces)]
            traces = self.usage.values.drawn(traces, drawn)
            numbers = self.plan.next(self.search, len(traces))
            walks |= dict(zip(numbers, traces, strict=True))
            for walk in traces:
                self.search.visits.add_walk(self.usage.model, walk)
            tried.append((key, split.cylinder, numbers))
        hits = {run.iteration: self._read(run) for run in self._execute(walks, stop=self.plan.cut_short)}
        for key, cylinder, numbers in tried:
            self._count(
                key, cylinder, [finding for number in numbers for finding in hits.get(number, ())], len(numbers)
            )

    def _allotted(self, promised: dict[Key, float], count: int) -> dict[Key, int]:
        """Words to run along, the most promising first, each with its number of runs.

        Where the budget is scarce, every further run along a word is taken to promise half as much as the one before.
        """
        chosen = sorted(promised, key=lambda key: (-promised[key], len(key), key))
        if not self._scarce:
            return dict.fromkeys(chosen[: count // RUNS], RUNS)
        steps = [(-promised[key] / 2**run, place, key) for place, key in enumerate(chosen) for run in range(RUNS)]
        allotted: dict[Key, int] = {}
        for *_, key in sorted(steps)[:count]:
            allotted[key] = allotted.get(key, 0) + 1
        return allotted

    def _runs_along(self, key: Key) -> int:
        return max(pool.words[key].runs for pool in self.pools if key in pool.words)

    def _count(self, key: Key, cylinder: float, findings: list[Finding], runs: int) -> None:
        for number, pool in enumerate(self.pools):
            word = pool.words.setdefault(key, Word(key))
            violated = [f for f in findings if f.requirement == number]
            if word.runs == 0 and (word.finding is None or word.finding in violated):
                pool.candidates_tried += 1
                pool.candidates_violated += bool(violated)
            word.count(cylinder, max(runs, 1), sum(f.actions == key for f in violated))

    def _weigh(self) -> None:
        """Estimate the probabilities of new words, roughly; only a bound for those below every word of the list."""
        for number, pool in enumerate(self.pools):
            for word in pool.found:
                met = self.search.plain.meetings(number, word.actions)
                word.met, word.walks = met.met, met.walks - met.unknown
            new = [word for word in pool.words.values() if word.cylinder is None]
            threshold = pool.threshold()
            # The short ones first: they are probable and raise the threshold for the others.
            for word in sorted(new, key=lambda word: (len(word.actions), word.actions)):
                word.cylinder = self._cylinders.probability(word.actions, threshold)
                if word.finding is not None and word.mass > threshold:
                    threshold = pool.threshold()

    def _look_around(self) -> None:
        """Put neighbours of the best words into the pool."""
        actions = self.usage.model.actions
        for number, pool in enumerate(self.pools):
            best = pool.best()
            if not best:
                continue
            rng = self.seeds.child("neighbours", number, self.search.iterations).rng()
            near = [ending for word in best for ending in other_endings(word.actions, actions)]
            walked = [(word.actions, word.places) for word in best]
            near += neighbours(walked, [word.mass for word in best], actions, rng, LOOKS * self.plan.batch)
            for key in near:
                pool.words.setdefault(key, Word(key))
        self._weigh()

    # ------------------------------------------------------------------ the list

    def _report_all(self) -> None:
        """Report what a search of scarce budget has listed in the end: words that left its list cost nothing more."""
        for finding in self.search.findings if self._scarce else ():
            if finding not in self._before and finding not in self._reported:
                self.search.report(finding, self.listener)
                self._reported.append(finding)

    def _list(self) -> set[int]:
        """Update the findings; return the numbers of the simulations that added something to a list."""
        self.search.findings[:] = self._before + [w.finding for pool in self.pools for w in pool.best() if w.finding]
        brought: set[int] = set()
        for pool in self.pools:
            for finding in pool.newly_listed(self.search.iterations):
                brought.add(finding.iteration or 0)
                if not self._scarce:
                    make_whole(self.search.counting(self.ask), self.usage, finding, self.seeds)
                    self.search.report(finding, self.listener)
        self.listener.advanced(self.search, [pool.mass() for pool in self.pools])
        return brought
