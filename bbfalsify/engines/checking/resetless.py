"""Check a box that cannot be reset, in one single, long use (the hW learner of Groz et al., from AALpy).

There is one run, and requirements are about that run.  A hypothesis is model-checked from the presumed current state of
the box, and a violation is executed at once.  Violations are final; but nothing can be repeated from the beginning, so
no requirement is satisfied "up to a bound", and its verdict is "stopped".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bbfalsify.core.errors import SystemFailure
from bbfalsify.core.query import Ask, WordQuery
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.checking.claims import CheckProgress, Claim, Violation
from bbfalsify.engines.checking.learners import from_aalpy
from bbfalsify.engines.checking.strategy import ROUNDS_WITHOUT_BOUND, CheckListener, Options
from bbfalsify.logic.ltl import Lasso, find_violation, first_bad_prefix, violates

WALKS, WALK_LENGTH = 20, 20
"""Number and length of random walks that test a hypothesis, each from the end of the one before."""


def run_without_reset(
    ask: Ask,
    claims: Sequence[Claim],
    alphabet: Sequence[str],
    progress: CheckProgress,
    options: Options,
    *,
    seeds: SeedTree,
    listener: CheckListener,
) -> None:
    from aalpy.learning_algs import run_hW

    run = OneRun(ask)
    teacher = _Teacher(run, claims, alphabet, progress, options, listener, seeds.child("walks").rng())
    try:
        run_hW(list(alphabet), _sul(run), _oracle(teacher), "mealy", query_for_initial_state=False, print_level=0)
    except _Over:
        pass


class OneRun:
    """All inputs and outputs of the box since the beginning."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.word: list[str] = []
        self.outputs: list[str] = []

    def step(self, symbol: str) -> str:
        answer = self._ask([WordQuery(f"step/{len(self.word)}", (symbol,))])[0]
        if not answer.ok:
            raise SystemFailure(
                f"after {len(self.word)} symbols the system failed ({answer.status}) and cannot be reset: "
                f"{answer.message}"
            )
        self.word.append(symbol)
        self.outputs.append(answer.symbols[0])
        return answer.symbols[0]


class _Over(Exception):
    """Nothing is left to do: every requirement is violated, or there is nothing to learn."""


class _Teacher:
    learner: Any
    """AALpy's learner, which steps the box and its own state together."""

    def __init__(
        self,
        run: OneRun,
        claims: Sequence[Claim],
        alphabet: Sequence[str],
        progress: CheckProgress,
        options: Options,
        listener: CheckListener,
        rng: np.random.Generator,
    ) -> None:
        self._run, self._claims, self._alphabet = run, claims, list(alphabet)
        self._progress, self._options, self._listener, self._rng = progress, options, listener, rng

    @property
    def _open(self) -> list[int]:
        return self._progress.open_claims(self._claims)

    @property
    def decided(self) -> bool:
        return self._progress.decided(self._claims, stop_at_first=self._options.stop_at_first)

    def find(self, hypothesis: Any) -> list[str] | None:
        """Find inputs whose last output the hypothesis did not predict; it steps along with the box."""
        machine = from_aalpy(hypothesis, self._alphabet, start=hypothesis.current_state)
        self._progress.hypothesis = machine
        self._progress.hypotheses += 1
        self._listener.hypothesis(machine)
        for number in self._open:
            machine = from_aalpy(hypothesis, self._alphabet, start=hypothesis.current_state)
            lasso = find_violation(machine, self._claims[number].property)
            if lasso is None:
                continue
            before = len(self._run.word)
            rounds = max(self._options.max_states or ROUNDS_WITHOUT_BOUND, len(machine)) if lasso.loop else 0
            wrong = self._follow(hypothesis, lasso.prefix + lasso.loop * rounds)
            self._judge_run()
            if wrong is not None:
                return wrong
            if lasso.loop and number in self._open:
                self._judge_loop(number, before + len(lasso.prefix), lasso, rounds)
        for _ in range(WALKS):
            walk = [self._alphabet[i] for i in self._rng.integers(len(self._alphabet), size=WALK_LENGTH)]
            wrong = self._follow(hypothesis, walk)
            if wrong is not None:
                self._judge_run()
                return wrong
        if not self.learner.homing_sequence:  # the learner assumes that a box has more than one state
            raise _Over
        return None

    def _follow(self, hypothesis: Any, word: Sequence[str]) -> list[str] | None:
        for position, symbol in enumerate(word):
            if self.learner.step_wrapper(symbol) != hypothesis.step(symbol):
                return list(word[: position + 1])
        return None

    def _judge_run(self) -> None:
        """Record the requirements that the run has violated, whatever follows."""
        for number in self._open:
            length = first_bad_prefix(
                self._claims[number].property, self._run.word, self._run.outputs, inputs=self._alphabet
            )
            if length is not None:
                prefix = tuple(self._run.word[:length])
                self._violated(
                    number, Violation(Lasso(prefix, ()), tuple(self._run.outputs[:length]), prefix, None, 0, 0)
                )

    def _judge_loop(self, number: int, start: int, lasso: Lasso, rounds: int) -> None:
        letters = list(zip(self._run.word, self._run.outputs, strict=True))
        once = len(lasso.loop)
        if violates(
            self._claims[number].property, letters[:start], letters[start : start + once], inputs=self._alphabet
        ):
            prefix, executed = tuple(self._run.word[:start]), tuple(self._run.word)
            outputs = tuple(self._run.outputs[: start + once])
            self._violated(number, Violation(Lasso(prefix, lasso.loop), outputs, executed, rounds, 0, 0))

    def _violated(self, number: int, violation: Violation) -> None:
        self._progress.violations[number] = violation
        self._listener.violated(number, violation)
        if self.decided:
            raise _Over


def _sul(run: OneRun) -> Any:
    from aalpy.base import SUL

    class RunAsSul(SUL):
        def pre(self) -> None: ...

        def post(self) -> None: ...

        def step(self, letter: str) -> str:
            return run.step(letter)

    return RunAsSul()


def _oracle(teacher: _Teacher) -> Any:
    from aalpy.learning_algs.resetless.resetless_oracles import hWOracle

    class Teaching(hWOracle):
        def find_cex(self, hypothesis: Any) -> list[str] | None:
            teacher.learner = self.learner
            return teacher.find(hypothesis)

    return Teaching()
