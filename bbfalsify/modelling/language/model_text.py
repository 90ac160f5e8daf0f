"""A model as texts with their places: the output of every reader, and the input of the resolver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from bbfalsify.core.errors import Place, Problem
from bbfalsify.records.documents import Text


class StoredQuery(NamedTuple):
    """A query in the model's file, not yet parsed."""

    text: str
    comment: str
    file: str | None
    line: int | None


@dataclass(eq=False)
class LocationText:
    name: str
    place: Place
    invariant: Text | None = None
    rates: tuple[tuple[Text, Text], ...] = ()
    """(clock, rate)"""
    exponential_rate: Text | None = None
    urgent: bool = False
    committed: bool = False
    cost_rate: Text | None = None


@dataclass(eq=False)
class BranchText:
    target: str
    place: Place
    weight: Text | None = None
    update: Text | None = None
    before: Text | None = None
    """Updates of the edge itself, executed before those of the branch."""


@dataclass(eq=False)
class EdgeText:
    source: str
    place: Place
    branches: tuple[BranchText, ...]
    guard: Text | None = None
    sync: Text | None = None
    select: Text | None = None
    action: str | None = None
    weight: Text | None = None
    cost: Text | None = None


@dataclass(eq=False)
class TemplateText:
    name: str
    place: Place
    initial: str | None
    """None: the first location."""
    parameters: Text | None = None
    initial_place: Place | None = None
    declarations: list[Text] = field(default_factory=list)
    locations: list[LocationText] = field(default_factory=list)
    edges: list[EdgeText] = field(default_factory=list)


@dataclass(eq=False)
class InstanceText:
    """A text such as "U1 = User(1)", or (from the builder) its parts."""

    text: Text
    name: str | None = None


@dataclass(eq=False)
class ModelText:
    name: str
    place: Place
    declarations: list[Text] = field(default_factory=list)
    templates: list[TemplateText] = field(default_factory=list)
    definitions: list[Text] = field(default_factory=list)
    """Templates with some parameters fixed: "Fast(int[0,3] i) = Train(i, 10)"."""
    system: list[InstanceText] | None = None
    """None: every template once for each value of its parameters."""
    system_outputs: frozenset[str] = frozenset()
    """Outputs of the system under test, which a profile cannot read."""
    ode_step: float | None = None
    channel_priorities: Text | None = None
    """"a, b < default < c", lowest first"""
    process_priorities: Text | None = None
    alphabets: list[tuple[str, Text]] = field(default_factory=list)
    """(process, channels) of synchronisations as in CSP: both processes that name a channel take part."""
    as_uppaal: bool = False
    """An integer is a condition (not zero), a Boolean counts as 0 or 1, and `int` alone is int[-32768,32767]."""
    queries: list[StoredQuery] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    """Notes on parts of the file that have no effect, such as the settings of a chart."""
