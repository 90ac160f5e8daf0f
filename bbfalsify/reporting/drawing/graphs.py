"""Finite machines drawn as graphs, in SVG, without a layout program (see layered.py for who stands where).

A state is a box with its name and, below, the symbols that do not leave it.  Transitions between the same two states
are one arrow with one label: symbols that are answered alike share a line, and what has no room is counted and shown
when the mouse rests on it.  The path of a counterexample is drawn heavily, its steps numbered.

    machine_svg(machine, path=("connect", "publish"))
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.reporting.drawing.layered import layered

LINE, HEAD, PAD = 13, 22, 8
"""Height of a line of a label, and of a state's name; room at both sides of a state's text."""
MOST_LINES = 3
"""Lines of a label; the others are counted."""
LONGEST = 14
"""Letters of a symbol in a label."""
WIDEST = 24
"""Letters of a line."""
NARROW, WIDE = frozenset(" .,:;/|!'()[]ijlftrI1-"), frozenset("mwMW@…→")
"""Letters of other width than most; only the page knows the true widths of its font."""

_STYLE = """
.machine { background: #fff } .machine .name { fill: #1c2b3a; font-size: 12px; font-weight: bold }
.machine .state rect { fill: #eef3f8; stroke: #4a6785; stroke-width: 1.3 } .machine .start rect { stroke-width: 2.8 }
.machine .edge { fill: none; stroke: #8396a9; stroke-width: 1.2 } .machine text { fill: #33475b; font-size: 11px }
.machine .more { fill: #6b7d8f } .machine .arrow:hover .edge { stroke-width: 2.6; stroke: #1c2b3a }
.machine .on .edge, .machine .on rect { stroke: #c0392b; stroke-width: 2.4 }
.machine .taken { fill: #a02015; font-weight: bold } .machine.looking .far { opacity: .12 }
@media screen and (prefers-color-scheme: dark) {
  .machine { background: #12181f } .machine text { fill: #c3d0dc } .machine .name { fill: #e8eef4 }
  .machine .state rect { fill: #243240; stroke: #8fb0d0 } .machine .edge { stroke: #6c8298 }
  .machine .more { fill: #93a5b6 } .machine .arrow:hover .edge { stroke: #e8eef4 }
  .machine .taken { fill: #ff9d8f } .machine .on .edge, .machine .on rect { stroke: #ff7a66 }
}"""
"""Every rule is about .machine: a page may hold several drawings and much else."""

Step = tuple[str, str]
"""An input and the output that answers it."""


@dataclass(frozen=True)
class Line:
    text: str
    kind: str = ""
    """taken: by the path; more: says what was left out."""


@dataclass(frozen=True)
class Label:
    """Text at an arrow, or in a state for the symbols that stay there."""

    steps: tuple[Step, ...]
    numbers: Mapping[Step, tuple[int, ...]]
    """Which steps of the path take it."""

    @property
    def lines(self) -> list[Line]:
        ways = sorted((s for s in self.steps if s in self.numbers), key=lambda s: self.numbers[s])
        taken = [Line(f"{_numbers(self.numbers[s])} {_cut(s[0])}/{_cut(s[1])}", "taken") for s in ways]
        alike: dict[str, list[str]] = {}
        for symbol, answer in (step for step in self.steps if step not in self.numbers):
            alike.setdefault(answer, []).append(symbol)
        rest = [_together(symbols, answer) for answer, symbols in alike.items()]
        shown = max(MOST_LINES - len(taken), 0)
        if len(rest) == shown + 1:
            shown += 1  # a line that says "one more" takes the room of that one
        hidden = sum(len(symbols) for symbols in list(alike.values())[shown:])
        return [*taken, *map(Line, rest[:shown]), *([Line(f"+{hidden} more", "more")] if hidden else [])]

    @property
    def tip(self) -> str:
        return "\n".join(f"{symbol}/{answer}" for symbol, answer in self.steps)


def machine_svg(machine: MealyMachine, path: Sequence[str] = ()) -> str:
    """The machine as one SVG; `path` is a word from the initial state on that is to stand out."""
    labels, states_on = _labels(machine, path)
    return graph_svg(machine.name, machine.states, machine.initial, labels, states_on)


def automaton_svg(
    name: str, states: Sequence[str], initial: str, steps: Sequence[tuple[str, str, Step]], path: Sequence[int]
) -> str:
    """An automaton as one SVG: `steps` are (source, target, (action, how often)), `path` numbers of steps to follow."""
    number = {state: k for k, state in enumerate(states)}
    found: dict[tuple[int, int], list[Step]] = {}
    taken: dict[tuple[int, int], dict[Step, tuple[int, ...]]] = {}
    for k, (source, target, step) in enumerate(steps):
        edge = number[source], number[target]
        found.setdefault(edge, []).append(step)
        if times := tuple(place for place, way in enumerate(path, start=1) if way == k):
            taken.setdefault(edge, {})[step] = times
    labels = {edge: Label(tuple(own), taken.get(edge, {})) for edge, own in found.items()}
    return graph_svg(name, states, number[initial], labels, {state for edge in taken for state in edge})


def graph_svg(
    name: str, states: Sequence[str], initial: int, labels: Mapping[tuple[int, int], Label], states_on: set[int]
) -> str:
    """States and labelled arrows as one SVG; those in `states_on`, and taken arrows, stand out."""
    loops = {s: labels.get((s, s), Label((), {})) for s in range(len(states))}
    labels = {edge: label for edge, label in labels.items() if edge[0] != edge[1]}
    sizes = {s: _box(states[s], loops[s].lines) for s in loops}
    distances = _distances(initial, len(states), labels)
    layout = layered(distances, sizes, {edge: _size(label.lines) for edge, label in labels.items()})
    width, height = round(layout.width), round(layout.height)
    # In a page with several drawings each has arrow heads of its own: those of one that is folded away are not drawn.
    marked = [(edge, dict(label.numbers)) for edge, label in [*labels.items(), *loops.items()]]
    tip = f"tip-{zlib.crc32(repr((name, marked)).encode()):x}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="machine" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="Helvetica, Arial, sans-serif" role="img" '
        f'aria-label="{escape(name)}: {len(states)} states">',
        f"<style>{_STYLE}</style>",
        f'<defs><marker id="{tip}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z" fill="context-stroke"/></marker></defs>',
    ]
    x, y = layout.nodes[initial]
    left = x - sizes[initial][0] / 2
    parts.append(f'<path class="edge" d="M{left - 30:.1f} {y:.1f}h28" marker-end="url(#{tip})"/>')
    for (source, target), label in sorted(labels.items(), key=lambda item: bool(item[1].numbers)):
        text = _text(label.lines, *layout.labels[source, target])
        parts.append(
            f'<g class="arrow{" on" * bool(label.numbers)}" data-from="{source}" data-to="{target}">'
            f"<title>{escape(f'{states[source]} → {states[target]}:{chr(10)}{label.tip}')}</title>"
            f'<path class="edge" d="{layout.ways[source, target]}" marker-end="url(#{tip})"/>{text}</g>'
        )
    for s, (x, y) in layout.nodes.items():
        kinds = f"state{' start' * (s == initial)}{' on' * (s in states_on)}"
        parts.append(_state(states[s], loops[s], (x, y), sizes[s], f'class="{kinds}" data-state="{s}"'))
    return "\n".join([*parts, "</svg>\n"])


def _labels(machine: MealyMachine, path: Sequence[str]) -> tuple[dict[tuple[int, int], Label], set[int]]:
    """Labels of all pairs of states with a transition between them, and the states on the path."""
    numbers: dict[tuple[int, str], list[int]] = {}
    state, states = machine.initial, {machine.initial} if path else set()
    for number, symbol in enumerate(path, start=1):
        numbers.setdefault((state, symbol), []).append(number)
        state = int(machine.successor[state, machine.input_number(symbol)])
        states.add(state)
    steps: dict[tuple[int, int], list[Step]] = {}
    taken: dict[tuple[int, int], dict[Step, tuple[int, ...]]] = {}
    for s in range(len(machine)):
        for i, symbol in enumerate(machine.inputs):
            edge, step = (s, int(machine.successor[s, i])), (symbol, machine.outputs[machine.answer[s, i]])
            steps.setdefault(edge, []).append(step)
            if (s, symbol) in numbers:
                taken.setdefault(edge, {})[step] = tuple(numbers[s, symbol])
    return {edge: Label(tuple(found), taken.get(edge, {})) for edge, found in steps.items()}, states


def _distances(initial: int, states: int, edges: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Number of arrows of the shortest way to each state."""
    following: dict[int, list[int]] = {}
    for source, target in edges:
        following.setdefault(source, []).append(target)
    distance, order = {initial: 0}, [initial]
    for state in order:  # grows while it is walked
        for target in following.get(state, ()):
            if target not in distance:
                distance[target] = distance[state] + 1
                order.append(target)
    last = max(distance.values()) + 1
    # What cannot be reached stands at the end.
    return distance | {s: last for s in range(states) if s not in distance}


# --- text ------------------------------------------------------------------------------------------------------------


def _box(name: str, lines: Sequence[Line]) -> tuple[float, float]:
    width, height = _size(lines)
    return max(width, 1.25 * text_width(name), 18.0) + 2 * PAD, HEAD + height + (6 if lines else 2)


def _size(lines: Sequence[Line]) -> tuple[float, float]:
    bold = {"taken": 1.12}
    return max((bold.get(line.kind, 1.0) * text_width(line.text) for line in lines), default=0.0), LINE * len(lines)


def text_width(text: str) -> float:
    """Approximate width of a label; rather too wide than into its neighbour."""
    return sum(4.2 if c in NARROW else 9.8 if c in WIDE else 7.6 if c.isupper() else 6.6 for c in text)


def _state(name: str, stays: Label, at: tuple[float, float], size: tuple[float, float], about: str) -> str:
    (x, y), (width, height) = at, size
    top = y - height / 2
    return (
        f"<g {about}><title>{escape(f'{name}:{chr(10)}{stays.tip}')}</title>"
        f'<rect x="{x - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="9"/>'
        f'<text class="name" x="{x:.1f}" y="{top + 16:.1f}" text-anchor="middle">{escape(name)}</text>'
        f"{_text(stays.lines, x, top + HEAD, 'middle')}</g>"
    )


def _text(lines: Sequence[Line], x: float, top: float, anchor: str) -> str:
    if not lines:
        return ""
    spans = [
        f'<tspan class="{escape(line.kind)}" x="{x:.1f}" y="{top + LINE * i + 10:.1f}">{escape(line.text)}</tspan>'
        for i, line in enumerate(lines)
    ]
    return f'<text class="label" text-anchor="{anchor}">{"".join(spans)}</text>'


def _together(symbols: Sequence[str], answer: str) -> str:
    """As many of the symbols as fit: a, b +3/ok"""
    answer = _cut(answer)
    for count in range(len(symbols), 1, -1):
        rest = f" +{len(symbols) - count}" if count < len(symbols) else ""
        text = f"{', '.join(map(_cut, symbols[:count]))}{rest}/{answer}"
        if len(text) <= WIDEST:
            return text
    return f"{_cut(symbols[0])}{f' +{len(symbols) - 1}' if len(symbols) > 1 else ''}/{answer}"


def _numbers(steps: Sequence[int]) -> str:
    """Numbers of the steps; the first two of a loop that is followed again and again."""
    return ", ".join(map(str, steps[:2])) + (" …" if len(steps) > 2 else "") + ":"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
