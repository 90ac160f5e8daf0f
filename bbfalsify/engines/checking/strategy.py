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
from collections.abc import Sequence
from typing import Protocol

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.automata.observation_tree import ObservationTree, first_disagreement
from bbfalsify.core.errors import SystemFailure
from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.checking.box import FAILURES, Box, Relearn, Repeat
from bbfalsify.engines.checking.claims import Claim, Progress, Violation
from bbfalsify.engines.checking.conformance import test_words
from bbfalsify.engines.checking.learners import learn
from bbfalsify.engines.checking.settings import RANDOM_METHODS, Options
from bbfalsify.logic.ltl import Lasso, find_violation, first_bad_prefix

ROUNDS_WITHOUT_BOUND = 20
"""Of a loop, where nobody says how many states the box has at most."""
RANDOM_EXTRA = 2
"""Extra states that random tests have in mind, where there is no bound: middle parts are one longer on average."""
CONFIRMATIONS = 2
"""A violation is executed so often again before it is reported."""


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
    progress: Progress,
    options: Options,
    *,
    repeat: Repeat,
    seeds: SeedTree,
    listener: CheckListener,
    older: MealyMachine | None = None,
) -> None:
    """Check; what is known at any moment is in `progress` and in the tree."""
    box = Box(ask, tree, repeat, options.batch, progress.glitches, progress.failures)
    teacher = BlackBoxTeacher(box, claims, progress, options, listener, seeds)
    while True:
        try:
            learn(options.learner, box, alphabet, teacher, older=older)
            return
        except Relearn:  # the tree remembers everything but the wrong answer, so little is executed again
            progress.tested_bound = 0


class BlackBoxTeacher:
    """Answers "is this hypothesis right?" with all that is known, asked, or can be tried."""

    def __init__(
        self,
        box: Box,
        claims: Sequence[Claim],
        progress: Progress,
        options: Options,
        listener: CheckListener,
        seeds: SeedTree,
    ) -> None:
        self._box, self._claims, self._progress = box, claims, progress
        self._options, self._listener, self._seeds = options, listener, seeds

    def __call__(self, machine: MealyMachine) -> Word | None:
        """A word on which the box disagrees with the machine; None when the check is over."""
        progress = self._progress
        wrong = first_disagreement(self._box.tree, machine)
        if wrong is not None:
            return wrong
        if set(machine.outputs) <= set(FAILURES):  # not a system with a fault, but none that can be used
            said = "; ".join(f"{kind}: {message}" for kind, message in self._box.failures.items())
            raise SystemFailure(f"every use failed at its first symbol, whatever it was ({said})")
        progress.hypothesis, progress.tested_bound = machine, 0
        progress.hypotheses += 1
        self._listener.hypothesis(machine)
        wrong = self._model_check(machine)
        if wrong is None and not self._decided:
            if self._bound is not None and len(machine) > self._bound:
                progress.too_many = True  # each state is told from all others by something that was observed
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
        """Vasilevskii-Chow, its middle part growing: an error of a small box is found before the large tests begin."""
        k, n = len(machine), self._bound
        if self._options.tester in RANDOM_METHODS:
            return self._test_at_random(machine, RANDOM_EXTRA if n is None else n - k)
        for extra in itertools.count() if n is None else range(n - k + 1):
            rng = self._seeds.child("test", self._progress.hypotheses, extra).rng()
            words = test_words(self._options.tester, machine, extra, tree=self._box.tree, rng=rng)
            for word, outputs in self._box.all_outputs(words):
                wrong = self._compare(machine, word, outputs)
                if wrong is not None:
                    return wrong
            self._progress.tested_bound = k + extra
            self._listener.tested(k + extra)
        return None

    def _test_at_random(self, machine: MealyMachine, extra: int) -> Word | None:
        """Without an end but that of the budget: errors may be found sooner, and nothing is established."""
        rng = self._seeds.child("test", self._progress.hypotheses).rng()
        words = test_words(self._options.tester, machine, extra, tree=self._box.tree, rng=rng)
        differences = (self._compare(machine, word, outputs) for word, outputs in self._box.all_outputs(words))
        return next((wrong for wrong in differences if wrong is not None), None)

    def _compare(self, machine: MealyMachine, word: Word, outputs: Word) -> Word | None:
        """The shortest prefix on which they disagree.  Only there can the box do what no hypothesis was checked for."""
        expected = machine.run(word)
        if expected == outputs:
            return None
        for number in self._open:
            length = first_bad_prefix(self._claims[number].property, word, outputs, inputs=machine.inputs)
            if length is not None:
                self._confirm(number, Lasso(word[:length], ()), word[:length])
        return word[: next(i for i, (a, b) in enumerate(zip(expected, outputs, strict=True)) if a != b) + 1]
