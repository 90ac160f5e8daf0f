"""Requirements about symbols, as users write them: a formula, a HOA file, or a specification file with entries like

    - {id: R1, text: "no data before a recipient", ltl: "precedence(in == rcpt & out == '250', out == '354')"}
    - {id: R2, text: "the door", monitor: door.yaml}

Each entry has exactly one of the forms that `logic.temporal.read_property` reads; files lie beside the specification.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bbfalsify.campaigns.reading import Reader
from bbfalsify.campaigns.requirements.stl import (
    PlannedRequirement,
    RequirementItem,
    items_of_file,
    note_repeated,
    parse_items,
)
from bbfalsify.campaigns.schema import FORMS, ClaimEntry, QueryEntry
from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.foreign_files import closest_file, is_file, not_a_file
from bbfalsify.engines.checking.claims import Claim
from bbfalsify.logic.ltl import read_property
from bbfalsify.records.documents import read_yaml
from bbfalsify.systems.symbols import SymbolSystem


def check_specification(path: str | Path) -> int:
    """Return the number of requirements in a specification file, or raise all its problems.

    Without a model only the shape of a query can be checked.
    """
    file = Path(path)
    if not is_file(file):
        raise UserError(f"there is no specification file '{file}'.")
    problems: list[Problem] = []
    items = items_of_file(Reader(read_yaml(file), problems), (), file)
    note_repeated([item for item in items if is_temporal(item.data) or is_query(item.data)])
    for item in items:
        if is_temporal(item.data):
            parse_claim(item)
        elif is_query(item.data):
            item.reader.check(QueryEntry, item.data, item.path)
    parse_items([item for item in items if not (is_temporal(item.data) or is_query(item.data))], None)
    if problems:
        raise UserError(problems)
    return len(items)


def plan_claims(
    items: Sequence[RequirementItem], systems: Sequence[SymbolSystem], default_expected: str | None
) -> list[PlannedRequirement]:
    """Check the requirements of a campaign against the symbols of every system it names."""
    planned: list[PlannedRequirement] = []
    note_repeated(items)
    for item in items:
        claim = parse_claim(item)
        if claim is None:
            continue
        for box in systems:
            item.reader.adopt(item.path, claim.property.problems(box.alphabet, None))
        planned.append(PlannedRequirement(claim, item.data.get("expected") or default_expected))
    return planned


def note_settings(reader: Reader, engines: Iterable[Any], systems: Sequence[SymbolSystem], base: Path) -> None:
    """Note problems that show beside the system and the disk: symbols that it does not have, missing files."""
    for engine in engines:
        for box in systems:
            unknown = [s for s in getattr(engine, "alphabet", ()) if s not in box.alphabet]
            reader.adopt(("engine", "alphabet"), [unknown_name("input symbol", s, box.alphabet) for s in unknown])
        for key in ("observations", "older"):
            given = getattr(engine, key, None) or ()
            files = [given] if isinstance(given, str) else given
            for file in (base / file for file in files if not is_file(base / file)):
                missing = Problem(not_a_file(file), closest=closest_file(file))
                reader.adopt(("engine", key), [missing])


def parse_claim(item: RequirementItem) -> Claim | None:
    """Parse one entry; its problems go to the reader it came from."""
    entry = item.reader.check(ClaimEntry, item.data, item.path)
    if entry is None:
        return None
    document = item.reader.document
    written = {form: value for form in FORMS if (value := getattr(entry, form)) is not None}
    if len(written) != 1:
        found = " and ".join(written) or "none"
        item.reader.problem(
            item.path, f"a requirement about symbols has exactly one of {', '.join(FORMS)}; found {found}."
        )
        return None
    [(form, source)] = written.items()
    folder = Path(document.file).parent if document.file else Path()
    place = {"file": document.file or None, "line": document.line(item.path)}
    said = item.reader.attempt((*item.path, form), read_property, form, source, folder=folder, **place)
    return None if said is None else Claim(entry.id, entry.text, said)


def is_query(data: Any) -> bool:
    """Tell whether an entry speaks about states of a model."""
    return isinstance(data, dict) and "query" in data


def is_temporal(data: Any) -> bool:
    """Tell whether an entry speaks about symbols rather than signals."""
    return isinstance(data, dict) and any(form in data for form in FORMS)
