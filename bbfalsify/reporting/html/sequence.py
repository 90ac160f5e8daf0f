"""Message sequence charts: a life line per process, time going down, an arrow per synchronisation.

    chart = sequence_chart(["user", "door"], [Row("0", ["user", "door"], "open", ["", "Closed → Open"])])

Arrows go from the first that takes part to all others; a step of one process alone is a box on its line.

Of more than ten processes those that take part have narrow lines with slanted names, and the texts stand at the right,
so that all of it is seen at once; those that never do are named below.  A page shows the rows of one process alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

TIME, NUMBER, STEP, TOP = 90, 60, 38, 18
"""Room for the time and for the number at the left; height of a row; room above the first one."""
NARROW, WIDE = 110, 230
"""Limits of the distance between two life lines."""
FEW = 4
"""Up to so many life lines stand far enough apart for the messages; with more, names and places decide."""
MANY = 10
"""With more life lines than this, texts stand at the right."""
DENSE, CLOSEST, DENSE_STEP, DENSE_HEADS, PAGE = 26, 14, 22, 92, 1110
"""Largest and smallest distance of such life lines; height of a row; height of the slanted names; width of the page."""
MOST_ROWS = 1500
NOTHING = '<p class="soft">Nothing happens: it is so in the initial state.</p>'
BESIDE = 420
"""Room at the right, at most."""
LETTER = 7.0


@dataclass(frozen=True)
class Row:
    when: str
    who: tuple[str, ...]
    """The first one speaks; where it is alone, it acts by itself."""
    text: str
    places: tuple[str, ...] = ()
    """New location of each of them, shown beside its line."""
    beside: str = ""
    """At the right of everything."""
    broken: bool = False
    counts: bool = True
    """It is a step of its own, with a number; an answer belongs to the message before it."""


def sequence_chart(names: Sequence[str], rows: Sequence[Row]) -> str:
    """Two drawings, one above the other: the names (they stay in sight while scrolling), and what happens."""
    if not rows:
        return NOTHING
    if len(names) > MANY:
        return _dense_chart(names, rows)
    texts = [*names, *(place for row in rows for place in row.places)]
    texts += [row.text for row in rows if len(row.who) > 1] if len(names) <= FEW else []
    between = int(min(WIDE, max(NARROW, LETTER * max(map(len, texts), default=4) + 26)))
    left = NUMBER + (TIME if any(row.when for row in rows) else 0)
    x = {name: left + between // 2 + number * between for number, name in enumerate(names)}
    notes = max((len(row.beside) for row in rows), default=0)
    width = int(left + between * len(names) + 20 + min(BESIDE, LETTER * notes))
    shown = _shortened(rows)
    height = TOP + STEP * len(shown) + 12
    heads = "".join(_text(x[name], 20, name, between - 10, style="head") for name in names) + _margin(
        left, 20, "time", "step"
    )
    lines = "".join(f'<path class="life" d="M{x[name]} 0V{height}"/>' for name in names)
    body = "".join(
        _drawn(row, number, TOP + STEP * place, left, x, between) for place, (number, row) in enumerate(shown)
    )
    start = f'<svg width="{width}" height='
    return (
        f'<div class="sequence"><div class="heads">{start}"30" viewBox="0 0 {width} 30">{heads}</svg></div>'
        f'{start}"{height}" viewBox="0 0 {width} {height}">{lines}{body}</svg></div>'
    )


def _dense_chart(names: Sequence[str], rows: Sequence[Row]) -> str:
    taking_part = {name for row in rows for name in row.who}
    lines = [name for name in names if name in taking_part]
    shown = _shortened(rows)
    left = NUMBER + (TIME if any(row.when for row in rows) else 0)
    room = min(900, LETTER * max((len(_told(row)) for _, row in shown), default=0)) + 30
    apart = int(max(CLOSEST, min(DENSE, (PAGE - left - room) // max(1, len(lines)))))
    x = {name: left + apart // 2 + place * apart for place, name in enumerate(lines)}
    words = left + apart * len(lines) + 10
    width = int(words - 10 + room)
    height = DENSE_STEP * len(shown) + 12
    heads = "".join(_slanted(name, x[name]) for name in lines) + _margin(left, DENSE_HEADS - 8, "time", "step")
    life = "".join(f'<path class="life" d="M{x[name]} 0V{height}"/>' for name in lines)
    body = "".join(
        f'<g class="row" data-who="{escape(" | ".join(row.who))}" '
        f'transform="translate(0 {DENSE_STEP * place})">{_dense_row(row, number, left, words, x)}</g>'
        for place, (number, row) in enumerate(shown)
    )
    start = f'<svg width="{width}" height='
    others = [name for name in names if name not in taking_part]
    note = f'<p class="soft">Never take part: {escape(", ".join(others))}.</p>' if others else ""
    return (
        f'<div class="sequence dense" data-step="{DENSE_STEP}">'
        f'<div class="heads">{start}"{DENSE_HEADS}" viewBox="0 0 {width} {DENSE_HEADS}">{heads}</svg></div>'
        f'{start}"{height}" viewBox="0 0 {width} {height}">{life}{body}</svg>{note}</div>'
    )


def _slanted(name: str, x: int) -> str:
    turned = f'transform="rotate(-55 {x} {DENSE_HEADS - 6})"'
    place = f'class="head" x="{x}" y="{DENSE_HEADS - 6}" {turned}'
    return f"<text {place}>{escape(_cut(name, 100))}<title>{escape(name)}</title></text>"


def _told(row: Row) -> str:
    """The text of a row at the right: action, new locations, changes."""
    moved = ", ".join(f"{name} → {place}" for name, place in zip(row.who, row.places, strict=False) if place)
    return "; ".join(part for part in (f"{row.text}: {moved}" if moved else row.text, row.beside) if part)


def _dense_row(row: Row, number: int | None, left: int, words: int, x: dict[str, int]) -> str:
    y = DENSE_STEP / 2
    parts = [_margin(left, y + 4, row.when, "" if number is None else str(number))]
    broken = " broken" if row.broken else ""
    for place, name in enumerate(row.who):
        sends = place == 0 and len(row.who) > 1
        parts.append(f'<circle class="{"speaker" if sends else "mover"}{broken}" cx="{x[name]}" cy="{y}" r="5"/>')
        if place:
            side = 1 if x[name] > x[row.who[0]] else -1
            parts.append(f'<path class="message{broken}" d="M{x[row.who[0]]} {y}H{x[name] - side * 6}"/>')
    return "".join([*parts, _text(words, y + 4, _told(row), 900, style=broken, anchor="start")])


def _shortened(rows: Sequence[Row]) -> list[tuple[int | None, Row]]:
    """Numbered from 1; of a very long chart the ends."""
    numbers = itertools.count(1)
    numbered = [(next(numbers) if row.who and row.counts else None, row) for row in rows]
    if len(numbered) <= MOST_ROWS:
        return numbered
    left_out = len(numbered) - MOST_ROWS
    gap = Row("", (), f"… {left_out} steps (all of them in the trace file) …")
    half = MOST_ROWS // 2
    return [*numbered[:half], (None, gap), *numbered[half + left_out :]]


def _margin(left: int, y: float, when: str, number: str) -> str:
    """At the left of everything; the time only where there is one."""
    told = _text(left - NUMBER - 2, y, when, TIME - 6, style="time", anchor="end") if left > NUMBER else ""
    return told + _text(left - 18, y, number, 40, style="time", anchor="end")


def _drawn(row: Row, number: int | None, top: float, left: int, x: dict[str, int], between: int) -> str:
    y = top + 16
    parts = [_margin(left, y + 4, row.when, "" if number is None else str(number))]
    if not row.who:
        return "".join([*parts, _text(left, y + 4, row.text, BESIDE, style="soft", anchor="start")])
    if row.beside:
        edge = max(x.values()) + between // 2 + 8
        parts.append(_text(edge, y + 4, row.beside, BESIDE, style="soft", anchor="start"))
    draw = _message if len(row.who) > 1 else _alone
    return f"<g>{''.join([*parts, *draw(row, y, x, between)])}</g>"


def _message(row: Row, y: float, x: dict[str, int], between: int) -> Iterator[str]:
    speaker, broken = x[row.who[0]], " broken" if row.broken else ""
    for name in row.who[1:]:
        target = x[name]
        side = 1 if target > speaker else -1
        yield f'<path class="message{broken}" d="M{speaker} {y}H{target - side * 7}"/>'
        yield f'<path class="tip{broken}" d="M{target} {y}l{-side * 8} -4v8z"/>'
    middle = speaker + (x[row.who[1]] - speaker) / 2
    yield _text(middle, y - 5, row.text, between - 16, style=broken)
    for name, place in zip(row.who, row.places, strict=False):
        yield _text(x[name], y + 13, place, between - 8, style="soft")


def _alone(row: Row, y: float, x: dict[str, int], between: int) -> Iterator[str]:
    text = row.places[0] if row.places and row.places[0] else row.text
    wide = LETTER * len(_cut(text, between - 14)) + 12
    place = f'x="{x[row.who[0]] - wide / 2:.0f}" y="{y - 11}" width="{wide:.0f}" height="21" rx="5"'
    yield f'<rect class="stay{" broken" * row.broken}" {place}/>'
    yield _text(x[row.who[0]], y + 4, text, between - 14, more=f"{row.text}: {text}")


def _text(
    x: float, y: float, text: str, room: float, *, style: str = "", anchor: str = "middle", more: str = ""
) -> str:
    """Cut where there is no room for all of it; the whole is shown when the mouse rests on it."""
    if not text:
        return ""
    tip = f"<title>{escape(more or text)}</title>"
    where = f'class="{style.strip()}" x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
    return f"<text {where}>{escape(_cut(text, room))}{tip}</text>"


def _cut(text: str, room: float) -> str:
    most = max(3, int(room / LETTER))
    return text if len(text) <= most else text[: most - 1] + "…"
