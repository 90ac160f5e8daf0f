"""Random walks over a model or profile, sampled as signals.

Samples are a fixed grid together with the times of the events.  Without a list of expressions a profile shows its
inputs and a model its variables; the locations of the processes are text columns of the CSV.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import sample_times
from bbfalsify.modelling import Profile, load_network, load_profile, parse_expression
from bbfalsify.modelling.formats.uppaal import is_uppaal
from bbfalsify.modelling.formats.yaml_reader import VALUE_KEYS
from bbfalsify.records.documents import read_yaml

if TYPE_CHECKING:
    from bbfalsify.kernel import CompiledModel, Walk
    from bbfalsify.modelling.network.expressions import Expression
    from bbfalsify.modelling.network.network import Network

MAX_STEPS = 1_000_000


@dataclass(frozen=True, eq=False)
class SampledWalk:
    number: int
    times: np.ndarray
    signals: dict[str, np.ndarray]
    locations: dict[str, list[str]]
    events: tuple[tuple[float, str], ...]
    ending: str
    error: str = ""


@dataclass(frozen=True)
class Walkable:
    """A model or profile, and what to record of it."""

    title: str
    network: Network
    profile: Profile | None
    expressions: dict[str, tuple[Expression, int]]

    def walk(self, *, until: float, count: int, seed: int, period: float, accelerated: bool) -> list[SampledWalk]:
        from bbfalsify.engines.falsification.values import ValueSpace
        from bbfalsify.kernel import accelerated_walks, compile_network, stochastic_walks

        model = compile_network(self.network)
        seeds = SeedTree(seed).child("simulate").words(count)
        distribution = (np.arange(count) % 11).astype(np.int32)
        if accelerated:
            walks = accelerated_walks(model, seeds, distribution, until, MAX_STEPS)
        else:
            walks = stochastic_walks(model, seeds, until, MAX_STEPS)
        made = {i: walks.walk(i) for i in range(count)}
        if self.profile is not None:
            space = ValueSpace(self.profile, until or period)
            made = space.accelerated(made, seeds, distribution) if accelerated else space.seeded(made, seeds)
        return [self._sample(model, made[i], i + 1, until, period) for i in range(count)]

    def _sample(self, model: CompiledModel, walk: Walk, number: int, until: float, period: float) -> SampledWalk:
        from bbfalsify.engines.falsification.usage import Usage
        from bbfalsify.kernel import WalkStatus, sample_expressions

        # A walk that got stuck or failed says nothing about the time after its last transition.
        end = until if walk.status in (WalkStatus.REACHED_END, WalkStatus.DEADLOCK) else float(walk.times[-1:].sum())
        times = sample_times(end, period, walk.times)
        signals: dict[str, np.ndarray] = {}
        if self.profile is not None and not self.expressions:
            stimulus = Usage(self.profile, model, until or period, period).stimulus(walk, stop=end or period)
            times, signals = stimulus.times, dict(stimulus.inputs)
        elif self.expressions:
            rows = sample_expressions(model, walk, list(self.expressions.values()), times)
            signals = dict(zip(self.expressions, rows, strict=True))
        actions = walk.actions(model)
        step = np.searchsorted(walk.times, times, side="right")
        locations = {
            process.name: [process.locations[int(at)].name for at in walk.locations[step, index]]
            for index, process in enumerate(self.network.processes)
        }
        events = tuple((float(t), a) for t, a in zip(walk.times, actions, strict=True) if t <= end)
        ending = walk.status.name.lower().replace("_", " ")
        return SampledWalk(number, times, signals, locations, events, ending, walk.error or "")


def load_walkable(file: Path, show: Sequence[str] | None) -> Walkable:
    """Read a model or profile and resolve what to show; all problems at once."""
    data = None if is_uppaal(file) else read_yaml(file).data
    is_profile = isinstance(data, dict) and any(key in data for key in ("inputs", *VALUE_KEYS))
    profile = load_profile(file) if is_profile else None
    network = profile.network if profile is not None else load_network(file)
    texts = list(show or [])
    if not texts and profile is None:
        texts = [name for variable in network.variables for name in variable.element_names()]
    expressions = {}
    problems: list[Problem] = []
    for text in texts:
        try:
            expressions[text] = parse_expression(text, network)
        except UserError as error:
            problems += error.problems
    if problems:
        raise UserError(problems)
    return Walkable(network.name, network, profile, expressions)
