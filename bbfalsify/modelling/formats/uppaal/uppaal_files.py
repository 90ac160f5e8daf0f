"""Read an UPPAAL file as a ModelText, and the queries beside it (`gate.q` of `gate.xta`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bbfalsify.core.errors import Place, Problem
from bbfalsify.core.foreign_files import is_file, read_text
from bbfalsify.modelling.language.model_text import ModelText, StoredQuery

SUFFIXES = (".xml", ".xta", ".ta")
_PART = re.compile(r"/\*(?P<block>.*?)\*/|//[^\n]*|(?P<query>(?:\\\r?\n|(?!/\*|//)[^\n])+)", re.DOTALL)
"""Parts of a file of queries: one a line, after comments in /* */."""


def is_uppaal(path: str | Path) -> bool:
    """Tell by the file's name whether it is an UPPAAL model."""
    return Path(path).suffix.lower() in SUFFIXES


def uppaal_text(path: str | Path, problems: list[Problem]) -> ModelText:
    """Read the model's texts, and add what is wrong to `problems`."""
    path = Path(path)
    model = ModelText(path.stem, Place(str(path), 1), as_uppaal=True)
    if path.suffix.lower() == ".xml":
        from bbfalsify.modelling.formats.uppaal.xml_reader import read_xml

        read_xml(path, model, problems)
    else:
        from bbfalsify.modelling.formats.uppaal.xta_reader import read_xta

        read_xta(path, model, problems)
    model.queries += queries_beside(path)
    return model


def queries_beside(model: Path) -> Iterator[StoredQuery]:
    """The queries of the file with the model's name and the suffix .q, if there is one."""
    file = model.with_suffix(".q")
    if not is_file(file):
        return
    text = read_text(file, tolerant=True)
    comment = ""
    for part in _PART.finditer(text):
        if part["block"] is not None:
            comment = " ".join(part["block"].split())
        query = " ".join(re.sub(r"\\\r?\n", " ", part["query"] or "").split())
        if query:
            yield StoredQuery(query, comment, str(file), text.count("\n", 0, part.start()) + 1)
            comment = ""
