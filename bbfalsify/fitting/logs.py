"""Read logs of use: CSV files with the columns `time`, `action` and, for several sessions, `session`.

    session,time,action
    monday,0,                 a row without an action: the session begins
    monday,3.2,on
    monday,7.9,off
    monday,10,                the observation ends

Times are in the unit of the profile and may be absolute; only differences count.  They are read as exact fractions.
Times such as 2026-01-31T08:15:02.5+01:00 (ISO 8601) count in seconds; one without a zone is in UTC.  Columns are
separated by commas, semicolons, tabs or bars, whichever the first line has, and may have other names (`columns`).  A
session begins with its first row.  If that row is an action, its delay is unknown and not counted, unless sessions are
said to begin at time 0.  The files of `bbfalsify simulate --csv` are such logs (a session is a `walk` there).  Other
columns are ignored.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.foreign_files import LARGEST_DATA, read_text
from bbfalsify.fitting.log_events import Instant, Log, LogEvents, LogSession

MOST_PROBLEMS = 20
"""Further problems are counted only: a file with a wrong separator has one on every line."""
SESSION_COLUMNS = ("session", "walk")
COLUMNS = ("time", "action", "session")
_SEPARATORS = ",;\t|"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_logs(
    paths: Iterable[str | Path],
    *,
    from_zero: bool = False,
    actions: Iterable[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Log:
    """Read all sessions of all files; `actions` are the known ones (None: any).  Raise all problems at once.

    `columns` says which column of the files is the time, the action or the session: {"time": "when"}.
    """
    wrong = [name for name in columns or () if name not in COLUMNS]
    if wrong:
        raise UserError(unknown_name("column", name, COLUMNS) for name in wrong)
    named = {theirs.strip().lower(): ours for ours, theirs in (columns or {}).items()}
    known = None if actions is None else tuple(actions)
    sessions: list[LogSession] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            text = read_text(path, largest=LARGEST_DATA)
        except UserError as error:
            problems += error.problems
            continue
        sessions += _read(text, str(path), from_zero, known, named, problems)
    if problems:
        raise UserError(problems[:MOST_PROBLEMS] + _rest(problems))
    return Log(tuple(s for s in sessions if s.events or s.start is not None))


def _rest(problems: list[Problem]) -> list[Problem]:
    more = len(problems) - MOST_PROBLEMS
    return [Problem(f"… and {more} more problems.")] if more > 0 else []


def _read(
    text: str,
    file: str,
    from_zero: bool,
    known: tuple[str, ...] | None,
    named: Mapping[str, str],
    problems: list[Problem],
) -> list[LogSession]:
    first = text.partition("\n")[0]
    reader = csv.reader(_lines(text), delimiter=max(_SEPARATORS, key=first.count))
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        header = [named.get(name, "" if name in named.values() else name) for name in header]
        return _read_rows(reader, header, file, from_zero, known, problems)
    except csv.Error as error:
        problems.append(Problem(f"not CSV: {error}.", file, reader.line_num))
        return []


def _lines(text: str) -> Iterator[str]:
    """The lines of a text with their ends, one by one: a list of them, or a StringIO, takes four times the text."""
    start = 0
    while end := text.find("\n", start) + 1:
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _read_rows(
    reader: Any, header: list[str], file: str, from_zero: bool, known: tuple[str, ...] | None, problems: list[Problem]
) -> list[LogSession]:
    columns = _columns(header, file, problems)
    if columns is None:
        return []
    time_column, action_column, session_column = columns
    sessions: dict[str, LogSession] = {}
    events: dict[str, LogEvents] = {}
    ends: dict[str, Instant] = {}
    parsed: dict[str, list[str]] = {}
    unknown: set[str] = set()
    rows = 0
    for row in reader:
        if not (row and row[0].strip()) and not any(map(str.strip, row)):
            continue
        rows, line = rows + 1, reader.line_num
        if len(row) != len(header):
            problems.append(Problem(f"{len(row)} cells where the first line names {len(header)}.", file, line))
            continue
        time = _time(row[time_column], file, line, problems)
        name = "" if session_column is None else row[session_column].strip()
        if time is None:
            continue
        session = sessions.get(name)
        if session is None:
            events[name] = LogEvents()
            start = Fraction(0) if from_zero else None
            session = sessions[name] = LogSession(file, name, start, Fraction(0), events[name])
            if from_zero and time.ticks < 0:
                problems.append(Problem(f"time {float(time.exact):g} lies before 0, where sessions begin.", file, line))
        elif time < ends[name]:
            now, before = float(time.exact), float(ends[name].exact)
            message = f"time must not run backwards; {now:.12g} follows {before:.12g}{_in_session(name)}."
            problems.append(Problem(message, file, line))
            continue
        ends[name] = time
        cell = row[action_column]
        actions = parsed.get(cell)
        if actions is None:
            actions = parsed[cell] = _actions(cell.strip(), known)
            for action in actions:
                _check(action, known, unknown, file, line, problems)
        if not actions and not session.events and session.start is None:
            session.start = time.exact
        for action in actions:
            events[name].add(time, action, line)
    for name, session in sessions.items():
        session.end = ends[name].exact
    if not rows and not problems:
        problems.append(Problem("the file has no rows.", file=file))
    return list(sessions.values())


def _columns(header: list[str], file: str, problems: list[Problem]) -> tuple[int, int, int | None] | None:
    if not any(header):
        problems.append(Problem("the file is empty; the first line must name the columns time and action.", file, 1))
        return None
    missing = [name for name in ("time", "action") if name not in header]
    for name in missing:
        near = unknown_name("column", name, header).closest
        perhaps = f" Perhaps '{near}' is meant." if near else ""
        problems.append(Problem(f"there is no column '{name}'; the file has {', '.join(header)}.{perhaps}", file, 1))
    for name in sorted({n for n in header if n and header.count(n) > 1}):
        problems.append(Problem(f"column '{name}' is given twice.", file, 1))
        missing.append(name)
    if missing:
        return None
    session = next((header.index(name) for name in SESSION_COLUMNS if name in header), None)
    return header.index("time"), header.index("action"), session


def _time(cell: str, file: str, line: int, problems: list[Problem]) -> Instant | None:
    """Read a decimal exactly; a number of absurd length or exponent as the nearest float64."""
    whole, _, decimals = cell.partition(".")
    if whole.isdecimal() and len(cell) < 40 and (decimals.isdecimal() or not decimals) and cell.isascii():
        return Instant(int(whole + decimals), 10 ** len(decimals))
    cell = cell.strip()
    try:
        value = float(cell)
    except ValueError:
        if (moment := _moment(cell)) is not None:
            return moment
        value = math.nan
    if not math.isfinite(value):
        problems.append(
            Problem(f"time must be a finite number, or a time such as 2026-01-31T08:15:02; found '{cell}'.", file, line)
        )
        return None
    plain = re.fullmatch(r"[+-]?[\d.]{1,40}([eE][+-]?\d{1,2})?", cell)
    exact = Fraction(cell) if plain else Fraction(value)
    return Instant(exact.numerator, exact.denominator)


def _moment(cell: str) -> Instant | None:
    """Read a time of ISO 8601, in microseconds since 1970."""
    try:
        moment = datetime.fromisoformat(cell)
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return Instant((moment - _EPOCH) // timedelta(microseconds=1), 10**6)


def _actions(cell: str, known: tuple[str, ...] | None) -> list[str]:
    """The actions of a cell; `simulate` writes simultaneous ones separated by spaces."""
    if known is not None and cell not in known and all(word in known for word in cell.split()):
        return cell.split()
    return [cell] if cell else []


def _check(
    action: str, known: tuple[str, ...] | None, unknown: set[str], file: str, line: int, problems: list[Problem]
) -> None:
    """Report each unknown name once, at its first row."""
    if action in unknown:
        return
    if known is not None and action not in known:
        unknown.add(action)
        problems.append(unknown_name("action", action, known, file=file, line=line))
    elif known is None and any(character.isspace() or character == "," for character in action):
        unknown.add(action)
        problems.append(Problem(f"an action's name has neither spaces nor commas; found '{action}'.", file, line))


def _in_session(name: str) -> str:
    return f" in session '{name}'" if name else ""
