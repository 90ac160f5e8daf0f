"""Join the edges to and from a branch point into one edge with branches."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bbfalsify.core.errors import Place, Problem
from bbfalsify.modelling.language.model_text import BranchText, EdgeText, LocationText, TemplateText
from bbfalsify.records.documents import Text


@dataclass(eq=False)
class EdgePart:
    """One arrow; its ends are locations or branch points."""

    source: str
    target: str
    place: Place
    guard: Text | None = None
    sync: Text | None = None
    select: Text | None = None
    update: Text | None = None
    weight: Text | None = None


def add_edges(
    template: TemplateText, parts: list[EdgePart], branchpoints: set[str], problems: list[Problem], notes: list[Problem]
) -> None:
    leaving: dict[str, list[EdgePart]] = {point: [] for point in branchpoints}
    for part in parts:
        if part.source in branchpoints:
            _check_leaving(part, branchpoints, problems)
            leaving[part.source].append(part if part.sync is None else _with_location(template, part, notes))
    for part in parts:
        if part.source in branchpoints:
            continue
        if part.target not in branchpoints:
            branches = [BranchText(part.target, part.place, None, part.update)]
            if part.weight is not None:
                message = "a weight is only allowed on an edge that leaves a branch point."
                problems.append(part.weight.place.problem(message))
        else:
            branches = [
                BranchText(way.target, way.place, way.weight, way.update, part.update) for way in leaving[part.target]
            ]
            if not branches:
                problems.append(part.place.problem("no edge leaves the branch point that this one leads to."))
                continue
        template.edges.append(EdgeText(part.source, part.place, tuple(branches), part.guard, part.sync, part.select))


def _with_location(template: TemplateText, part: EdgePart, notes: list[Problem]) -> EdgePart:
    """Let the branch lead to a committed location, from which it synchronises and goes on."""
    assert part.sync is not None
    name = f"_branch_{len(template.locations)}"
    template.locations.append(LocationText(name, part.place, committed=True))
    onwards = BranchText(part.target, part.place, None, part.update)
    template.edges.append(EdgeText(name, part.place, (onwards,), sync=part.sync))
    notes.append(part.sync.place.problem(f"this synchronisation after a branch point takes place in a committed "
                                         f"location of its own, '{name}', once the branch is drawn."))  # fmt: skip
    return replace(part, target=name, sync=None, update=None)


def _check_leaving(part: EdgePart, branchpoints: set[str], problems: list[Problem]) -> None:
    for what, text in (("guard", part.guard), ("select", part.select)):
        if text is not None:
            problems.append(text.place.problem(f"an edge that leaves a branch point has no {what}; put it on the edge "
                                               "that leads there."))  # fmt: skip
    if part.target in branchpoints:
        problems.append(part.place.problem("an edge from one branch point to another is not supported; multiply the "
                                           "weights into one branch point."))  # fmt: skip
