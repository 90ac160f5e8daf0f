"""Answer a question about a model: exactly by its chain where there is one, else by simulation.

answered = answer(network, question, settings, seeds, go_on)
answered.estimate, answered.verdict, answered.warnings
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bbfalsify.chains.answers import answer_csl
from bbfalsify.chains.chain import MOST_STATES, Chain, explore_chain
from bbfalsify.chains.refusals import not_markov
from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import NOT_ESTIMATED, Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.answered import Answered
from bbfalsify.engines.estimation.expectations import expectation, simulation
from bbfalsify.engines.estimation.going_on import combined, second_settings
from bbfalsify.engines.estimation.importance import MOST_RUNS, TRAINING, importance_sampling
from bbfalsify.engines.estimation.path_sampler import PathSampler
from bbfalsify.engines.estimation.plain import Plain
from bbfalsify.engines.estimation.plain_rule import PlainRule
from bbfalsify.engines.estimation.questions import Path, Question
from bbfalsify.engines.estimation.settings import RARE, EstimateSettings
from bbfalsify.engines.estimation.splitting import Splitting
from bbfalsify.engines.estimation.tilted_paths import TiltedPaths
from bbfalsify.modelling import Network

AUTOMATIC_STATES = 2_000_000
"""Largest chain that is computed without being asked for."""


class Answering:
    """Answers about one model; its chain is explored once."""

    def __init__(
        self,
        network: Network,
        settings: EstimateSettings,
        go_on: Callable[[], bool],
        explored: Callable[[int], None] = lambda states: None,
    ) -> None:
        """`explored` hears now and then how many states of the chain were found."""
        self.network, self.settings, self.go_on, self._explored = network, settings, go_on, explored
        self._chain: Chain | None = None
        self._no_chain: UserError | None = None

    @property
    def chain(self) -> Chain | None:
        """The chain, once a question needed it."""
        return self._chain

    def answer(self, question: Question, seeds: SeedTree) -> Answered:
        if question.expression is not None:
            found, warnings = expectation(self.network, question, self.settings, seeds, self.go_on)
            return Answered(found, runs=found.samples, method=found.method, warnings=warnings)
        if question.expressions:
            shown = simulation(self.network, question, self.settings, seeds)
            return Answered(None, runs=len(shown["runs"]), method="simulation", trajectories=shown)
        if question.other is not None:
            return self._difference(question) if self._by_chain(question) else self._comparison(question, seeds)
        if self._by_chain(question):
            return self._exactly(question)
        if question.path is None:
            raise self._refusal(question)
        return self._by_runs(question, question.path, seeds)

    # --- the chain ---------------------------------------------------------------------------------------------------

    def _by_chain(self, question: Question) -> bool:
        wanted = self.settings.method
        if (
            (question.formula or question.sides) is None
            or wanted not in ("auto", "chain")
            or (question.runs and wanted == "auto")
        ):
            if wanted == "chain":
                raise UserError(Problem(f"query '{question.text}': a chain cannot answer it; use method: auto."))
            return False
        if self._chain is None and self._no_chain is None:
            most = AUTOMATIC_STATES if wanted == "auto" and question.path is not None else MOST_STATES
            try:
                self._chain = explore_chain(self.network, most_states=most, go_on=self._goes_on)
            except UserError as error:
                self._no_chain = error
        if self._chain is None and self._no_chain is not None and wanted == "chain":
            raise self._no_chain
        return self._chain is not None

    def _goes_on(self, states: int) -> bool:
        self._explored(states)
        return self.go_on()

    def _exactly(self, question: Question) -> Answered:
        assert self._chain is not None and question.formula is not None
        found = answer_csl(self._chain, question.formula)
        return Answered(
            found.estimate(), found.verdict, not found.asks_number, 0, found.method, self._numerical(found.value)
        )

    def _difference(self, question: Question) -> Answered:
        """Compare two probabilities by the chain."""
        assert self._chain is not None and question.sides is not None and question.bound is not None
        left, right = (answer_csl(self._chain, formula) for formula in question.sides)
        assert left.value is not None and right.value is not None
        low, high, how = left.low - right.high, left.high - right.low, f"difference of two: {left.method}"
        found = Estimate(left.value - right.value, low, high, 1.0, how, 0)
        return Answered(found, question.bound.verdict(low, high), True, 0, how)

    def _numerical(self, value: float | None) -> list[str]:
        return ["infinite: with positive probability it never happens"] if value == math.inf else []

    def _refusal(self, question: Question) -> UserError:
        if self._no_chain is None:  # nobody has tried
            method = self.settings.method
            return UserError(Problem(f"query '{question.text}': random runs cannot decide it, and --method {method} "
                                     "makes no chain; use --method auto, or give it a bound of time."))  # fmt: skip
        problems = not_markov(self.network)
        says = "random runs cannot decide it (it needs a chain, or a bound of time), and the model has none"
        first = Problem(f"query '{question.text}': {says}:")
        rest = problems or list(self._no_chain.problems)
        return UserError([first, *rest])

    # --- runs --------------------------------------------------------------------------------------------------------

    def _by_runs(self, question: Question, path: Path, seeds: SeedTree) -> Answered:
        sampler, bound, settings = PathSampler(self.network, path, self.settings.steps), question.bound, self.settings
        verdict: bool | None = None
        if settings.method in RARE:
            found = self._rarely(sampler, settings, seeds)
        else:
            inner = _mirrored(bound) if path.negated and bound is not None else bound
            plain = Plain(sampler, settings, seeds, self.go_on)
            counted, verdict = plain.estimate(inner, question.runs)
            found = Answered(counted, runs=counted.samples, warnings=plain.counting.warnings())
            counts = plain.counting.counts()
            second = second_settings(PlainRule(settings, inner, question.runs), counts)
            if second is not None and self.go_on():
                found = replace(found, warnings=plain.counting.warnings(hint=False))
                found = combined(
                    found, counts, second, lambda chosen: self._rarely(sampler, chosen, seeds.child("second"))
                )
        estimate, warnings = found.estimate, found.warnings
        assert estimate is not None
        if self._no_chain is not None and not not_markov(self.network):
            warnings = [f"simulated: {problem.message}" for problem in self._no_chain.problems] + warnings
        estimate = _complement(estimate) if path.negated else estimate
        if bound is not None and verdict is None and settings.method != "sprt":
            verdict = bound.verdict(estimate.low, estimate.high)
        return replace(
            found, estimate=estimate, verdict=verdict, asks_verdict=bound is not None, method=estimate.method,
            warnings=warnings,
        )  # fmt: skip

    def _rarely(self, sampler: PathSampler, settings: EstimateSettings, seeds: SeedTree) -> Answered:
        """The answer by splitting or importance sampling."""
        if settings.method == "splitting":
            splitting = Splitting(sampler, settings, seeds, self.go_on)
            found = splitting.estimate()
            roots = {"distinct_roots": splitting.passes.roots}
            return Answered(found, runs=found.samples, warnings=splitting.warnings(), evidence=roots)
        source = TiltedPaths(sampler, settings.score, int(TRAINING * (settings.runs or MOST_RUNS)))
        tilting = importance_sampling(source, settings, seeds, self.go_on)
        try:
            found = tilting.estimate()
        except BudgetSpent as spent:
            found = Estimate(1.0, 0.0, 1.0, settings.confidence, NOT_ESTIMATED, source.runs)
            tilting.said.append(f"stopped while preparing ({spent.reason.value})")
        evidence = {"effective_samples": round(tilting.effective, 1)}
        return Answered(found, runs=source.runs, warnings=tilting.said, evidence=evidence)

    def _comparison(self, question: Question, seeds: SeedTree) -> Answered:
        """Two probabilities at half the doubt each; their intervals decide."""
        assert question.path is not None and question.other is not None and question.bound is not None
        half = None if self.settings.runs is None else max(1, self.settings.runs // 2)
        settings = replace(self.settings, confidence=1 - (1 - self.settings.confidence) / 2, runs=half)
        one = Answering(self.network, settings, self.go_on)
        sides = [
            one._by_runs(Question(question.text, path=path, runs=question.runs), path, seeds.child(name))
            for name, path in (("left", question.path), ("right", question.other))
        ]
        left, right = (side.estimate for side in sides)
        assert left is not None and right is not None
        low, high = left.low - right.high, left.high - right.low
        difference = Estimate(left.value - right.value, low, high, self.settings.confidence,
                              f"difference of two: {left.method}", left.samples + right.samples)  # fmt: skip
        warnings = [w for side in sides for w in side.warnings]
        verdict = question.bound.verdict(low, high)
        return Answered(difference, verdict, True, difference.samples, difference.method, warnings)


def _mirrored(bound: Any) -> Any:
    from bbfalsify.logic.csl import Bound

    return Bound(1 - bound.high, 1 - bound.low, bound.high_strict, bound.low_strict)


def _complement(found: Estimate) -> Estimate:
    return Estimate(1 - found.value, 1 - found.high, 1 - found.low, found.confidence, found.method, found.samples)
