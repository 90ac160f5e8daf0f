"""Search and split texts outside their brackets."""

from __future__ import annotations

import re


def depths(text: str) -> list[int]:
    """Number of brackets around each character."""
    found, depth = [], 0
    for sign in text:
        depth -= sign in ")]}"
        found.append(depth)
        depth += sign in "([{"
    return found


def outside(text: str, pattern: str, start: int = 0) -> re.Match[str] | None:
    """The first match outside all brackets that begins at `start` or later."""
    around = depths(text)
    matches = re.finditer(pattern, text)
    return next((match for match in matches if match.start() >= start and around[match.start()] <= 0), None)


def split(text: str, separator: str) -> list[str]:
    """Split at a character, but not inside brackets."""
    around, parts, begin = depths(text), [], 0
    for place, sign in enumerate(text):
        if sign == separator and around[place] <= 0:
            parts.append(text[begin:place])
            begin = place + 1
    return [*parts, text[begin:]]
