"""The space of all runs of a profile, as choice sequences (`core/choices.py`).

A run's choices are, in this order: its parameters and the values of its signals (`values.py`), then every random number
of the stochastic walk through the automata: the delays that all components draw in each step, the edge, the branch, and
the numbers that updates draw.  A normal law takes two numbers, and a choice among n edges n − 1; components that lose
a race have drawn for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bbfalsify.core.choices import HIGHEST, ChoiceSequence, DrawnValue, Label, labelled
from bbfalsify.engines.falsification.usage import MAX_STEPS, Usage
from bbfalsify.kernel import CompiledModel, Walk, stochastic_walks, taped_walks, walk_numbers
from bbfalsify.kernel import layout as at
from bbfalsify.kernel import rng as tape
from bbfalsify.modelling.network.draws import DrawnVariable, drawn_variables

_KINDS = {
    tape.DRAWN_DELAY: "delay",
    tape.DRAWN_TIE: "edge",
    tape.DRAWN_EDGE: "edge",
    tape.DRAWN_BRANCH: "branch",
    tape.DRAWN_VALUE: "value",
    tape.DRAWN_INITIAL: "initial",
}

SAME_MOMENT = 1e-9
"""Difference of two moments, relative to 1 + their size, that is rounding."""


@dataclass(frozen=True, eq=False)
class NumberedRun:
    """A run with its quantiles alone."""

    numbers: np.ndarray
    walk: Walk


@dataclass(frozen=True, eq=False)
class PlayedRun:
    """A run with all its choices."""

    choices: ChoiceSequence
    walk: Walk

    def begins_with(self, walk: Walk) -> bool:
        """Tell whether the run takes the steps of a walk, at its moments up to rounding."""
        steps = walk.steps
        return (
            self.walk.steps >= steps
            and bool(np.array_equal(self.walk.edges[:steps], walk.edges))
            and bool(np.allclose(self.walk.times[:steps], walk.times, rtol=SAME_MOMENT, atol=SAME_MOMENT))
        )


class ProfileSpace:
    """A `Space`: the runs of a usage."""

    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        self.fixed = not usage.profile.has_actions

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        return self.usage.values.labels if self.fixed else self.play((), 0).labels

    def play(self, quantiles: Sequence[float] | np.ndarray, seed: int) -> ChoiceSequence:
        return self.run(quantiles, seed).choices

    def run(self, quantiles: Sequence[float] | np.ndarray, seed: int) -> PlayedRun:
        """Make the run of these quantiles; those that are missing come from the seed."""
        [(made, codes)] = self._made([quantiles], np.array([seed], np.uint64))
        pairs = [(label.kind, label.name) for label in self.usage.values.labels] + self._names.named(codes)
        labels = self.usage.values.labels if self.fixed else labelled(pairs)
        return PlayedRun(ChoiceSequence(made.numbers, labels), made.walk)

    def numbered(self, quantiles: Sequence[np.ndarray], seeds: np.ndarray) -> list[NumberedRun]:
        """Make many runs at once as `run` does, without the labels of their choices."""
        return [made for made, _ in self._made(quantiles, seeds)]

    def _made(
        self, quantiles: Sequence[Sequence[float] | np.ndarray], seeds: np.ndarray
    ) -> list[tuple[NumberedRun, np.ndarray]]:
        """Runs, and the codes of the random numbers of their walks (`kernel/rng.py`)."""
        values, own, model = self.usage.values, self.usage.values.width, self.usage.model
        given, firsts = [rounded(one) for one in quantiles], [values.from_word(int(seed)) for seed in seeds]
        for first, one in zip(firsts, given, strict=True):
            first[: min(own, len(one))] = one[:own]
        if self.fixed:
            return [(NumberedRun(one, replace(self._idle, values=one)), np.zeros(0, np.int64)) for one in firsts]
        made = []
        rest = [one[own:] for one in given]
        taped = taped_walks(model, seeds, rest, self.usage.duration, MAX_STEPS)
        for first, (walk, numbers, codes) in zip(firsts, taped, strict=True):
            self.usage.check_walk(walk)
            walk = replace(walk, values=first) if own else walk
            made.append((NumberedRun(np.append(first, numbers), walk), codes))
        return made

    def played(self, walk: Walk) -> PlayedRun | None:
        """The run that begins with this walk, from its choices; what follows a walk that ends early is drawn.

        The inverse of `run`, whoever made the walk: the accelerator, splitting, a follower of words.  Its moments and
        values are those of the walk, or differ by rounding (`kernel/retracing.py`).  None for a walk of probability
        zero, or whose draws cannot be told from it.
        """
        values = self.usage.values
        if walk.values is None and values.width:
            return None
        # A run ends with its first action after the duration; a walk along a word may go on.
        walk = walk.prefix(min(walk.steps, int(np.searchsorted(walk.times, self.usage.duration, "right")) + 1))
        first = np.zeros(0) if walk.values is None else walk.values
        numbers = np.zeros(0) if self.fixed else walk_numbers(self.usage.model, walk)
        if numbers is None:
            return None
        played = self.run(np.append(first, numbers), 0)
        return played if played.begins_with(walk) else None

    def repeated(self, choices: ChoiceSequence) -> PlayedRun | None:
        """The run with all these choices; None if they are those of another profile or duration."""
        played = self.run(choices.quantiles, 0)
        return played if played.choices == choices else None

    @cached_property
    def _idle(self) -> Walk:
        """The only walk of a profile without actions."""
        return stochastic_walks(self.usage.model, np.zeros(1, np.uint64), self.usage.duration, MAX_STEPS).walk(0)

    @cached_property
    def _names(self) -> DrawNames:
        return DrawNames(self.usage.model)

    def drawn_values(self, walk: Walk, until: float) -> list[DrawnValue]:
        """The parameters, values of signals and drawn variables of a run up to a time, as people read them."""
        values = list(self.usage.values.values(walk.values).drawn(until))
        return values if self.fixed else values + self._names.drawn(walk, until)


def rounded(quantiles: Sequence[float] | np.ndarray) -> np.ndarray:
    """Quantiles as multiples of 2**-53, rounded down; what is outside [0, 1) is moved to the next end."""
    given = np.asarray(quantiles, np.float64).reshape(-1)
    if np.isnan(given).any():
        raise ValueError("a quantile is not a number")
    return np.floor(np.clip(given, 0.0, HIGHEST) * 2.0**53) * 2.0**-53


class DrawNames:
    """The names of the random numbers of a model's walks."""

    def __init__(self, model: CompiledModel) -> None:
        self.model = model

    @cached_property
    def _variables(self) -> Mapping[tuple[int, int], tuple[DrawnVariable, ...] | None]:
        """By the numbers of edge and branch."""
        network = self.model.network
        return {
            (self.model.edge_number(p, e), b): drawn_variables(network, branch)
            for p, process in enumerate(network.processes)
            for e, edge in enumerate(process.edges)
            for b, branch in enumerate(edge.branches)
        }

    @cached_property
    def _by_place(self) -> Mapping[int, tuple[str, list[str]]]:
        """By the place of a branch in the tables: its process, and the variable of each random number."""
        found, tables = {}, self.model.T
        for (edge, branch), variables in self._variables.items():
            row = int(tables[at.H_EDGE_TABLE]) + at.EDGE_WIDTH * edge
            process = self.model.network.processes[int(tables[row + at.E_PROCESS])].name
            names = [v.name for v in variables or () for _ in range(v.numbers)]
            found[int(tables[row + at.E_BRANCHES]) + at.BRANCH_WIDTH * branch] = process, names
        return found

    def named(self, codes: np.ndarray) -> list[tuple[str, str]]:
        """Kind and name of each random number of a walk, from its codes (`kernel/rng.py`)."""
        pairs, before, times = [], -1, 0
        for code in codes.tolist():
            times = times + 1 if code == before else 0
            before = code
            kind, subject = _KINDS.get(code % 8, "value"), code // 8
            if kind in ("value", "initial"):
                process, names = self._by_place.get(subject, ("", []))
                pairs.append((kind, names[times % len(names)] if names else process))
            else:
                pairs.append((kind, self.model.network.processes[subject].name))
        return pairs

    def drawn(self, walk: Walk, until: float) -> list[DrawnValue]:
        """The values that the steps of a walk have drawn, in order of time."""
        found = []
        branches = np.zeros(walk.steps, int) if walk.branches is None else walk.branches
        for step in np.flatnonzero(walk.times <= until).tolist():
            for variable in self._variables.get((int(walk.edges[step]), int(branches[step])), ()) or ():
                store = walk.reals if variable.real else walk.integers
                found.append(DrawnValue(variable.name, float(walk.times[step]), float(store[step + 1, variable.slot])))
        return found
