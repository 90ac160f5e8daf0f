"""Read queries from a file beside the model (`gate.q` of `gate.xta`): one a line, after comments in /* */."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bbfalsify.core.foreign_files import is_file, read_text
from bbfalsify.modelling.language.model_text import StoredQuery

_PART = re.compile(r"/\*(?P<block>.*?)\*/|//[^\n]*|(?P<query>(?:\\\r?\n|(?!/\*|//)[^\n])+)", re.DOTALL)


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
