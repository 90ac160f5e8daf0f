"""Choice sequences: one representation of a run, for search, replay, storage and shrinking.

A run of a profile is the list of its choices.  Each choice is a quantile u in [0, 1) under the profile's own law, so
that under the profile all quantiles are independent and uniform, and the probability of an event is its volume.

    sequence = space.play([0.97, 0.5], seed)      # the first two choices are given, the others drawn from the seed
    sequence.labels[0]                            # Label("value", "throttle", 0): the first value of `throttle`
    space.play(sequence.quantiles, any_seed)      # the same run again

Any quantiles give an allowed run.  Quantiles have 53 bits: `play` rounds each down to a multiple of 2**-53, and what it
returns is what it used.  The two ends of a range are `LOWEST` and `HIGHEST`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from bbfalsify.core.seeds import SeedTree

if TYPE_CHECKING:  # readers of files import this module, and should start at once
    import numpy as np

KINDS = ("initial", "parameter", "value", "delay", "edge", "branch")
"""Initial value of a variable, parameter of the system, value of a signal or random draw in an update, delay of a
process (or length of a piece of a signal), edge taken, branch taken."""

IDLE_ACTION = "end"
"""The only action of a profile without automata; it comes after the end of every use."""
LOWEST, HIGHEST = 0.0, 1.0 - 2.0**-53


@dataclass(frozen=True)
class Label:
    """The meaning of a choice."""

    kind: str
    """One of `KINDS`."""
    name: str
    """Variable, signal, process or parameter."""
    occurrence: int = 0
    """Number of earlier choices of the same kind and name in the run: piece of a signal, step of a process."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name} {self.occurrence}"


@dataclass(frozen=True, eq=False)
class ChoiceSequence:
    """All choices of one run, in the order in which they were made."""

    quantiles: np.ndarray
    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        import numpy as np

        quantiles = np.array(self.quantiles, np.float64)
        if quantiles.shape != (len(self.labels),):
            raise ValueError(f"{quantiles.shape} quantiles for {len(self.labels)} labels")
        if not bool(np.all((quantiles >= 0.0) & (quantiles < 1.0))):
            raise ValueError("quantiles must be in [0, 1)")
        quantiles.flags.writeable = False
        object.__setattr__(self, "quantiles", quantiles)

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ChoiceSequence):
            return NotImplemented
        import numpy as np

        return self.labels == other.labels and bool(np.array_equal(self.quantiles, other.quantiles))

    __hash__ = None  # type: ignore[assignment]

    def as_json(self) -> dict[str, Any]:
        return {
            "quantiles": [float(u) for u in self.quantiles],
            "labels": [[label.kind, label.name, label.occurrence] for label in self.labels],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ChoiceSequence:
        import numpy as np

        labels = tuple(Label(str(kind), str(name), int(occurrence)) for kind, name, occurrence in data["labels"])
        return cls(np.array(data["quantiles"], np.float64), labels)


@dataclass(frozen=True)
class DrawnValue:
    """A value of a run that its profile has drawn, as people read it."""

    name: str
    """Signal, parameter, or variable of the profile."""
    time: float | None
    """Time from which it holds; None for a parameter."""
    value: float

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "time": self.time, "value": self.value}


def labelled(pairs: Iterable[tuple[str, str]]) -> tuple[Label, ...]:
    """Number (kind, name) pairs by their occurrence."""
    seen: dict[tuple[str, str], int] = {}
    labels = []
    for kind, name in pairs:
        occurrence = seen.get((kind, name), 0)
        seen[kind, name] = occurrence + 1
        labels.append(Label(kind, name, occurrence))
    return tuple(labels)


@runtime_checkable
class Space(Protocol):
    """All runs of a profile, up to the horizon of a campaign."""

    @property
    def labels(self) -> tuple[Label, ...] | None:
        """Labels of every run of a fixed space; of a typical run, or None, where their number varies.

        Parameters and signals come first, in the order of the file; the pieces of one signal are in order of time, so
        that `("value", "throttle", k)` is piece k.  The choices of automata follow, in the order of the run.
        """

    @property
    def fixed(self) -> bool:
        """All runs have the same labels: the space has signals and parameters only, no automaton."""

    def play(self, quantiles: Sequence[float] | np.ndarray, seed: int) -> ChoiceSequence:
        """Make a run that takes the given quantiles in order, draws missing ones from the seed and ignores the rest.

        The seed is a 64-bit word (`SeedTree.word`).  The choices at index i and later, where not given, depend on the
        seed and the run so far only: a run repeated with its own first choices and the same seed is the same run.
        """


class Guide(Protocol):
    """A search over quantiles; a deterministic function of its seed and of what it is told.

    So a campaign resumes in the middle of a guide by feeding it the recorded answers again.
    """

    def ask(self, count: int) -> list[np.ndarray]:
        """Return at most `count` proposals, at least one unless the guide has nothing left to try.

        A proposal that is shorter than the run is completed by chance (`Space.play`); an empty array asks for a plain
        run of the profile.  `count` is the batch size, which is fixed per campaign and independent of the workers.
        """

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        """Learn the choices really made and their scores (sequences × requirements), lower is closer to a violation.

        Directly after `ask`: one row per proposal, in order.  Without an `ask` before it: simulations that others asked
        for, to learn from or to ignore.  A score below 0 is a violation; a simulation that failed, and a score that is
        not a number, is +inf.
        """


class GuideFactory(Protocol):
    """The entry point of a guide (group `bbfalsify.guides`)."""

    def __call__(self, space: Space, requirements: int, seed: SeedTree) -> Guide: ...
