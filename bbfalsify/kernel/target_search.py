"""Search for a target in a compiled model: compile the predicate once, walk in batches, record the successful walk.

search = TargetSearch(Target(model, alive=expression), Heuristic.RET)
outcome = search.walks(seeds, distributions, depth=64)
if outcome.ended == "met":
    recording = search.record(seeds[outcome.walk], distributions[outcome.walk], depth=64)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.core.heuristic import Heuristic
from bbfalsify.kernel import layout as at
from bbfalsify.kernel import target_moments as goals
from bbfalsify.kernel import target_walks as walk
from bbfalsify.kernel.analysis import Flow, conjunction, conjuncts
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.target_horizon import latest_moment
from bbfalsify.kernel.walker import Walker, initial_state, limits
from bbfalsify.kernel.walks import DELAY_DISTRIBUTIONS
from bbfalsify.modelling.network.expressions import AtLocation, Constant, Expression
from bbfalsify.modelling.network.visit import subexpressions

STEPS_AT_ONCE = 20_000
"""Number of steps after which the caller is asked whether to go on."""
_ENDINGS = {0: "stopped", walk.REACHED_END: "done", walk.TARGET_MET: "met", walk.RUNTIME_ERROR: "failed"}


_NUMBERS = {
    Heuristic.RET: walk.RET, Heuristic.SEM: walk.SEM, Heuristic.RLC: walk.RLC, Heuristic.RLC_A: walk.RLC_A,
    Heuristic.RCF: walk.RCF,
}  # fmt: skip


class Target:
    """Target of a search: the predicate `alive` while something can still fire, `dead` once nothing ever will.

    `alive` None is never met; with `dead` None, `alive` counts in both cases.
    """

    def __init__(self, model: CompiledModel, alive: Expression | None, dead: Expression | None = None) -> None:
        compiler = Compiler(model.network, first_address=len(model.T))
        compiler.constants, compiler.sites = list(model.F), list(model.sites)
        self.goal = np.full(goals.GOAL_SIZE, -1, np.int64)
        self.goal[goals.GOAL_SPLIT] = dead is not None and dead != alive
        for expression, code, flow in (
            (alive, goals.GOAL_ALIVE, goals.GOAL_ALIVE_FLOW),
            (dead, goals.GOAL_DEAD, goals.GOAL_DEAD_FLOW),
        ):
            self.goal[flow] = goals.FLOW_DISCRETE
            if expression is not None and expression != Constant(0, expression.kind):
                self.goal[code] = compiler.condition(_quick_parts_first(model, expression), "the query")
                self.goal[flow] = model.analysis.flow(expression)
        if self.goal[goals.GOAL_DEAD] >= 0:
            quick = [p for p in conjuncts(dead) if _is_quick(model, p)]
            if quick:
                self.goal[goals.GOAL_DEAD_FILTER] = compiler.condition(conjunction(quick), "the query")
        self.affects = _affects(model, alive)
        self.latest = latest_moment(model.analysis, alive, dead)
        """Time after which the target cannot be met."""
        self.model = replace(
            model,
            T=np.concatenate([model.T, np.array(compiler.code, np.int32)]),
            F=np.array(compiler.constants or [0.0], np.float64),
            sites=tuple(compiler.sites),
            codes=(*model.codes, *compiler.codes),
        )


def _is_quick(model: CompiledModel, part: Expression) -> bool:
    return model.analysis.flow(part) == Flow.DISCRETE and not model.analysis.expression(part).may_fail


def _quick_parts_first(model: CompiledModel, expression: Expression) -> Expression:
    parts = sorted(conjuncts(expression), key=lambda part: not _is_quick(model, part))
    return conjunction(parts) if parts else expression


def _affects(model: CompiledModel, predicate: Expression | None) -> np.ndarray:
    """Tell per branch of the model whether taking it may change the predicate; a broadcast also by its receivers."""
    analysis, network = model.analysis, model.network
    reads = analysis.expression(predicate).reads
    mentioned = {(e.process, e.location) for e in subexpressions(predicate) if isinstance(e, AtLocation)}
    if any(kind == "l" for kind, _ in analysis.expression(predicate).reads - {("l", p) for p, _ in mentioned}):
        mentioned |= {(p, i) for p, process in enumerate(network.processes) for i in range(len(process.locations))}
    own: list[list[bool]] = []
    by_channel: dict[int | None, bool] = {}
    edges = [(p, edge) for p, process in enumerate(network.processes) for edge in process.edges]
    for p, edge in edges:
        row = []
        for branch in edge.branches:
            moved = branch.target != edge.source and bool({(p, branch.target), (p, edge.source)} & mentioned)
            row.append(moved or bool(analysis.statements(branch.updates).writes & reads))
        own.append(row)
        if not edge.is_output:
            by_channel[edge.channel] = by_channel.get(edge.channel, False) or any(row)
    flags = []
    for (_, edge), row in zip(edges, own, strict=True):
        broadcast = edge.channel is not None and edge.sends and network.channels[edge.channel].broadcast
        heard = broadcast and by_channel.get(edge.channel, False)
        flags += [flag or heard for flag in row]
    return np.array(flags, np.int64)


@dataclass(frozen=True)
class Batch:
    """The end of a batch of walks."""

    ended: str
    """done: all walks were made; met; failed: the model itself; stopped: the caller wanted no more."""
    walk: int
    """The walk that met the target or failed, else the number of walks made."""
    steps: int
    """Steps of all walks."""
    moment: float = math.nan
    """Time at which the target is met."""
    error: str | None = None
    deadlocks: int = 0
    timelocks: int = 0
    zeno: int = 0


@dataclass(frozen=True, eq=False)
class Recording:
    """One walk: moments of its steps, and the participants of each."""

    times: np.ndarray
    moves: tuple[tuple[tuple[int, int, int], ...], ...]
    """Per step (process, edge, branch) of the sender, then of each receiver."""
    ended: str
    moment: float
    error: str | None
    failing: tuple[int, int, float] | None
    """Edge, receiver or −1, and moment of the transition whose firing failed."""
    values: np.ndarray | None
    """Integers and reals after each step, if updates draw at random."""


class TargetSearch:
    """Walks of one heuristic over one model; the counters of RLC-A are kept from batch to batch."""

    def __init__(self, target: Target, heuristic: Heuristic, walker: Walker | None = None) -> None:
        """Several searches over one model may share a walker, as long as they take turns."""
        self.target = target
        self.heuristic = heuristic
        model = target.model
        edges = int(model.T[at.H_EDGES])
        self.coverage = np.zeros(edges, np.int64)
        self.coverage_before = self.coverage.copy()
        room = most_candidates(model)
        actions = max(1, len(model.actions))
        self._stamps = 2 * room
        self._actions = actions
        self._work = np.zeros(2 * room + 1 + 2 * actions, np.int64)
        self._pool = np.zeros((2 * room + 1024 if heuristic is Heuristic.SEM else 1, 5))
        self._walker = Walker.of(model) if walker is None else walker
        self._initial = initial_state(model)
        self._branches = [
            (p, e, b)
            for p, process in enumerate(model.network.processes)
            for e, edge in enumerate(process.edges)
            for b in range(len(edge.branches))
        ]

    @staticmethod
    def warm_up() -> None:
        walk.reach_batch.prepare()

    def walks(
        self,
        seeds: np.ndarray,
        distributions: np.ndarray,
        depth: int,
        *,
        until: float = math.inf,
        go_on: Callable[[], bool] = lambda: True,
    ) -> Batch:
        """Make one walk per seed, until one of them meets the target before `until`, or the model fails."""
        progress = np.zeros(walk.P_SIZE, np.int64)
        progress[walk.P_STEPS] = -1
        moments = np.zeros(walk.M_SIZE)
        nothing = np.zeros(0), np.zeros(0, np.int64), np.zeros((0, 0))
        outcome = 0
        while outcome == 0 and go_on():
            budget = int(progress[walk.P_TOTAL]) + STEPS_AT_ONCE
            outcome = self._run(seeds, distributions, depth, until, nothing, moments, progress, budget)
        return Batch(
            _ENDINGS[outcome], int(progress[walk.P_WALK]), int(progress[walk.P_TOTAL]),
            float(moments[walk.M_TARGET]), self._walker.error(),
            *(int(progress[i]) for i in (walk.P_DEADLOCKS, walk.P_TIMELOCKS, walk.P_ZENO)),
        )  # fmt: skip

    def record(
        self, seed: int, distribution: int, depth: int, *, until: float = math.inf, coverage: np.ndarray | None = None
    ) -> Recording:
        """Repeat a walk, with a record; `coverage` are the counters of RLC-A before it."""
        seeds = np.array([seed], np.uint64)
        network = self.target.model.network
        draws = any(
            self.target.model.analysis.statements(b.updates).random
            for p in network.processes for e in p.edges for b in e.branches
        )  # fmt: skip
        length, room = 256, 1024 + 4 * len(network.processes)
        while True:
            kept = self.coverage
            self.coverage = np.zeros_like(kept) if coverage is None else coverage.copy()
            progress = np.zeros(walk.P_SIZE, np.int64)
            progress[walk.P_STEPS] = -1
            moments = np.zeros(walk.M_SIZE)
            values = np.zeros((length if draws else 0, network.integer_count + network.real_count))
            arrays = np.zeros(length), np.zeros(room, np.int64), values
            outcome = self._run(seeds, np.array([distribution]), depth, until, arrays, moments, progress, 2**62)
            self.coverage = kept
            if outcome != walk.NO_ROOM:
                break
            length, room = min(4 * length, depth + 1), 4 * room
        # a walk that ended without meeting its target is not the current one any more
        steps = int(progress[walk.P_STEPS] if progress[walk.P_STEPS] >= 0 else progress[walk.P_TOTAL])
        rows, place, moves = arrays[1], 0, []
        for _ in range(steps):
            count = int(rows[place])
            moves.append(tuple(self._branches[int(b)] for b in rows[place + 1 : place + 1 + count]))
            place += 1 + count
        failing = None
        if outcome == walk.RUNTIME_ERROR and progress[walk.P_EDGE] >= 0:
            failing = (int(progress[walk.P_EDGE]), int(progress[walk.P_PARTNER]), float(moments[walk.M_FIRING]))
        return Recording(
            arrays[0][:steps].copy(), tuple(moves), _ENDINGS[outcome], float(moments[walk.M_TARGET]),
            self._walker.error(), failing, values[:steps] if draws else None,
        )  # fmt: skip

    def _run(self, seeds, distributions, depth, until, arrays, moments, progress, budget) -> int:
        model = self.target.model
        shares = np.ascontiguousarray(DELAY_DISTRIBUTIONS[np.asarray(distributions, np.int64)])
        if self.heuristic is Heuristic.SEM:
            shares = np.tile(np.array([[0.0, 1.0]]), (len(seeds), 1))
        with np.errstate(over="ignore"):
            return int(
                walk.reach_batch(
                    *self._walker.arrays, *self._initial, *limits(model), _NUMBERS[self.heuristic],
                    np.ascontiguousarray(seeds, np.uint64), shares, min(float(until), self.target.latest), int(depth),
                    self.target.goal, self.target.affects, self.coverage, self.coverage_before, self._work,
                    self._stamps, self._actions, self._pool, *arrays, moments, progress, int(budget),
                )
            )  # fmt: skip


def most_candidates(model: CompiledModel) -> int:
    """Largest number of transitions that can be candidates at once."""
    network = model.network
    total = 1
    sends = [0] * len(network.channels)
    receives = [0] * len(network.channels)
    for process in network.processes:
        outputs = [0] * len(process.locations)
        here: dict[tuple[int, bool], list[int]] = {}
        for edge in process.edges:
            if edge.channel is None or (edge.sends and network.channels[edge.channel].broadcast):
                outputs[edge.source] += 1
            elif not network.channels[edge.channel].broadcast:
                counts = here.setdefault((edge.channel, edge.sends), [0] * len(process.locations))
                counts[edge.source] += 1
        total += max(outputs, default=0)
        for (channel, sending), counts in here.items():
            (sends if sending else receives)[channel] += max(counts)
    return total + sum(s * r for s, r in zip(sends, receives, strict=True))
