"""Black box checking, the strategy of Figure 3: learning and testing with the requirements in the loop.

    repeat
        M := the learner's hypothesis                              (at most n states, else: the box has more)
        known     does everything ever seen agree with M?          no: a counterexample, learn on
        check     does M violate a requirement?                    yes: execute it on the box; it is real (a violation),
                                                                   or the box disagrees with M (learn on)
        test      Vasilevskii-Chow with k, k+1, …, n states        a disagreement: learn on
    until nothing disagrees: what is not violated holds if the box has at most n states

An error of a box with l < n states is found at the price of l: the middle part of the tests grows step by step, and
every hypothesis on the way is model-checked.  Without a bound n the tests go on while the budget lasts.

A violation by a finite word is one execution.  A violation by an infinite word, prefix·loop·loop·…, is executed with
n rounds of the loop: if the outputs stay periodic, two of the n + 1 states at the loop's head are the same, so the box
can go on for ever, if it has at most n states (section 4.3).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.automata.observation_tree import ObservationTree, first_disagreement
from bbfalsify.core.errors import SystemFailure
from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.checking.box import FAILURES, Box, Relearn, Repeat
from bbfalsify.engines.checking.claims import CheckProgress, Claim, Violation
from bbfalsify.engines.checking.conformance import test_batches
from bbfalsify.engines.checking.learners import learn
from bbfalsify.engines.checking.settings import RANDOM_METHODS, Options
from bbfalsify.logic.ltl import Lasso, find_violation, first_bad_prefix

ROUNDS_WITHOUT_BOUND = 20
"""Rounds of a loop, if there is no bound on the states of the box."""
RANDOM_EXTRA = 2
"""Extra states for random tests without a bound: middle parts are one longer on average."""
CONFIRMATIONS = 2
"""Executions of a violation before it is reported."""


class CheckListener(Protocol):
    def hypothesis(self, machine: MealyMachine) -> None: ...

    def tested(self, bound: int) -> None:
        """The hypothesis has passed all tests up to this number of states."""

    def violated(self, claim: int, violation: Violation) -> None: ...


def run(
    ask: Ask,
    claims: Sequence[Claim],
    alphabet: Sequence[str],
    tree: ObservationTree,
    progress: CheckProgress,
    options: Options,
    *,
    repeat: Repeat,
    seeds: SeedTree,
    listener: CheckListener,
    older: MealyMachine | None = None,
) -> None:
    """Check the claims; `progress` and the tree have the results at any moment."""
    box = Box(ask, tree, repeat, options.batch, progress.glitches, progress.failures)
    teacher = BlackBoxTeacher(box, claims, progress, options, listener, seeds)
    while True:
        try:
            learn(options.learner, box, alphabet, teacher, older=older)
            return
        except Relearn:  # the tree keeps everything but the wrong answer, so little is executed again
            progress.tested_bound = 0


class BlackBoxTeacher:
    """A teacher that checks a hypothesis by known words, model checking and tests."""

    def __init__(
        self,
        box: Box,
        claims: Sequence[Claim],
        progress: CheckProgress,
        options: Options,
        listener: CheckListener,
        seeds: SeedTree,
    ) -> None:
        self._box, self._claims, self._progress = box, claims, progress
        self._options, self._listener, self._seeds = options, listener, seeds

    def __call__(self, machine: MealyMachine) -> Word | None:
        """Find a word on which the box disagrees with the machine; None when the check is over."""
        progress = self._progress
        wrong = first_disagreement(self._box.tree, machine)
        if wrong is not None:
            return wrong
        if set(machine.outputs) <= set(FAILURES):  # the system cannot be used at all
            said = "; ".join(f"{kind}: {message}" for kind, message in self._box.failures.items())
            raise SystemFailure(f"every use failed at its first symbol, whatever it was ({said})")
        progress.hypothesis, progress.tested_bound = machine, 0
        progress.hypotheses += 1
        self._listener.hypothesis(machine)
        wrong = self._model_check(machine)
        if wrong is None and not self._decided:
            if self._bound is not None and len(machine) > self._bound:
                progress.too_many = True  # observations separate each state from all others
                return None
            wrong = self._test(machine)
            progress.finished = wrong is None
        return None if self._decided else wrong

    @property
    def _bound(self) -> int | None:
        return self._options.max_states

    @property
    def _open(self) -> list[int]:
        return self._progress.open_claims(self._claims)

    @property
    def _decided(self) -> bool:
        """Tell whether no more needs to be learned; the risk in use needs the whole machine."""
        if self._options.within is not None:
            return False
        return self._progress.decided(self._claims, stop_at_first=self._options.stop_at_first)

    # ------------------------------------------------------------------ model checking and confirmation

    def _model_check(self, machine: MealyMachine) -> Word | None:
        for number in self._open:
            lasso = find_violation(machine, self._claims[number].property)
            if lasso is None:
                continue
            rounds = max(self._bound or ROUNDS_WITHOUT_BOUND, len(machine)) if lasso.loop else 0
            word = lasso.prefix + lasso.loop * rounds
            wrong = self._compare(machine, word, self._box.outputs(word))
            if wrong is not None:
                return wrong
            self._confirm(number, lasso, word)
            if self._decided:
                return None
        return None

    def _confirm(self, number: int, lasso: Lasso, word: Word) -> None:
        outputs = self._box.outputs(word)
        again = self._box.again(word, CONFIRMATIONS)
        violation = Violation(
            lasso,
            outputs[: len(lasso.prefix) + len(lasso.loop)],
            word,
            (len(word) - len(lasso.prefix)) // len(lasso.loop) if lasso.loop else None,
            sum(o == outputs for o in again),
            len(again),
        )
        self._progress.violations[number] = violation
        self._listener.violated(number, violation)

    # ------------------------------------------------------------------ conformance testing

    def _test(self, machine: MealyMachine) -> Word | None:
        """Test by Vasilevskii-Chow with growing middle parts, so that errors of small boxes are found first."""
        k, n = len(machine), self._bound
        if self._options.tester in RANDOM_METHODS:
            return self._test_at_random(machine, RANDOM_EXTRA if n is None else n - k)
        for extra in itertools.count() if n is None else range(n - k + 1):
            rng = self._seeds.child("test", self._progress.hypotheses, extra).rng()
            wrong = next(self._differences(machine, extra, rng), None)
            if wrong is not None:
                return wrong
            self._progress.tested_bound = k + extra
            self._listener.tested(k + extra)
        return None

    def _test_at_random(self, machine: MealyMachine, extra: int) -> Word | None:
        """Test until the budget ends: errors may be found sooner, but passing proves nothing."""
        rng = self._seeds.child("test", self._progress.hypotheses).rng()
        return next(self._differences(machine, extra, rng), None)

    def _differences(self, machine: MealyMachine, extra: int, rng: np.random.Generator) -> Iterator[Word]:
        """Execute test words; yield those that the machine answers in another way."""
        batches = test_batches(self._options.tester, machine, extra, tree=self._box.tree, rng=rng)
        for word, outputs in self._box.all_outputs(itertools.chain.from_iterable(batches)):
            wrong = self._compare(machine, word, outputs)
            if wrong is not None:
                yield wrong

    def _compare(self, machine: MealyMachine, word: Word, outputs: Word) -> Word | None:
        """Return the shortest prefix on which they disagree; check the requirements on the word if there is one."""
        expected = machine.run(word)
        if expected == outputs:
            return None
        for number in self._open:
            length = first_bad_prefix(self._claims[number].property, word, outputs, inputs=machine.inputs)
            if length is not None:
                self._confirm(number, Lasso(word[:length], ()), word[:length])
        return word[: next(i for i, (a, b) in enumerate(zip(expected, outputs, strict=True)) if a != b) + 1]
