"""Make batches of walks: accelerated ones (Algorithm 4) and stochastic ones.

A walk goes on beyond its last moment, not only up to it: several transitions may share that moment (as in committed
locations), and only all of them together say what the inputs are then.

All walks of a batch run inside one compiled call.  States are recorded into arrays of a guessed length; a walk that
finds no room is repeated from its seed with more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bbfalsify.kernel.accelerated_walk import ret_batch
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.races import refuse_handshakes, stochastic_batch
from bbfalsify.kernel.rng import TAPE, TAPE_GIVEN, TAPE_NEXT, TAPE_ROOM
from bbfalsify.kernel.tilts import Tilts
from bbfalsify.kernel.walk_results import Walk, Walks, WalkStatus
from bbfalsify.kernel.walker import Walker, error_message, initial_state, limits

TWO_POINTS = -1
"""Equation D.3: the smallest and the largest delay, each with probability one half."""
DELAY_DISTRIBUTIONS = np.array(
    # lower bound, uniform between; the rest is the upper bound (table B.3)
    [(0.6, 0.0), (0.7, 0.0), (0.8, 0.0), (0.9, 0.0), (1.0, 0.0), (0.0, 0.0), (0.1, 0.0), (0.2, 0.0), (0.3, 0.0),
     (0.4, 0.0), (0.4, 0.2), (0.5, 0.0)]
)  # fmt: skip
_FIRST_CAPACITY = 32
_FIRST_ROOM = 256
"""Random numbers of a taped walk; one that needs more is repeated with more room."""
_TOGETHER = 50
"""Taped or tilted walks that share arrays, which have room for the longest of them."""


def _shares(distribution: np.ndarray | int, count: int) -> np.ndarray:
    rows = np.broadcast_to(np.asarray(distribution, np.int64), (count,))
    if count and (rows.min() < TWO_POINTS or rows.max() > 10):
        raise ValueError("a delay distribution is a row 0…10 of table B.3, or -1 for the two points of equation D.3")
    return np.ascontiguousarray(DELAY_DISTRIBUTIONS[rows])


def accelerated_walks(
    model: CompiledModel,
    seeds: np.ndarray,
    distribution: np.ndarray | int,
    until: float,
    max_steps: int,
    preferred: np.ndarray | None = None,
    *,
    recompute_everything: bool = False,
) -> Walks:
    """Make RET walks that end with the first transition after `until` (which is recorded).

    `preferred`: one bool per action; if some eventually enabled transition has a preferred action, the choice is among
    those.  `recompute_everything` is for tests: it drops all caches before every step.
    """
    shares = _shares(distribution, len(seeds))
    wanted = np.zeros(0, np.bool_) if preferred is None else np.ascontiguousarray(preferred, np.bool_)

    def run(walker: Walker, first: int, capacity: int, *arrays: np.ndarray) -> int:
        return ret_batch(
            *walker.arrays, *initial_state(model), *limits(model), words, shares, float(until), int(max_steps),
            recompute_everything, wanted, first, capacity, *arrays,
        )  # fmt: skip

    words = np.ascontiguousarray(seeds, np.uint64)
    return _record(model, len(words), int(max_steps), run)


def stochastic_walks(model: CompiledModel, seeds: np.ndarray, until: float, max_steps: int) -> Walks:
    """Make walks under the stochastic semantics, to the first transition after `until` (which is recorded)."""
    refuse_handshakes(model)
    words = np.ascontiguousarray(seeds, np.uint64)

    def run(walker: Walker, first: int, capacity: int, *arrays: np.ndarray) -> int:
        return stochastic_batch(
            *walker.arrays, *initial_state(model), *limits(model), words, float(until), int(max_steps), first, capacity,
            *arrays,
        )  # fmt: skip

    return _record(model, len(words), int(max_steps), run)


TapedWalk = tuple[Walk, np.ndarray, np.ndarray]
"""A walk with all its random numbers and their labels (`rng.py`)."""


def taped_walk(model: CompiledModel, seed: int, quantiles: np.ndarray, until: float, max_steps: int) -> TapedWalk:
    """Make one walk as `stochastic_walks` does, in which random number i is quantiles[i] where that is given.

    Those that are not given are the numbers of the seed's stream at their places.
    """
    [made] = taped_walks(model, np.array([seed], np.uint64), [quantiles], until, max_steps)
    return made


def taped_walks(
    model: CompiledModel, seeds: np.ndarray, quantiles: Sequence[np.ndarray], until: float, max_steps: int
) -> list[TapedWalk]:
    """Make taped walks, each with its own given numbers."""
    refuse_handshakes(model)
    made: list[TapedWalk] = []
    for first in range(0, len(seeds), _TOGETHER):
        words = np.ascontiguousarray(seeds[first : first + _TOGETHER], np.uint64)
        made += _taped_batch(model, words, quantiles[first : first + _TOGETHER], until, max_steps)
    return made


def _taped_batch(
    model: CompiledModel, words: np.ndarray, quantiles: Sequence[np.ndarray], until: float, max_steps: int
) -> list[TapedWalk]:
    given = [np.floor(np.asarray(one, np.float64) * 2.0**53).astype(np.uint64) for one in quantiles]
    room = max(_FIRST_ROOM, 2 * max(map(len, given)))
    numbers: list[np.ndarray] = [np.zeros(0)] * len(words)
    labels, drawn = list(numbers), np.zeros(len(words), np.int64)

    def before(walker: Walker, b: int) -> None:
        walker.R[TAPE_GIVEN], walker.R[TAPE_ROOM] = len(given[b]), room
        walker.R[TAPE : TAPE + len(given[b])] = given[b]

    def after(walker: Walker, b: int) -> None:
        count = drawn[b] = int(walker.R[TAPE_NEXT])
        numbers[b] = walker.R[TAPE : TAPE + count].astype(np.float64) * 2.0**-53
        labels[b] = walker.R[TAPE + room : TAPE + room + count].astype(np.int64)

    while True:
        walks = _one_by_one(Walker.of(model, tape=room), words, until, max_steps, before, after)
        if drawn.max() <= room:
            return [(walks.walk(b), numbers[b], labels[b]) for b in range(len(words))]
        room = 2 * int(drawn.max())


def tilted_walks(
    model: CompiledModel, seeds: np.ndarray, tilts: Tilts, until: float, max_steps: int
) -> list[tuple[Walk, np.ndarray]]:
    """Make walks whose random numbers have tilted laws; return each with the numbers in the bins of the tilts."""
    refuse_handshakes(model)
    walker, size, made = Walker.of(model, tilts=tilts), tilts.size, []
    for first in range(0, len(seeds), _TOGETHER):
        words = np.ascontiguousarray(seeds[first : first + _TOGETHER], np.uint64)
        bins = np.zeros((len(words), size), np.uint64)

        def after(walker: Walker, b: int, bins: np.ndarray = bins) -> None:
            bins[b] = walker.R[len(walker.R) - size :]

        walks = _one_by_one(walker, words, until, max_steps, lambda walker, b: None, after)
        made += [(walks.walk(b), bins[b]) for b in range(len(words))]
    return made


def _one_by_one(
    walker: Walker, words: np.ndarray, until: float, max_steps: int,
    before: Callable[[Walker, int], None], after: Callable[[Walker, int], None],
) -> Walks:  # fmt: skip
    """Make walks whose tape is looked at before and after each."""
    fixed = *initial_state(walker.model), *limits(walker.model)

    def run(walker: Walker, first: int, capacity: int, *arrays: np.ndarray) -> int:
        for b in range(first, len(words)):
            before(walker, b)
            part = words[: b + 1]
            if stochastic_batch(*walker.arrays, *fixed, part, float(until), int(max_steps), b, capacity, *arrays) == b:
                return b
            after(walker, b)
        return len(words)

    return _record(walker.model, len(words), int(max_steps), run, walker)


def count_steps(
    model: CompiledModel,
    seeds: np.ndarray,
    steps: int,
    *,
    stochastic: bool = False,
    distribution: np.ndarray | int = 10,
) -> int:
    """Walk up to `steps` steps from every seed without recording; return the number of transitions fired."""
    words = np.ascontiguousarray(seeds, np.uint64)
    shares = _shares(distribution, len(words))
    walker = Walker.of(model)
    status, taken, errors = _outcomes(len(words))
    nowhere = _arrays(model, 1, 0)
    with np.errstate(over="ignore"):
        if stochastic:
            refuse_handshakes(model)
            stochastic_batch(
                *walker.arrays, *initial_state(model), *limits(model), words, np.inf, int(steps), 0, 0, status, taken,
                errors, *nowhere,
            )  # fmt: skip
        else:
            ret_batch(
                *walker.arrays, *initial_state(model), *limits(model), words, shares, np.inf, int(steps), False,
                np.zeros(0, np.bool_), 0, 0, status, taken, errors, *nowhere,
            )  # fmt: skip
    return int(taken.sum())


def _outcomes(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros(count, np.int8), np.zeros(count, np.int32), np.zeros((count, 3), np.int64)


def _arrays(model: CompiledModel, count: int, capacity: int) -> tuple[np.ndarray, ...]:
    network = model.network
    return (
        np.zeros((count, capacity), np.float64),
        np.full((count, capacity), -1, np.int32),
        np.zeros((count, capacity), np.int32),
        np.zeros((count, capacity + 1, len(network.processes)), np.int32),
        np.zeros((count, capacity + 1, network.integer_count), np.int64),
        np.zeros((count, capacity + 1, network.real_count), np.float64),
    )


def _record(
    model: CompiledModel, count: int, max_steps: int, run: Callable[..., int], walker: Walker | None = None
) -> Walks:
    capacity = max(1, min(_FIRST_CAPACITY, max_steps))
    arrays = _arrays(model, count, capacity)
    status, steps, errors = _outcomes(count)
    walker = walker or Walker.of(model)
    done = 0
    with np.errstate(over="ignore"):
        while done < count:
            done = run(walker, done, capacity, status, steps, errors, *arrays)
            if done < count:
                capacity = min(4 * capacity, max(max_steps, 1))
                larger = _arrays(model, count, capacity)
                for old, new in zip(arrays, larger, strict=True):
                    new[:, : old.shape[1]] = old
                arrays = larger
    longest = int(steps.max(initial=0))
    times, edges, branches, locations, integers, reals = arrays
    failed = np.flatnonzero(status == WalkStatus.RUNTIME_ERROR)
    return Walks(
        status, steps, times[:, :longest], edges[:, :longest], locations[:, : longest + 1],
        integers[:, : longest + 1], reals[:, : longest + 1],
        {int(b): error_message(model, *(int(v) for v in errors[b])) for b in failed}, branches[:, :longest],
    )  # fmt: skip
