"""Read UPPAAL's XML format."""

from __future__ import annotations

import re
from pathlib import Path

from bbfalsify.core.errors import Problem
from bbfalsify.modelling.formats.uppaal.branching import EdgePart, add_edges
from bbfalsify.modelling.formats.uppaal.elements import Element, read_elements
from bbfalsify.modelling.formats.uppaal.scanner import Scanner, conjunction
from bbfalsify.modelling.formats.uppaal.sections import (
    add_section,
    check_system,
    modern_parameters,
    own_declarations,
    sections,
)
from bbfalsify.modelling.language.model_text import LocationText, ModelText, StoredQuery, TemplateText
from bbfalsify.records.documents import Text

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOP = ("imports", "declaration", "template", "lsc", "instantiation", "system", "queries", "project")
_TEMPLATE = ("name", "parameter", "declaration", "location", "branchpoint", "init", "transition")
_LOCATION_LABELS = ("invariant", "exponentialrate", "comments", "testcodeEnter", "testcodeExit")
_EDGE_LABELS = ("select", "guard", "synchronisation", "assignment", "probability", "comments", "testcode")


def read_xml(path: Path, model: ModelText, problems: list[Problem]) -> None:
    root = read_elements(path)
    if root.tag not in ("nta", "project"):
        problems.append(root.place.problem(f"an UPPAAL model begins with <nta>, found <{root.tag}>."))
        return
    for element in root.children:
        if element.tag not in _TOP:
            problems.append(element.place.unknown("element", element.tag, _TOP))
        elif element.tag == "lsc":
            problems.append(element.place.problem("live sequence charts are not supported; draw the scenario as a "
                                                  "template with an error location."))  # fmt: skip
    for tag in ("imports", "declaration"):
        for element in root.all(tag):
            _declarations(element, model, problems)
    model.templates = [_Template(element, model, problems).read() for element in root.all("template")]
    for tag in ("instantiation", "system"):
        for element in root.all(tag):
            _declarations(element, model, problems)
    check_system(model, next(root.all("system"), root).place, problems)
    for queries in root.all("queries"):
        model.queries += [found for query in queries.all("query") for found in _query(query)]


def _query(element: Element) -> list[StoredQuery]:
    formula, comment = element.text_of("formula"), element.text_of("comment")
    if formula is None or not _COMMENT.sub("", formula.text).strip():
        return []
    return [StoredQuery(formula.text, "" if comment is None else comment.text, formula.place.file, formula.place.line)]


def _declarations(element: Element, model: ModelText, problems: list[Problem]) -> None:
    if element.text is None:
        return
    for section in sections(Scanner(element.text), problems, model.notes):
        if section.kind == "process":
            problems.append(section.text.place.problem("a process in text form; in XML it is a <template>."))
            return
        add_section(model, section, problems)


class _Template:
    def __init__(self, element: Element, model: ModelText, problems: list[Problem]) -> None:
        self.element = element
        self.model = model
        self.problems = problems
        self.locations: dict[str, str] = {}
        """id → name"""
        self.names: set[str] = set()
        self.branchpoints: set[str] = set()

    def read(self) -> TemplateText:
        name = self.element.text_of("name")
        if name is None:
            self.problems.append(self.element.place.problem("the template has no name."))
        template = TemplateText("" if name is None else name.text, self.element.place, None)
        for child in self.element.children:
            if child.tag not in _TEMPLATE:
                self.problems.append(child.place.unknown("element of a template", child.tag, _TEMPLATE))
        template.parameters = modern_parameters(self.element.text_of("parameter"))
        text = self.element.text_of("declaration")
        template.declarations += own_declarations(text, "template", self.model, self.problems)
        template.locations = [self.location(element) for element in self.element.all("location")]
        self.branchpoints = {element.attributes.get("id", "") for element in self.element.all("branchpoint")}
        self.initial(template)
        parts = [self.edge(element) for element in self.element.all("transition")]
        add_edges(
            template, [part for part in parts if part is not None], self.branchpoints, self.problems, self.model.notes
        )
        return template

    def initial(self, template: TemplateText) -> None:
        init = self.element.child("init")
        reference = None if init is None else init.attributes.get("ref")
        if init is None or reference is None:
            self.problems.append(self.element.place.problem(f"template '{template.name}' has no initial location."))
        elif reference not in self.locations:
            self.problems.append(init.place.unknown("location", reference, tuple(self.locations)))
        else:
            template.initial, template.initial_place = self.locations[reference], init.place

    def labels(self, element: Element, known: tuple[str, ...]) -> dict[str, Text]:
        labels: dict[str, Text] = {}
        for label in element.all("label"):
            kind = label.attributes.get("kind", "")
            if kind not in known:
                self.problems.append(label.place.unknown("kind of label", kind, known))
            elif kind in labels:
                self.problems.append(label.place.problem(f"there are two labels of the kind '{kind}'."))
            elif label.text is not None:
                labels[kind] = label.text
        for kind in labels:
            if kind.startswith("testcode"):
                self.model.notes.append(labels[kind].place.problem("test code is left out."))
        return labels

    def location(self, element: Element) -> LocationText:
        key = element.attributes.get("id", "")
        name_text = element.text_of("name")
        name = key if name_text is None else name_text.text
        place = element.place if name_text is None else name_text.place
        if key in self.locations:
            self.problems.append(element.place.problem(f"there are two locations with the id '{key}'."))
        elif name in self.names:
            self.problems.append(place.problem(f"there are two locations '{name}'."))
        self.locations[key] = name
        self.names.add(name)
        labels = self.labels(element, _LOCATION_LABELS)
        committed = element.child("committed") is not None
        return LocationText(
            name,
            place,
            conjunction(labels.get("invariant")),
            exponential_rate=exponential_rate(labels.get("exponentialrate")),
            urgent=element.child("urgent") is not None and not committed,  # committed says more
            committed=committed,
        )

    def edge(self, element: Element) -> EdgePart | None:
        labels = self.labels(element, _EDGE_LABELS)
        if element.attributes.get("controllable", "true") != "true":
            note = "uncontrollable edges (of games) are read like all others."
            self.model.notes.append(element.place.problem(note))
        ends = [self.end(element, tag) for tag in ("source", "target")]
        if ends[0] is None or ends[1] is None:
            return None
        return EdgePart(
            ends[0],
            ends[1],
            element.place,
            conjunction(labels.get("guard")),
            labels.get("synchronisation"),
            labels.get("select"),
            labels.get("assignment"),
            labels.get("probability"),
        )

    def end(self, element: Element, tag: str) -> str | None:
        """The name of the location, or the id of the branch point."""
        child = element.child(tag)
        reference = None if child is None else child.attributes.get("ref")
        if child is None or reference is None:
            self.problems.append(element.place.problem(f"the transition has no {tag}."))
            return None
        if reference in self.branchpoints:
            return reference
        if reference not in self.locations:
            self.problems.append(child.place.unknown(f"{tag} of a transition", reference, tuple(self.locations)))
            return None
        return self.locations[reference]


def exponential_rate(text: Text | None) -> Text | None:
    """`1:4` is the rate 1/4."""
    if text is None or ":" not in text.text or "?" in text.text:
        return text
    above, below = text.text.split(":", 1)
    return Text(f"({above}) * 1.0 / ({below})", text.place)
