"""Group several traces to one target by what differs.

Traces are alike that end in the same locations with the same integers.  Where nearly every trace would be a group of
its own, integers are left out, then the numbers of processes that are alike, then locations: then the last step
decides.  Where all of them would be one group, a next view may tell them apart.  A group is described by what holds in
it and not in every other group, and represented by its shortest trace.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bbfalsify.engines.reachability.walk_search import ReachFinding
from bbfalsify.modelling import Network

FEW = 0.3
"""Most groups, relative to the number of traces; finer groups tell nothing."""
MOST_FACTS = 4

Facts = tuple[str, ...]
View = Callable[[Network, ReachFinding], Facts]


@dataclass(frozen=True, eq=False)
class Alike:
    """Traces that are alike."""

    traces: int
    differs: str
    shortest: ReachFinding


def grouped(network: Network, findings: Sequence[ReachFinding]) -> list[Alike]:
    """Group the traces, the largest group first."""
    limit = max(2.0, FEW * len(findings))
    views = (_end_state, _locations, _kinds, _last_step, _last_kind)
    divided = [(view, _divide(network, findings, view)) for view in views]
    telling = [(view, groups) for view, groups in divided if 1 < len(groups) <= limit]
    alike = [(view, groups) for view, groups in divided if len(groups) == 1]
    view, groups = [*telling[:1], *alike[-1:], divided[-1]][0]
    facts = [set(view(network, members[0])) for members in groups.values()]
    common = set.intersection(*facts)
    found = []
    for members in groups.values():
        own = [fact for fact in view(network, members[0]) if fact not in common]
        more = f" and {len(own) - MOST_FACTS} more" if len(own) > MOST_FACTS else ""
        text = ", ".join(own[:MOST_FACTS]) + more or ", ".join(["all end alike", *_last_kind(network, members[0])])
        shortest = min(members, key=lambda f: (len(f.trace.steps), f.trace.time))
        found.append(Alike(len(members), text, shortest))
    return sorted(found, key=lambda group: -group.traces)


def _divide(network: Network, findings: Sequence[ReachFinding], view: View) -> dict[Facts, list[ReachFinding]]:
    groups: dict[Facts, list[ReachFinding]] = {}
    for finding in findings:
        groups.setdefault(view(network, finding), []).append(finding)
    return groups


def _locations(network: Network, finding: ReachFinding) -> Facts:
    places = zip(network.processes, finding.trace.end.locations, strict=True)
    return tuple(f"{process.name}.{process.locations[here].name}" for process, here in places)


def _end_state(network: Network, finding: ReachFinding) -> Facts:
    integers = [v for v in network.variables if not v.kind.is_real]
    values = [(v.name, finding.trace.end.integers[v.slot : v.slot + v.size]) for v in integers]
    shown = (f"{name} = {list(value) if len(value) != 1 else value[0]}" for name, value in values)
    return (*_locations(network, finding), *shown)


def _kinds(network: Network, finding: ReachFinding) -> Facts:
    """How many processes of each kind are where; processes of one automaton are of one kind."""
    counted = Counter(map(_without_number, _locations(network, finding)))
    return tuple(f"{count} × {place}" for place, count in sorted(counted.items()))


def _last_step(network: Network, finding: ReachFinding) -> Facts:
    steps = finding.trace.steps
    if not steps:
        return ("no step",)
    last = []
    for process, number, branch in steps[-1].moves:
        moved = network.processes[process]
        edge = moved.edges[number]
        names = [moved.locations[k].name for k in (edge.source, edge.branches[branch].target)]
        label = "" if edge.action == "->".join(names) else f" [{edge.action}]"
        last.append(f"last {moved.name}: {names[0]} -> {names[1]}{label}")
    return tuple(last)


def _last_kind(network: Network, finding: ReachFinding) -> Facts:
    return tuple(map(_without_number, _last_step(network, finding)))


def _without_number(fact: str) -> str:
    """P(3).cs is P.cs"""
    return re.sub(r"\([\d, ]*\)", "", fact)
