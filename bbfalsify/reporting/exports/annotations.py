"""Annotations: lines that GitHub's runner finds in a log and shows beside the code of a pull request.

    ::error file=campaign.yaml,line=7,title=R1%3A never above 75::R1, never above 75: violated in …%0A#1 …

One per requirement that is not simply in order, since only ten of a kind are shown per step: an error where it failed,
a warning where there is no answer, a notice where what was found was expected or is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bbfalsify.core.visible_text import visible
from bbfalsify.reporting.exports.cases import Case, Suite
from bbfalsify.reporting.exports.source_lines import Places, in_repository, place_of

_LEVELS = {"failed": "error", "error": "error", "inconclusive": "warning"}


def annotation_lines(suites: Sequence[Suite], places: Places) -> Iterator[str]:
    """Annotations of all runs, the gravest first."""
    told = [(level, suite, case) for suite in suites for case in suite.cases if (level := _level(case)) is not None]
    for level, suite, case in sorted(told, key=lambda item: ("error", "warning", "notice").index(item[0])):
        place = place_of(suite, case, places)
        about = {} if place is None else {"file": in_repository(place[0]).as_posix(), "line": str(place[1])}
        about["title"] = f"{case.id}: {case.text}" if case.text else case.id
        run = (f"run {suite.name}",) if len(suites) > 1 else ()
        yield _command(level, about, "\n".join([*case.lines, *run]))


def _level(case: Case) -> str | None:
    if case.status == "passed":
        return "notice" if case.findings else None
    return _LEVELS[case.status]


def _command(name: str, about: Mapping[str, str], text: str) -> str:
    properties = ",".join(f"{key}={_escaped(visible(value), ':,')}" for key, value in about.items())
    return f"::{name} {properties}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    """Escape a text as the runner reads it back: nothing in it can end the line or the property."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
