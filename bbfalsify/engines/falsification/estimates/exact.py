"""Compute the probability of a timed cylinder as a product, without variance.

If the law of every step depends on the word alone (each clock that the next step reads was reset on the way, and no
carried real or random draw decides anything), the probability of a word is a product of step probabilities.  Locations
and integers may still vary (branches, two edges with one label, winners of races): then it is a forward sum over them,

    P(a₁ … aₖ) = Σ_s αₖ(s),   α₀ = 1 in the initial state,   αᵢ(s') = Σ_s αᵢ₋₁(s) · Σ_e q_e(s) · P(e leads from s to s')

with the exact probability q_e(s) that edge e, labelled aᵢ, is the next transition.  `dependence` checks every state
that the word can reach; otherwise NotExact gives the reason, and particles are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np

from bbfalsify.engines.falsification.estimates.dependence import Dependence, Situation, real_name
from bbfalsify.kernel import CompiledModel, Particles, edge_probability, supports_conditional
from bbfalsify.modelling.language.receiver_choices import has_open_choices
from bbfalsify.modelling.network.expressions import Expression
from bbfalsify.modelling.network.network import Edge
from bbfalsify.modelling.reference.evaluation import Evaluator, Memory
from bbfalsify.modelling.reference.exact_values import UNKNOWN, DependsOnDraw, ModelRuntimeError, at_delay

METHOD = "exact product"
ROUNDING = 1e-12
MAXIMUM_WIDTH = 1000
"""Limit of states after one prefix of a word."""
MAXIMUM_SITUATIONS = 20_000
"""Limit of pairs of state and action in one model."""


class NotExact(Exception):
    """The reason why the law of some step does not depend on the word alone."""


def why_not_exact(model: CompiledModel, word: Sequence[str]) -> str | None:
    """Return None if `exact_cylinder` gives the probability of this word, else the reason why not."""
    try:
        exact_word(model, word)
    except NotExact as reason:
        return str(reason)
    return None


def exact_cylinder(model: CompiledModel, word: Sequence[str]) -> float:
    """Compute the probability that the first actions of a stochastic walk are those of the word, or raise NotExact."""
    return exact_word(model, word).cylinders[-1] if word else 1.0


@dataclass(frozen=True)
class ExactWord:
    """The exact law of a word."""

    cylinders: tuple[float, ...]
    """The probabilities of following its first action, its first two, …, all of them."""
    steps_agree: bool
    """Each step has one probability, whatever the state before it (a plain product).  Then runs that are made to follow
    the word all have the same weight, so they are an independent sample of its law."""


def exact_word(model: CompiledModel, word: Sequence[str]) -> ExactWord:
    """Compute the probability of every prefix of the word, or raise NotExact."""
    return _law(model).word(word)


class ExactLaw:
    """The states entered and their probabilities, for every state and action met so far."""

    def __init__(self, model: CompiledModel) -> None:
        self.model = model
        self.network = model.network
        self.dependence = Dependence(model.network)
        self.open = has_open_choices(model.network)
        """Draws may be made again, where what is drawn cannot be entered."""
        self._steps: dict[tuple[Situation, str], dict[Situation, float]] = {}

    def word(self, word: Sequence[str]) -> ExactWord:
        reason = supports_conditional(self.model)
        if reason is not None:
            raise NotExact(reason)
        unknown = [a for a in word if a not in self.model.actions]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no action of '{self.network.name}'")
        level = {self.dependence.initial(): 1.0}
        cylinders: list[float] = []
        agree = True
        for action in word:
            following: dict[Situation, list[float]] = {}
            steps: list[float] = []
            for situation, probability in level.items():
                step = self._step(situation, action)
                steps.append(math.fsum(step.values()))
                for after, share in step.items():
                    following.setdefault(after, []).append(probability * share)
            agree &= not steps or max(steps) - min(steps) <= ROUNDING * max(steps)
            if len(following) > MAXIMUM_WIDTH:
                raise NotExact(f"more than {MAXIMUM_WIDTH} states are possible after one prefix of the word")
            level = {situation: math.fsum(parts) for situation, parts in following.items()}
            cylinders.append(math.fsum(level.values()))
        return ExactWord(tuple(cylinders), agree)

    def _step(self, situation: Situation, action: str) -> dict[Situation, float]:
        """Find the states to which the action leads, with probabilities that sum to that of the action."""
        if (situation, action) not in self._steps:
            if len(self._steps) >= MAXIMUM_SITUATIONS:
                raise NotExact(f"more than {MAXIMUM_SITUATIONS} states and actions would have to be looked at")
            self._require_known(situation)
            found: dict[Situation, float] = {}
            for number in np.flatnonzero(self.model.edge_action == self.model.actions.index(action)):
                process, edge = self.model.edge(int(number))
                if edge.source != situation.locations[process]:
                    continue
                probability = self._edge_probability(situation, int(number))
                if probability > 0.0:
                    for after, share in self._outcomes(situation, process, edge):
                        found[after] = found.get(after, 0.0) + probability * float(share)
            self._steps[situation, action] = found
        return self._steps[situation, action]

    def _require_known(self, situation: Situation) -> None:
        if UNKNOWN in situation.integers:
            slot = situation.integers.index(UNKNOWN)
            name = next(
                v.name for v in self.network.variables if not v.kind.is_real and v.slot <= slot < v.slot + v.size
            )
            raise NotExact(f"integer '{name}' depends on a delay or a random draw")
        for slot, where in self.dependence.needed(situation).items():
            if situation.reals[slot] is UNKNOWN:
                name = real_name(self.network, slot)
                why = (
                    "is not reset on every way there"
                    if name.startswith("clock")
                    else "depends on a delay or a random draw"
                )
                raise NotExact(f"{name} is read in {where} and {why}")

    def _edge_probability(self, situation: Situation, number: int) -> float:
        reals = [
            float(start if value is UNKNOWN else at_delay(value, 0))
            for value, start in zip(situation.reals, self.network.initial_reals(), strict=True)
        ]
        particle = Particles(
            np.array([situation.locations], np.int32).reshape(1, -1),
            np.array([situation.integers], np.int64).reshape(1, -1),
            np.array([reals], np.float64).reshape(1, -1),
            np.zeros(1),
            np.zeros((1, 4), np.uint64),
        )
        probabilities, errors = edge_probability(self.model, particle, number)
        if errors:
            raise NotExact(f"the model fails: {errors[0]}")
        return float(probabilities[0])

    # --- outcomes of a transition ------------------------------------------------------------------------------------

    def _outcomes(self, situation: Situation, process: int, edge: Edge) -> Iterator[tuple[Situation, Fraction]]:
        """Yield for every choice of receiving edges and branches the state it leads to and its probability."""
        machine = self.dependence.after_delay(situation)
        try:
            sides = [[(process, edge, Fraction(1))], *self._receivers(machine, process, edge)]
            choices = [
                [(p, e.branches[b], chosen * share) for p, e, chosen in side for b, share in self._branches(machine, e)]
                for side in sides
            ]
            for choice in product(*choices):
                before = machine.memory
                memory = Memory(list(before.locations), list(before.integers), list(before.reals))
                after = Evaluator(machine.code, memory, machine.sample)
                for _, branch, _ in choice:
                    after.run(branch.updates)
                for p, branch, _ in choice:
                    memory.locations[p] = branch.target
                if self.open and not self._enters(after):
                    raise NotExact(f"what '{edge.action}' draws depends on what can be entered")
                yield (
                    self.dependence.canonical(memory.locations, memory.integers, memory.reals),
                    math.prod((share for _, _, share in choice), start=Fraction(1)),
                )
        except DependsOnDraw:
            name = self.network.processes[process].name
            raise NotExact(
                f"what '{edge.action}' of {name} leads to depends on the delay before it, or on a random draw"
            ) from None
        except ModelRuntimeError as error:
            raise NotExact(f"the model fails: {error}") from None

    def _enters(self, after: Evaluator) -> bool:
        here = after.memory.locations
        return all(
            after.holds(process.locations[here[p]].invariant) for p, process in enumerate(self.network.processes)
        )

    def _receivers(self, machine: Evaluator, sender: int, edge: Edge) -> Iterator[list[tuple[int, Edge, Fraction]]]:
        """Yield for every process that takes part in a broadcast its enabled receiving edges, by weight."""
        if edge.channel is None:
            return
        for p, process in enumerate(self.network.processes):
            here = machine.memory.locations[p]
            able = [
                e
                for e in process.edges
                if p != sender and e.source == here and e.channel == edge.channel and machine.holds(e.guard)
            ]
            if able:
                yield [(p, able[i], share) for i, share in _shares(machine, [e.weight for e in able])]

    def _branches(self, machine: Evaluator, edge: Edge) -> list[tuple[int, Fraction]]:
        if len(edge.branches) == 1:
            return [(0, Fraction(1))]
        weights = [b.weight for b in edge.branches]
        if all(_weight(machine, w) == 0 for w in weights):
            raise ModelRuntimeError("weight", f"no branch of '{edge.action}' has a positive weight")
        return _shares(machine, weights)


def _weight(machine: Evaluator, expression: Expression | None) -> Fraction:
    if expression is None:
        return Fraction(1)
    return max(Fraction(0), Fraction(at_delay(machine.value(expression), machine.sample.delay)))


def _shares(machine: Evaluator, weights: list[Expression | None]) -> list[tuple[int, Fraction]]:
    """Return the options of positive weight with their shares; if no weight is positive, the first."""
    values = [_weight(machine, w) for w in weights]
    total = sum(values)
    if total == 0:
        return [(0, Fraction(1))]
    return [(i, value / total) for i, value in enumerate(values) if value > 0]


@lru_cache(maxsize=4)
def _law(model: CompiledModel) -> ExactLaw:
    return ExactLaw(model)
