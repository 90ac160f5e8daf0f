"""Count how often walks have used each location, edge, branch and action of the profile.

A part that no walk has taken was not tested: its guard never holds, it is not reached within the horizon, or it is too
rare for the budget.  Receivers of broadcasts are not recorded edge by edge, but by the locations they enter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from bbfalsify.kernel import CompiledModel, Walk, Walks, WalkStatus
from bbfalsify.modelling.profiles.profile_parameters import branch_names, edge_names
from bbfalsify.results.falsify_insights import Coverage, Covered, DrawnAutomaton, DrawnEdge


@dataclass
class Visits:
    """Counters over walks; empty until the first walk."""

    walks: int = 0
    edges: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Per global edge number."""
    branches: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Per branch, edge after edge."""
    locations: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Per location, process after process: stays, that of the start included."""

    def add(self, model: CompiledModel, walks: Walks) -> None:
        """Count a batch; walks that failed or stood still are left out."""
        whole = walks.status == WalkStatus.REACHED_END
        steps = np.arange(walks.edges.shape[1]) < (walks.steps * whole)[:, None]
        stays = np.arange(walks.edges.shape[1] + 1) < ((walks.steps + 1) * whole)[:, None]
        self._count(model, int(whole.sum()), walks.edges[steps], walks.branches[steps], walks.locations[stays])

    def add_walk(self, model: CompiledModel, walk: Walk) -> None:
        branches = np.zeros_like(walk.edges) if walk.branches is None else walk.branches
        self._count(model, 1, walk.edges, branches, walk.locations)

    def _count(
        self, model: CompiledModel, walks: int, edges: np.ndarray, branches: np.ndarray, locations: np.ndarray
    ) -> None:
        first_branch, first_location = _offsets(model)
        if not self.walks:
            self.edges = np.zeros(len(model.edge_action), np.int64)
            self.branches = np.zeros(first_branch[-1], np.int64)
            self.locations = np.zeros(first_location[-1], np.int64)
        self.walks += walks
        self.edges += np.bincount(edges, minlength=len(self.edges))
        self.branches += np.bincount(first_branch[edges] + branches, minlength=len(self.branches))
        self.locations += np.bincount((first_location[:-1] + locations).ravel(), minlength=len(self.locations))


def _offsets(model: CompiledModel) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the first branch of each edge, and of the first location of each process; the totals come last."""
    processes = model.network.processes
    branches = accumulate((len(e.branches) for p in processes for e in p.edges), initial=0)
    return np.array(list(branches)), np.array(list(accumulate((len(p.locations) for p in processes), initial=0)))


def coverage_of(model: CompiledModel, visits: Mapping[str, Visits]) -> Coverage:
    """Collect the coverage by walks of each kind; kinds without a walk are left out."""
    network = model.network
    met = {kind: v for kind, v in visits.items() if v.walks}
    first_branch, first_location = _offsets(model)

    def covered(name: str, line: int | None, counter: str, number: int) -> Covered:
        return Covered(name, line, {kind: int(getattr(v, counter)[number]) for kind, v in met.items()})

    edges, branches, locations = [], [], []
    for (p, index), name in edge_names(network).items():
        number = model.edge_number(p, index)
        edges.append(covered(name, network.processes[p].edges[index].line, "edges", number))
    for (p, index, k), name in branch_names(network).items():
        number = int(first_branch[model.edge_number(p, index)]) + k
        branches.append(covered(name, network.processes[p].edges[index].line, "branches", number))
    for p, process in enumerate(network.processes):
        for k, location in enumerate(process.locations):
            name = f"{process.name}.{location.name}"
            locations.append(covered(name, location.line, "locations", int(first_location[p]) + k))
    carries = [np.flatnonzero(model.edge_action == a) for a in range(len(model.actions))]
    actions = [
        Covered(action, None, {kind: int(v.edges[numbers].sum()) for kind, v in met.items()})
        for action, numbers in zip(model.actions, carries, strict=True)
    ]
    walks = {kind: v.walks for kind, v in met.items()}
    times = next((met[kind].branches for kind in ("simulation", "search") if kind in met), None)
    return Coverage(walks, tuple(locations), tuple(edges), tuple(branches), tuple(actions), _automata(model, times))


def _automata(model: CompiledModel, times: np.ndarray | None) -> tuple[DrawnAutomaton, ...]:
    """The automata of the profile with the times of each branch; receiving edges are not counted and left out."""
    first_branch, _ = _offsets(model)
    found = []
    for p, process in enumerate(model.network.processes):
        names, edges = [location.name for location in process.locations], []
        for e, edge in enumerate(process.edges):
            number = model.edge_number(p, e)
            action = int(model.edge_action[number])
            for k, branch in enumerate(edge.branches) if action >= 0 else ():
                at = int(first_branch[number]) + k
                taken = 0 if times is None else int(times[at])
                edges.append(DrawnEdge(at, names[edge.source], names[branch.target], model.actions[action], taken))
        found.append(DrawnAutomaton(process.name, names[process.initial], tuple(names), tuple(edges)))
    return tuple(found)


def path_of(model: CompiledModel, walk: Walk) -> tuple[int, ...]:
    """The numbers of the branches that a walk takes."""
    first_branch, _ = _offsets(model)
    branches = np.zeros_like(walk.edges) if walk.branches is None else walk.branches
    return tuple((first_branch[walk.edges] + branches).tolist())
