"""Read monitors: safety requirements as machines with bad states, deterministic automata, or counters.

    initial: closed
    bad: [broken]
    states:
      closed: {"in == open & out == ok": opened, "out == data": broken}
      opened: {"in == close": closed}

The first condition of a state that the letter satisfies leads on; if there is none, the state stays.  The requirement
is violated by every finite word that leads to a bad state.  `accepting: [...]` instead of `bad` names
the states that are not bad: then every prefix of every word must be accepted.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.logic.ltl.automaton import Automaton, Edges
from bbfalsify.logic.ltl.bad_prefixes import Watch
from bbfalsify.logic.ltl.ltl_formula import Binary, Formula, Truth, Unary, atoms, propositional
from bbfalsify.logic.ltl.ltl_parser import parse
from bbfalsify.logic.ltl.patterns import Counting
from bbfalsify.logic.ltl.properties import PropertyBase, text_of
from bbfalsify.logic.ltl.reduction import trimmed
from bbfalsify.records.documents import parse_yaml

Moves = tuple[tuple[tuple[Formula, int], ...], ...]
"""For each state: (condition, target), in the order in which they are tried."""


class MonitorProperty(PropertyBase):
    def __init__(
        self,
        names: tuple[str, ...],
        moves: Moves,
        bad: frozenset[int],
        text: str,
        file: str | None = None,
        line: int | None = None,
        *,
        form: str = "monitor",
        source: str = "",
    ) -> None:
        super().__init__(text, atoms(*(condition for row in moves for condition, _ in row)), file, line)
        self.names, self.moves, self.bad = names, moves, bad
        self.form, self.source = form, source

    def __reduce__(self) -> tuple:
        facts = self.names, self.moves, self.bad, self.text, self.file, self.line
        return partial(MonitorProperty, form=self.form, source=self.source), facts

    def plain(self, inputs: tuple[str, ...]) -> Automaton:
        """The automaton as it is written; bad states are final."""
        letters = self.letters(inputs)
        edges: Edges = []
        for state, row in enumerate(self.moves):
            free, targets = letters.all, []
            for condition, target in () if state in self.bad else row:
                bits = letters.satisfying(condition) & free
                free &= ~bits
                targets.append((bits, target))
            edges.append([(bits, target) for bits, target in [*targets, (free, state)] if bits])
        return Automaton(letters, (0,), edges, tuple(state in self.bad for state in range(len(edges))))

    def _make_bad(self, inputs: tuple[str, ...]) -> Automaton:
        return trimmed(self.plain(inputs))

    def _make_watch(self, inputs: tuple[str, ...]) -> Watch:
        return Watch(self.plain(inputs), of_violations=True)


def monitor(
    source: str | Path | dict[str, Any],
    *,
    folder: str | Path | None = None,
    file: str | None = None,
    line: int | None = None,
) -> MonitorProperty:
    """Read a monitor from YAML text, a YAML file, or the mapping itself (see the docstring of this module)."""

    if isinstance(source, dict):
        content: Any = source
        text = json.dumps(source)
    else:
        text, found = text_of(source, folder)
        file = found or file
        try:
            content = parse_yaml(text, file=file or "monitor").data
        except UserError as error:
            if found is not None or line is None:
                raise
            # A text inside another file: only the place of the whole is known.
            raise UserError(Problem(problem.message, file=file, line=line) for problem in error.problems) from None
    return _Reader(file, line).read(content, Path(file).stem if file else "monitor", text)


dfa = monitor
"""The same under the name that fits when `accepting` is given."""


class _Reader:
    def __init__(self, file: str | None, line: int | None) -> None:
        self.file, self.line = file, line
        self.problems: list[Problem] = []

    def wrong(self, message: str) -> None:
        self.problems.append(Problem(message, file=self.file, line=self.line))

    def read(self, content: Any, name: str, source: str) -> MonitorProperty:
        keys = {"initial", "bad", "accepting", "states", "name"}
        if not isinstance(content, dict) or not isinstance(content.get("states"), dict) or not content["states"]:
            raise UserError(
                Problem("a monitor needs 'states', each with its conditions and targets.", self.file, self.line)
            )
        for key in content:
            if key not in keys:
                self.problems.append(unknown_name("key", key, keys, file=self.file, line=self.line))
        moves = {str(s): row or {} for s, row in content["states"].items()}
        for state, row in list(moves.items()):
            if not isinstance(row, dict):
                self.wrong(f"state '{state}' needs conditions with their targets, not {row!r}.")
                moves[state] = {}
        mentioned = [str(t) for row in moves.values() for t in row.values()]
        ends = [str(s) for key in ("bad", "accepting") for s in _listed(content.get(key))]
        initial = str(content.get("initial", next(iter(moves))))
        # Bad states need no line of their own.
        names = list(dict.fromkeys([initial, *moves, *(s for s in ends if s in mentioned)]))
        for target in dict.fromkeys([initial, *mentioned, *ends]):
            if target not in moves and target not in names or target == initial and target not in moves:
                self.problems.append(unknown_name("state", target, moves, file=self.file, line=self.line))
        if ("bad" in content) == ("accepting" in content):
            self.wrong("a monitor names its 'bad' states or its 'accepting' states, one of the two.")
        number = {s: k for k, s in enumerate(names)}
        rows = tuple(
            tuple((self.condition(c), number.get(str(t), 0)) for c, t in moves.get(s, {}).items()) for s in names
        )
        if self.problems:
            raise UserError(self.problems)
        listed = {number[s] for s in ends}
        bad = listed if "bad" in content else set(range(len(names))) - listed
        shown = str(content.get("name", name))
        return MonitorProperty(tuple(names), rows, frozenset(bad), shown, self.file, self.line, source=source)

    def condition(self, text: Any) -> Formula:
        if isinstance(text, bool):  # YAML's own true and false
            return Truth(text)
        try:
            formula = parse(str(text), file=self.file, line=self.line)
        except UserError as error:
            self.problems += error.problems
            return Truth(True)
        if isinstance(formula, Counting) or not propositional(formula):
            self.wrong(f"'{text}' must be a condition about one letter.")
            return Truth(True)
        return formula


def _listed(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def counting(facts: Counting, text: str, *, file: str | None = None, line: int | None = None) -> MonitorProperty:
    """Make a monitor of no_overflow(put, take, size) that counts."""
    for formula in (facts.put, facts.take):
        if not propositional(formula):
            raise UserError(Problem(f"no_overflow: '{formula}' must be a condition about one letter.", file, line))
    up, down = Binary("&", facts.put, Unary("!", facts.take)), Binary("&", facts.take, Unary("!", facts.put))
    rows = tuple(((up, n + 1), (down, max(n - 1, 0))) for n in range(facts.size + 1))
    names = (*(str(n) for n in range(facts.size + 1)), "overflow")
    overflow = frozenset([facts.size + 1])
    return MonitorProperty(names, (*rows, ()), overflow, text, file, line, form="ltl", source=text)
