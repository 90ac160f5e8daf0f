"""Parameters and signals of a profile that are drawn by a law: from quantiles to values, and their random draws.

They are the first choices of every run, independent of what the automata do: one quantile per parameter that varies,
then one per value (and switch) of each signal.  A walk carries them (`Walk.values`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bbfalsify.core.choices import ChoiceSequence, DrawnValue, Label, labelled
from bbfalsify.core.errors import InvariantViolated, UserError
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.guides.plain_guides import at_ends_or_between
from bbfalsify.kernel import DELAY_DISTRIBUTIONS, Walk
from bbfalsify.modelling import Profile
from bbfalsify.modelling.profiles.signal_spaces import Curve, SignalInput


@dataclass(frozen=True)
class RunValues:
    """The parameters and signals of one run."""

    parameters: Mapping[str, float]
    curves: Mapping[str, Curve]

    @cached_property
    def moments(self) -> np.ndarray:
        """The times at which some signal gets a new value."""
        return np.array([time for curve in self.curves.values() for time in curve.times])

    def signals(self, times: np.ndarray) -> dict[str, np.ndarray]:
        return {name: sampled(curve, times) for name, curve in self.curves.items()}

    def drawn(self, until: float) -> Iterator[DrawnValue]:
        """The values with their names and times, as people read them; a parameter has no time."""
        for name, value in self.parameters.items():
            yield DrawnValue(name, None, value)
        for name, curve in self.curves.items():
            for number, (time, value) in enumerate(zip(curve.times, curve.values, strict=True)):
                before = curve.times[number - 1] if number else 0.0
                if number == 0 or time < until or (curve.shape != "constant" and before < until):
                    yield DrawnValue(name, time, value)


def sampled(curve: Curve, times: np.ndarray) -> np.ndarray:
    """The values of a curve at these times."""
    at, values = np.array(curve.times), np.array(curve.values)
    if curve.shape == "constant" or len(values) == 1 or at[0] == at[-1]:
        return values[np.searchsorted(at, times, side="right") - 1]
    if curve.shape == "linear":
        return np.interp(times, at, values)
    from scipy.interpolate import PchipInterpolator

    at, first = np.unique(at, return_index=True)  # two switches at one moment: the first value counts
    spline = PchipInterpolator(at, values[first]) if len(at) > 1 else None
    curved = np.full(len(times), values[0]) if spline is None else spline(np.clip(times, at[0], at[-1]))
    return np.clip(curved, values.min(), values.max())


class ValueSpace:
    """The parameters and signals of a profile, over uses of one duration."""

    def __init__(self, profile: Profile, duration: float) -> None:
        self.duration = duration
        self._constant = {p.name: p.law.value(0.0) for p in profile.parameters if not p.varies}
        self._parameters = [p for p in profile.parameters if p.varies]
        self._signals: list[tuple[SignalInput, int]] = []
        choices = [("parameter", p.name) for p in self._parameters]
        for signal in profile.signals:
            if (problem := signal.length_problem(duration)) is not None:
                raise UserError(problem)
            own = list(signal.choices(duration))
            self._signals.append((signal, len(own)))
            choices += own
        self.labels: tuple[Label, ...] = labelled(choices)

    @property
    def width(self) -> int:
        """The number of choices."""
        return len(self.labels)

    def values(self, quantiles: np.ndarray | None) -> RunValues:
        """The parameters and signals with these quantiles."""
        given: Sequence[float] = [] if quantiles is None else quantiles.tolist()
        if len(given) != self.width:
            raise InvariantViolated(f"a run has {len(given)} quantiles for {self.width} parameters and values")
        first = len(self._parameters)
        parameters = {p.name: p.law.value(u) for p, u in zip(self._parameters, given[:first], strict=True)}
        curves = {}
        for signal, count in self._signals:
            curves[signal.name] = signal.curve(given[first : first + count], self.duration)
            first += count
        return RunValues(self._constant | parameters, curves)

    def sequence(self, quantiles: np.ndarray | None) -> ChoiceSequence | None:
        """The choices of a run that has no others."""
        return None if quantiles is None else ChoiceSequence(quantiles, self.labels)

    def drawn(self, walks: Sequence[Walk], seeds: SeedTree) -> list[Walk]:
        """Give each walk its own values, drawn by their laws; a profile without any leaves walks as they are."""
        if not self.width or not walks:
            return list(walks)
        rows = seeds.child("values").rng().random((len(walks), self.width))
        return [replace(walk, values=row) for walk, row in zip(walks, rows, strict=True)]

    def from_word(self, word: int) -> np.ndarray:
        """The quantiles that belong to the seed of a walk."""
        if not self.width:
            return np.zeros(0)
        return np.random.default_rng((int(word), 1)).random(self.width)

    def seeded(self, walks: Mapping[int, Walk], words: np.ndarray) -> dict[int, Walk]:
        """Give walk i the values that belong to its seed, words[i]."""
        if not self.width:
            return dict(walks)
        return {i: replace(walk, values=self.from_word(int(words[i]))) for i, walk in walks.items()}

    def accelerated(self, walks: Mapping[int, Walk], words: np.ndarray, distributions: np.ndarray) -> dict[int, Walk]:
        """Give walk i values at or between the ends of their ranges, as the accelerator chooses delays in a window.

        `distributions` are rows of table B.3, one per walk: shares of lower ends, of values between, of upper ends.
        """
        if not self.width:
            return dict(walks)
        made = {}
        for i, walk in walks.items():
            rng = np.random.default_rng((int(words[i]), 1))
            drawn = at_ends_or_between(rng, self.width, *DELAY_DISTRIBUTIONS[distributions[i]])
            made[i] = replace(walk, values=drawn)
        return made
