"""Models and queries about their states, as users write them, for engines that look for states:

    model: fischer.xml                 a file (YAML, or UPPAAL's), or example:NAME:SIZE of `bbfalsify list models`
    requirements:
      - {id: Q1, text: "no two inside", query: "A[] not (P(1).cs && P(2).cs)", expected: not_falsified}
      - {id: Q2, query: 3}             the third of those stored in the file
      - {id: Q3, query: stored}        the only one stored in the file

Without requirements, the queries stored with the model are asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbfalsify.campaigns.reading import Reader
from bbfalsify.campaigns.requirements.stl import PlannedRequirement, RequirementItem, note_repeated
from bbfalsify.campaigns.schema import QueryEntry
from bbfalsify.core.engine_kind import EngineKind
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.foreign_files import closest_file, is_file, not_a_file
from bbfalsify.core.verdict import Outcome
from bbfalsify.logic.reach_query import Asked, ExtremesQuery, parse_asked
from bbfalsify.logic.uppaal_queries import answered_elsewhere
from bbfalsify.modelling import Network
from bbfalsify.modelling.formats.model_files import load_model, model_hash
from bbfalsify.modelling.language.model_text import StoredQuery
from bbfalsify.records.documents import KeyPath
from bbfalsify.running.query_run import Question

EXAMPLE = "example:"
STORED = "stored"
_WORDS = {
    True: (Outcome.FALSIFIED, Outcome.NOT_FALSIFIED, Outcome.MODEL_ERROR, Outcome.INCONCLUSIVE),
    False: (Outcome.REACHED, Outcome.NOT_REACHED, Outcome.MODEL_ERROR, Outcome.INCONCLUSIVE),
}
"""The outcomes that A[] and E<> can have."""
_VALUES = (Outcome.NOT_FALSIFIED, *_WORDS[False])
"""The outcomes that sup and inf can have: exact values are no finding."""


@dataclass(frozen=True, eq=False)
class PlannedModel:
    reference: str
    name: str
    network: Network
    about: Mapping[str, Any]
    """Its origin, as records say it."""
    stored: tuple[StoredQuery, ...]
    """Queries that come with it."""


def load_planned_model(reference: str, base: Path, constants: Mapping[str, Any] | None = None) -> PlannedModel:
    changed = {"constants": dict(constants)} if constants else {}
    if reference.startswith(EXAMPLE):
        from bbfalsify.examples.chains import CHAINS, chain_file
        from bbfalsify.examples.models import named_model

        name = reference.removeprefix(EXAMPLE)
        network, family = named_model(name, constants)
        stored = [StoredQuery(family.query, family.text, None, None)]
        if name in CHAINS:
            stored = load_model(chain_file(name))[1]
        return PlannedModel(reference, name.partition(":")[0], network, {"example": name, **changed}, tuple(stored))
    file = base / reference
    if not is_file(file):
        allowed = ("a model file", f"{EXAMPLE}NAME:SIZE ('bbfalsify list models' names them)")
        raise UserError(Problem(not_a_file(file), allowed=allowed, closest=closest_file(file)))
    network, queries = load_model(file, constants)
    about = {"model": str(file.resolve()), "model_sha256": model_hash(file), **changed}
    return PlannedModel(reference, file.stem, network, about, tuple(q for q in queries if q.text.strip()))


def plan_queries(
    reader: Reader,
    items: Sequence[RequirementItem] | None,
    model: PlannedModel,
    default_expected: str | None,
    kind: EngineKind,
) -> list[PlannedRequirement]:
    """Return the queries to ask of a model, each checked against it; `items` None: those stored with it."""
    if items is not None:
        note_repeated(items)
        return [p for item in items if (p := _planned(item, model, default_expected, kind)) is not None]
    if not (own := _own(model, kind)):
        others = "" if not model.stored else " for this command"
        named = "--query is" if not reader.document.file else "requirements are"
        reader.problem((), f"{named} missing: no query{others} is stored with '{model.reference}'.")
    planned = []
    for number, stored in enumerate(model.stored, start=1):
        if stored not in own:
            continue
        name = f"Q{number}"
        elsewhere = None if kind.query is not None else answered_elsewhere(stored.text)
        if elsewhere is not None:
            question = Question(name, " ".join(stored.comment.split()), stored.text, elsewhere)
            planned.append(PlannedRequirement(question, default_expected))
            continue
        query = _parsed(reader, ("model",), stored.text, model, kind, stored)
        if query is not None and _fits(reader, ("expected",), name, query, default_expected):
            words = " ".join(stored.comment.split())
            planned.append(PlannedRequirement(Question(name, words, stored.text), default_expected))
    return planned


def _own(model: PlannedModel, kind: EngineKind) -> list[StoredQuery]:
    """The queries stored with a model that are for this engine."""
    answers = kind.named("stored")
    return [q for q in model.stored if answers is None or answers(q.text)]


def _planned(
    item: RequirementItem, model: PlannedModel, default_expected: str | None, kind: EngineKind
) -> PlannedRequirement | None:
    entry = item.reader.check(QueryEntry, item.data, item.path)
    if entry is None:
        return None
    path = (*item.path, "query")
    text = item.reader.attempt(path, _chosen, model, kind, str(entry.query), item.reader.label(path))
    if text is None:
        return None
    query = _parsed(item.reader, path, text, model, kind)
    expected = entry.expected or default_expected
    if query is None or not _fits(item.reader, (*item.path, "expected"), entry.id, query, expected):
        return None
    return PlannedRequirement(Question(entry.id, entry.text, text), expected)


def _chosen(model: PlannedModel, kind: EngineKind, query: str, label: str) -> str:
    """Return the query given, or the only one stored for this engine, or the one with the given number in the file."""
    stored, own = ([q.text for q in queries] for queries in (model.stored, _own(model, kind)))
    if query != STORED and not query.strip().isdigit():
        return query
    if query == STORED and len(own) == 1:
        return own[0]
    if query != STORED and 1 <= int(query) <= len(stored):
        return stored[int(query) - 1]
    numbered = tuple(f"{number}: {' '.join(text.split())}" for number, text in enumerate(stored, start=1))
    if not numbered:
        raise UserError(f'{label} is missing: what is looked for, such as "E<> P.error".')
    found = "is missing" if query == STORED else f"{query} is not there"
    raise UserError(
        Problem(f"{label} {found}; the file stores {len(numbered)}, choose one by number.", allowed=numbered)
    )


def _parsed(
    reader: Reader, path: KeyPath, text: str, model: PlannedModel, kind: EngineKind, stored: StoredQuery | None = None
) -> Any:
    """Return the query as its engine reads it; None where it is wrong."""
    document = reader.document
    file, line = (document.file or None, document.line(path)) if stored is None else (stored.file, stored.line)
    parse = kind.named("query") or parse_asked
    return reader.attempt(path, parse, text, model.network, file=file, line=line)


def _fits(reader: Reader, path: KeyPath, name: str, query: Any, expected: str | None) -> bool:
    """Note an expectation that can never be met."""
    if not isinstance(query, Asked):
        return True
    words = _VALUES if isinstance(query, ExtremesQuery) else _WORDS[query.universal]
    if expected is None or expected in words:
        return True
    form = query.text.split()[0] if query.text.startswith(("A[]", "E<>")) else query.text
    reader.problem(
        path, f"'{name}' asks {form}, so its outcome cannot be '{expected}'.", allowed=tuple(w.value for w in words)
    )
    return False
