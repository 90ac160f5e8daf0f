"""Requirements as users write them: a list in a campaign, or a specification file of their own.

    format_version: 1
    requirements:
      - {id: R1, text: "never above 75 degrees", stl: "always[0:20](T <= 75)", expected: falsified}

An item that is plain text is the path of a specification file, whose requirements all join the list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.campaigns.reading import Reader
from bbfalsify.campaigns.schema import FORMS, SPECIFICATION_SECTIONS, RequirementEntry
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.foreign_files import is_file
from bbfalsify.records.documents import KeyPath, read_yaml

if TYPE_CHECKING:
    from bbfalsify.engines.checking.claims import Claim
    from bbfalsify.logic import Requirement
    from bbfalsify.running.query_run import Question


FORMS_ABOUT = {"signals": ("stl",), "symbols": FORMS, "states": ("query",)}
ENGINES_ABOUT = {"signals": "falsify", "symbols": "check", "states": "reach"}


@dataclass(frozen=True)
class PlannedRequirement:
    """A requirement ready to be monitored, and the outcome its author expects."""

    requirement: Requirement | Claim | Question
    """About signals, about symbols, or about states of a model."""
    expected: str | None = None


@dataclass(frozen=True)
class RequirementItem:
    """One entry as written, with the reader that knows its place."""

    reader: Reader
    path: KeyPath
    data: Any


def note_repeated(items: Iterable[RequirementItem]) -> None:
    """Note every requirement whose id another one had before."""
    seen: set[str] = set()
    for item in items:
        name = item.data.get("id") if isinstance(item.data, dict) else None
        if isinstance(name, str) and name in seen:
            item.reader.problem((*item.path, "id"), f"requirement '{name}' is given twice.")
        seen |= {name} if isinstance(name, str) else set()


def collect_items(reader: Reader, value: Any, base: Path) -> list[RequirementItem]:
    """Return all entries under `requirements`, specification files opened; problems go to the reader."""
    entries = value if isinstance(value, list) else [value]
    if not entries:
        reader.problem(("requirements",), "requirements must not be empty.")
    items: list[RequirementItem] = []
    for index, entry in enumerate(entries):
        path: KeyPath = ("requirements", index) if isinstance(value, list) else ("requirements",)
        if isinstance(entry, str):
            items += items_of_file(reader, path, base / entry)
        else:
            items.append(RequirementItem(reader, path, entry))
    return items


def places_of_requirements(campaign: str | Path) -> dict[str, tuple[str, int]]:
    """Return the file and line of each requirement of a campaign, as far as they can be read."""
    try:
        document = read_yaml(campaign)
    except UserError:
        return {}
    entries = document.data.get("requirements") if isinstance(document.data, dict) else None
    items = [] if entries is None else collect_items(Reader(document, []), entries, Path(campaign).parent)
    named = [(item, item.reader.document) for item in items if isinstance(item.data, dict) and "id" in item.data]
    return {str(item.data["id"]): (written.file, written.line(item.path) or 1) for item, written in named}


def items_of_file(reader: Reader, path: KeyPath, file: Path) -> list[RequirementItem]:
    if not is_file(file):
        says = "" if file.suffix else "; a formula stands in {id: …, text: …, stl: …}"
        reader.problem(path, f"there is no specification file '{file}'{says}.")
        return []
    try:
        document = read_yaml(file)
    except UserError as error:
        reader.problems.extend(error.problems)
        return []
    inner = Reader(document, reader.problems)
    sections = inner.sections(SPECIFICATION_SECTIONS, "specification file")
    [entries] = sections.get("requirements", [[]])
    if not isinstance(entries, list) or "requirements" in sections and not entries:
        inner.problem(("requirements",), "requirements must be a list with at least one entry.")
        return []
    return [RequirementItem(inner, ("requirements", i), entry) for i, entry in enumerate(entries)]


def fits(item: RequirementItem, about: Collection[str]) -> bool:
    """Tell whether an entry is of the form that the engines take; of another one, say whose form it is."""
    written = set(item.data) if isinstance(item.data, dict) else set()
    if len(about) != 1 or written & set(FORMS_ABOUT[next(iter(about))]):
        return True
    wanted = FORMS_ABOUT[next(iter(about))]
    for other, forms in FORMS_ABOUT.items():
        for form in forms:
            if form in written:
                message = (
                    f"'{form}' is about {other}, for engines such as {ENGINES_ABOUT[other]}; "
                    f"this engine takes {' or '.join(wanted)}."
                )
                item.reader.problem((*item.path, form), message)
                return False
    return True


def parse_items(
    items: list[RequirementItem], signals: Iterable[str] | None, default_expected: str | None = None
) -> list[PlannedRequirement]:
    """Check each entry and parse its formula; `signals` None means that the names are not known yet."""
    from bbfalsify.logic import Requirement

    known = None if signals is None else tuple(signals)
    planned: list[PlannedRequirement] = []
    note_repeated(items)
    for item in items:
        entry = item.reader.check(RequirementEntry, item.data, item.path)
        formula = _formula(item, known)
        if entry is None:
            continue
        if entry.time == "discrete" and entry.period is None:
            item.reader.problem(item.path, f"requirement '{entry.id}' has discrete time and needs a period.")
        elif formula is not None:
            made = {"id": entry.id, "text": entry.text, "formula": formula, "time": entry.time, "period": entry.period}
            requirement = item.reader.attempt((*item.path, "stl"), Requirement, **made)
            if requirement is not None:
                planned.append(PlannedRequirement(requirement, entry.expected or default_expected))
    return planned


def _formula(item: RequirementItem, signals: tuple[str, ...] | None) -> Any:
    """Parse the formula even of an entry that has other mistakes, so that all are reported together."""
    from bbfalsify.logic import parse_stl

    text = item.data.get("stl") if isinstance(item.data, dict) else None
    if not isinstance(text, str) or not text:
        return None
    path = (*item.path, "stl")
    document = item.reader.document
    place = {"file": document.file or None, "line": document.line(path)}
    return item.reader.attempt(path, parse_stl, text, signals=signals, **place)


def load_requirements(path: str | Path, *, signals: Iterable[str] | None = None) -> list[PlannedRequirement]:
    """Read one specification file on its own."""
    file = Path(path)
    if not is_file(file):
        raise UserError(f"there is no specification file '{file}'.")
    problems: list[Problem] = []
    items = items_of_file(Reader(read_yaml(file), problems), (), file)
    planned = parse_items(items, signals)
    if problems:
        raise UserError(problems)
    return planned
