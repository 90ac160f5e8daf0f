"""Markdown tables and code, escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def cell(text: str) -> str:
    """Text in a table: one line, no column of its own."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    return f"`{cell(text)}`" if text else ""


def prose(text: str) -> str:
    """Markdown of a docstring: what looks like HTML outside of code is text."""
    return re.sub(r"(`[^`]*`)|<", lambda m: m[1] or "&lt;", text)
