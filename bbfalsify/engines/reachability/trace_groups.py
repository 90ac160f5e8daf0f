"""Group several traces to one target by what differs.

Traces are alike that end in the same locations with the same integers.  Where nearly every trace would be a group of
its own, integers are left out, then locations: then the last step decides.  A group is described by what holds in it
and not in every other group, and represented by its shortest trace.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from bbfalsify.engines.reachability.walk_search import ReachFinding
from bbfalsify.modelling import Network

FEW = 0.3
"""Most groups, relative to the number of traces; finer groups tell nothing."""
MOST_FACTS = 4

Facts = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Alike:
    """Traces that are alike."""

    traces: int
    differs: str
    shortest: ReachFinding


def grouped(network: Network, findings: Sequence[ReachFinding]) -> list[Alike]:
    """Group the traces, the largest group first."""
    views = (_end_state, _locations, _last_step)
    groups: dict[Hashable, list[ReachFinding]] = {}
    view: Callable[[Network, ReachFinding], Facts] = _last_step
    for view in views:
        groups = {}
        for finding in findings:
            groups.setdefault(view(network, finding), []).append(finding)
        if len(groups) <= max(1.0, FEW * len(findings)):
            break
    facts = [set(view(network, members[0])) for members in groups.values()]
    common = set.intersection(*facts)
    found = []
    for members in groups.values():
        own = [fact for fact in view(network, members[0]) if fact not in common]
        more = f" and {len(own) - MOST_FACTS} more" if len(own) > MOST_FACTS else ""
        text = ", ".join(own[:MOST_FACTS]) + more or "all end alike"
        shortest = min(members, key=lambda f: (len(f.trace.steps), f.trace.time))
        found.append(Alike(len(members), text, shortest))
    return sorted(found, key=lambda group: -group.traces)


def _locations(network: Network, finding: ReachFinding) -> Facts:
    places = zip(network.processes, finding.trace.end.locations, strict=True)
    return tuple(f"{process.name}.{process.locations[here].name}" for process, here in places)


def _end_state(network: Network, finding: ReachFinding) -> Facts:
    integers = [v for v in network.variables if not v.kind.is_real]
    values = [(v.name, finding.trace.end.integers[v.slot : v.slot + v.size]) for v in integers]
    shown = (f"{name} = {list(value) if len(value) != 1 else value[0]}" for name, value in values)
    return (*_locations(network, finding), *shown)


def _last_step(network: Network, finding: ReachFinding) -> Facts:
    steps = finding.trace.steps
    if not steps:
        return ("no step",)
    last = []
    for process, edge, branch in steps[-1].moves:
        moved = network.processes[process]
        names = [moved.locations[k].name for k in (moved.edges[edge].source, moved.edges[edge].branches[branch].target)]
        last.append(f"last {moved.name}: {names[0]} -> {names[1]}")
    return tuple(last)
