"""Read UPPAAL's text format.

process Train(const int[0,3] id) {
  clock x;
  state Safe, Appr { x <= 20 };
  urgent …; commit …; branchpoint …;
  init Safe;
  trans Safe -> Appr { select …; guard …; sync appr[id]!; assign x = 0; },
        -> Safe { … };                              same source as the edge before (old models)
}
"""

from __future__ import annotations

from pathlib import Path

from bbfalsify.core.errors import Place, Problem
from bbfalsify.core.foreign_files import read_text
from bbfalsify.modelling.formats.uppaal.branching import EdgePart, add_edges
from bbfalsify.modelling.formats.uppaal.scanner import Scanner, Token, conjunction
from bbfalsify.modelling.formats.uppaal.sections import (
    add_section,
    check_system,
    modern_parameters,
    own_declarations,
    sections,
)
from bbfalsify.modelling.formats.uppaal.xml_reader import exponential_rate
from bbfalsify.modelling.language.model_text import LocationText, ModelText, TemplateText
from bbfalsify.records.documents import Text

_PARTS = ("state", "commit", "urgent", "branchpoint", "init", "trans")
_FIELDS = ("select", "guard", "sync", "assign", "probability")


def read_xta(path: Path, model: ModelText, problems: list[Problem]) -> None:
    file = str(path)
    scanner = Scanner(Text(read_text(path, tolerant=True), Place(file, 1)))
    for section in sections(scanner, problems, model.notes):
        if section.kind != "process":
            add_section(model, section, problems)
            continue
        template = _Process(scanner, model, problems).read()
        if template is None:
            return
        model.templates.append(template)
    check_system(model, scanner.place_of(scanner.tokens[-1]), problems)


class _Process:
    def __init__(self, scanner: Scanner, model: ModelText, problems: list[Problem]) -> None:
        self.scanner = scanner
        self.model = model
        self.problems = problems
        self.branchpoints: set[str] = set()

    def unexpected(self, wanted: str) -> None:
        token = self.scanner.current
        found = "the end of the file" if self.scanner.at_end else f"'{token.text}'"
        self.problems.append(self.scanner.place_of(token).problem(f"unexpected {found}.", allowed=(wanted,)))

    def read(self) -> TemplateText | None:
        """Read the process; None after reporting a problem that ends reading."""
        scanner = self.scanner
        name = scanner.take()
        template = TemplateText(name.text, scanner.place_of(name), None)
        if scanner.accept("("):
            template.parameters = modern_parameters(scanner.until(")"))
            scanner.accept(")")
        if not scanner.accept("{"):
            self.unexpected("'{'")
            return None
        self.declarations(template)
        while scanner.current.text in _PARTS:
            word = scanner.take()
            if word.text == "trans":
                self.transitions(template)
            else:
                self.part(template, word)
            if not scanner.accept(";"):
                self.unexpected("';'")
                return None
        if not scanner.accept("}"):
            self.unexpected(", ".join(f"'{part}'" for part in _PARTS) + " or '}'")
            return None
        if not template.locations:
            template.locations = [LocationText("_", template.place)]
            note = f"process '{template.name}' has no state; it stands still."
            self.model.notes.append(template.place.problem(note))
        elif template.initial is None:
            self.problems.append(template.place.problem(f"process '{template.name}' has no 'init'."))
        return template

    def declarations(self, template: TemplateText) -> None:
        """Read the declarations, up to the first part that only processes have."""
        scanner = self.scanner
        begin = scanner.position
        while not scanner.at_end and scanner.current.text not in (*_PARTS, "}"):
            scanner.skip_to(";", "{", *_PARTS)
            if scanner.accept("{"):
                scanner.skip_to("}")
                scanner.take()
            elif not scanner.accept(";") and scanner.current.text not in _PARTS:
                break
            if scanner.current.text == "urgent" and scanner.ahead().text in ("chan", "broadcast"):
                scanner.skip_to(";")
        if scanner.position > begin:
            text = scanner.text(begin, scanner.position)
            template.declarations += own_declarations(text, "process", self.model, self.problems)

    def part(self, template: TemplateText, word: Token) -> None:
        """Read the comma-separated names after `state`, `commit`, `urgent`, `branchpoint` or `init`."""
        scanner = self.scanner
        while scanner.current.kind == "word":
            name = scanner.take()
            if word.text == "state":
                template.locations.append(self.state(template, name))
            elif word.text == "branchpoint":
                self.branchpoints.add(name.text)
            else:
                self.mark(template, word.text, name)
            if not scanner.accept(","):
                break

    def state(self, template: TemplateText, name: Token) -> LocationText:
        place = self.scanner.place_of(name)
        if any(location.name == name.text for location in template.locations):
            self.problems.append(place.problem(f"there are two locations '{name.text}'."))
        location = LocationText(name.text, place)
        if self.scanner.accept("{"):
            location.invariant = conjunction(self.scanner.until(";", "}"))
            if self.scanner.accept(";"):
                location.exponential_rate = exponential_rate(self.scanner.until("}"))
            self.scanner.accept("}")
        return location

    def mark(self, template: TemplateText, word: str, name: Token) -> None:
        place = self.scanner.place_of(name)
        location = next((loc for loc in template.locations if loc.name == name.text), None)
        if location is None:
            known = [loc.name for loc in template.locations]
            self.problems.append(place.unknown("location", name.text, known))
        elif word == "init":
            template.initial, template.initial_place = name.text, place
        elif word == "commit":
            location.committed, location.urgent = True, False
        else:
            location.urgent = not location.committed

    def transitions(self, template: TemplateText) -> None:
        scanner = self.scanner
        parts: list[EdgePart] = []
        source: str | None = None
        while scanner.current.kind == "word" or scanner.current.text in ("->", "-u->"):
            begin = scanner.current
            if begin.kind == "word":
                source = scanner.take().text
            if not scanner.accept("->", "-u->") or source is None:
                self.unexpected("'->'")
                break
            target = scanner.take()
            fields = self.fields()
            parts.append(EdgePart(
                source, target.text, scanner.place_of(begin), conjunction(fields.get("guard")),
                fields.get("sync"), fields.get("select"), fields.get("assign"), fields.get("probability"),
            ))  # fmt: skip
            if not scanner.accept(","):
                break
        add_edges(template, parts, self.branchpoints, self.problems, self.model.notes)

    def fields(self) -> dict[str, Text]:
        """{ guard …; sync …; assign …; }"""
        scanner = self.scanner
        fields: dict[str, Text] = {}
        if not scanner.accept("{"):
            return fields
        while scanner.current.text in _FIELDS:
            word = scanner.take()
            text = scanner.until(";", "}")
            if text is not None:
                fields[word.text] = text
            scanner.accept(";")
        if not scanner.accept("}"):
            self.unexpected(", ".join(f"'{field}'" for field in _FIELDS) + " or '}'")
            scanner.skip_to("}")
            scanner.accept("}")
        return fields
