"""Map processes, edges and locations of a network back to the YAML of its profile.

A template may have several instances, and `select` makes several edges of one; an edge in the file is fitted once, to
all observations of its copies.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any

from bbfalsify.core.errors import InvariantViolated, Problem, UserError
from bbfalsify.modelling import Profile, parse_profile
from bbfalsify.modelling.network.expressions import Binary, Constant, Expression, Kind, Read
from bbfalsify.modelling.network.network import Process
from bbfalsify.records.documents import Document, KeyPath, parse_yaml

EdgeAt = tuple[str, int]
"""Automaton and number of the edge, as written."""
LocationAt = tuple[str, str]
"""Automaton and location."""


@dataclass(frozen=True, eq=False)
class Structure:
    """A profile together with the YAML data it was read from."""

    document: Document
    profile: Profile
    automata: tuple[str, ...]
    """Per process: the automaton it is an instance of."""
    edges: tuple[tuple[int, ...], ...]
    """Per process and edge: its number as written."""

    @staticmethod
    def parse(text: str, file: str) -> Structure:
        profile = parse_profile(text, file)
        document = parse_yaml(text, file=file)
        if "automata" not in document.data:
            message = "the automata of this profile stand in another file; 'bbfalsify convert' writes one with both."
            raise UserError(document.problem(("model",), message))
        automata = [_automaton(document, process) for process in profile.network.processes]
        edges = [_edges(document, a, p) for a, p in zip(automata, profile.network.processes, strict=True)]
        return Structure(document, profile, tuple(automata), tuple(edges))

    @property
    def actions(self) -> tuple[str, ...]:
        return self.profile.network.actions

    def edge_at(self, process: int, edge: int) -> EdgeAt:
        return self.automata[process], self.edges[process][edge]

    def location_at(self, process: int, location: int) -> LocationAt:
        return self.automata[process], self.profile.network.processes[process].locations[location].name

    def edge_path(self, at: EdgeAt) -> KeyPath:
        return ("automata", at[0], "edges", at[1])

    def location_path(self, at: LocationAt) -> KeyPath:
        return ("automata", at[0], "locations", self.location_key(at))

    def location_key(self, at: LocationAt) -> str | int:
        """The key as YAML reads it: a location may be named 1."""
        return next(k for k in self.document.data["automata"][at[0]]["locations"] if str(k) == at[1])

    def data(self) -> dict[str, Any]:
        """A copy of the YAML data."""
        return copy.deepcopy(self.document.data)


def _automaton(document: Document, process: Process) -> str:
    """The automaton of a process, by its locations and, if necessary, the lines of its edges."""
    names = [location.name for location in process.locations]
    automata = document.data["automata"]
    fitting = [a for a, data in automata.items() if [str(k) for k in data["locations"]] == names]
    if len(fitting) > 1:
        lines = {edge.line for edge in process.edges}
        fitting = [a for a in fitting if lines <= set(_lines(document, a))]
    if len(fitting) != 1:
        raise InvariantViolated(f"the process '{process.name}' is an instance of one automaton, found {fitting}")
    return fitting[0]


def _lines(document: Document, automaton: str) -> list[int | None]:
    count = len(document.data["automata"][automaton].get("edges") or ())
    return [document.line(("automata", automaton, "edges", i)) for i in range(count)]


def _edges(document: Document, automaton: str, process: Process) -> tuple[int, ...]:
    lines = _lines(document, automaton)
    if len(process.edges) == len(lines):
        return tuple(range(len(lines)))
    if len(set(lines)) < len(lines):  # `select` made several edges of one, and lines do not tell them apart
        where = document.line(("automata", automaton, "edges"))
        raise UserError(Problem("write each edge on a line of its own.", file=document.file, line=where))
    return tuple(lines.index(edge.line) for edge in process.edges)


def constant(expression: Expression | None, default: float = 1.0) -> float | None:
    """The value if it is the same in every state, else None."""
    if expression is None:
        return default
    return float(expression.value) if isinstance(expression, Constant) else None


def compared_clock(expression: Expression | None, operators: tuple[str, ...]) -> int | None:
    """The slot of the clock if the whole condition is `clock OPERATOR constant`, else None."""
    if (
        isinstance(expression, Binary)
        and expression.operator in operators
        and isinstance(expression.left, Read)
        and expression.left.kind is Kind.CLOCK
        and expression.left.index is None
        and isinstance(expression.right, Constant)
    ):
        return expression.left.slot
    return None


def with_bound(text: object, value: str) -> str | None:
    """Replace the number of a comparison: `x <= LIMIT` becomes `x <= 4.9`; None if it is no comparison."""
    found = re.fullmatch(r"\s*([A-Za-z_]\w*(?:\[\w+\])?)\s*([<>]=?)\s*(.+?)\s*", str(text))
    return None if found is None else f"{found[1]} {found[2]} {value}"
