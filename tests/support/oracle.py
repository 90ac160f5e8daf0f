"""The reference interpreter with random choices and draws, and the exact law of a step, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from bbfalsify.modelling.reference.delay_sets import Window
from bbfalsify.modelling.reference.evaluation import Draw
from bbfalsify.modelling.reference.exact_values import Value
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.state import Move, State, Transition
from tests.support.step_law import StepLaw, law_of_component


class Oracle(ReferenceInterpreter):
    def delay_bound(self, state: State) -> Window | None:
        """The window of `delays`, None if an invariant is already violated."""
        return next(iter(self.delays(state)), None)

    def step_law(self, state: State, process: int) -> StepLaw:
        """Law of the time and action of the next step of `process`, if no other component acts before."""
        return law_of_component(self, state, process)

    def fire_choosing(
        self,
        state: State,
        transition: Transition,
        delay: Fraction,
        *,
        branches: Mapping[int, int] | None = None,
        receivers: Mapping[int, int] | None = None,
        draw: Draw | None = None,
        generator: np.random.Generator | None = None,
    ) -> State:
        """Fire with the given branch and receiving edge of each process; draw what is left open."""

        def choose(options: Sequence[tuple[Move, Fraction]]) -> Move:
            wanted = [
                (move, weight)
                for move, weight in options
                if (receivers or {}).get(move[0], move[1]) == move[1]
                and (branches or {}).get(move[0], move[2]) == move[2]
            ]
            return wanted[0][0] if len(wanted) == 1 else pick_weighted(wanted, generator)

        return self.fire(state, transition, delay, choose=choose, draw=draw or draw_with(generator))


def pick_weighted(options: Sequence[tuple[Move, Fraction]], generator: np.random.Generator | None) -> Move:
    if generator is None:
        raise ValueError(f"{len(options)} moves are possible; say which, or give a generator")
    left = Fraction(float(generator.random())) * sum(weight for _, weight in options)
    for option, weight in options:
        left -= weight
        if left < 0:
            return option
    return options[-1][0]


def draw_with(generator: np.random.Generator | None) -> Draw:
    """Random draws of updates from a generator."""

    def draw(name: str, arguments: Sequence[Value]) -> Fraction:
        assert generator is not None
        numbers = [float(a) for a in arguments]
        match name:
            case "random":
                return Fraction(float(generator.random()) * numbers[0])
            case "random_uniform":
                return Fraction(numbers[0] + float(generator.random()) * (numbers[1] - numbers[0]))
            case "random_normal":
                return Fraction(float(generator.normal(numbers[0], numbers[1])))
            case "random_exponential":
                return Fraction(float(generator.exponential(1 / numbers[0])))
        raise ValueError(f"unknown random draw {name}")

    return draw
