"""Read and write the Hanoi Omega-Automata format, version 1.

The reader accepts Büchi automata (`1 Inf(0)`, or `0 t` where everything accepts) with acceptance on states or edges,
labels on states or edges or none, and aliases.  It refuses alternation and other acceptances by name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.logic.ltl.automaton import Automaton
from bbfalsify.logic.ltl.letters import classes_of
from bbfalsify.logic.ltl.ltl_formula import Binary, Formula, Truth, Unary, children, conjunction, propositional
from bbfalsify.logic.ltl.ltl_parser import DEEPEST, parse
from bbfalsify.logic.ltl.patterns import Counting

MOST_STATES = 100_000
MOST_PARTS = 10_000
_MOST_DIGITS = 18
Move = tuple[Formula, int, bool]
"""(condition, target, whether the edge accepts)"""

_TOKEN = re.compile(
    r'\s+|/\*.*?\*/|(?P<mark>--[A-Z]+--)|(?P<header>[A-Za-z_][\w-]*:)|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>\d+)|(?P<alias>@[\w-]+)|(?P<word>[A-Za-z_][\w-]*)|(?P<sign>[][{}()&|!])",
    re.DOTALL,
)


class HoaReader:
    def __init__(self, text: str, file: str | None) -> None:
        self.file, self.name = file, ""
        self.tokens: list[tuple[str, str, int]] = []
        self.aliases: dict[str, Formula] = {}
        self.sizes: dict[int, tuple[int, int]] = {}
        """Parts and levels of each label that is kept."""
        self.conditions: list[Formula] = []
        self.at = 0
        position, line = 0, 1
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                raise self.wrong(f"unexpected '{text[position : position + 20].split()[0]}'.", line)
            if found.lastgroup:
                self.tokens.append((found.lastgroup, found.group(), line))
            line += found.group().count("\n")
            position = found.end()
        self.tokens.append(("end", "", line))

    def wrong(self, message: str, line: int | None = None) -> UserError:
        return UserError(Problem(message, file=self.file, line=line if line is not None else self.tokens[self.at][2]))

    def take(self, *kinds: str, text: str | None = None) -> str:
        kind, found, _ = self.tokens[self.at]
        if kind not in kinds or (text is not None and found != text):
            raise self.wrong(f"expected {text or ' or '.join(kinds)}, found '{found or 'the end of the text'}'.")
        self.at += 1
        return found

    def number(self) -> int:
        text = self.take("number")
        if len(text) > _MOST_DIGITS:
            self.at -= 1
            raise self.wrong(f"the number {text[:20]}… is too large: up to {_MOST_DIGITS} digits are read.")
        return int(text)

    def peek(self, text: str) -> bool:
        return self.tokens[self.at][1] == text

    def read(self) -> tuple[tuple[int, ...], tuple[tuple[Move, ...], ...]]:
        self.take("header", text="HOA:")
        self.take("word", text="v1")
        states, initial, sets = None, [], None
        while not self.peek("--BODY--"):
            line = self.tokens[self.at][2]
            header = self.take("header")
            if header == "States:":
                states = self.number()
            elif header == "Start:":
                initial.append(self.number())
                if self.peek("&"):
                    raise self.wrong("alternating automata are not read; write it without '&' between states.")
            elif header == "AP:":
                for _ in range(self.number()):
                    self.conditions.append(self.proposition(self.take("string")[1:-1]))
            elif header == "Alias:":
                alias = self.take("alias")
                self.aliases[alias] = self.checked_label()
            elif header == "name:":
                self.name = self.take("string")[1:-1]
            elif header == "Acceptance:":
                sets = self.number()
                condition = "".join(self.rest())
                if (sets, condition) not in ((1, "Inf(0)"), (0, "t")):
                    raise self.wrong(
                        f"the acceptance '{sets} {condition}' is not Büchi; allowed: '1 Inf(0)' and '0 t' "
                        "(ltl2tgba -B, autfilt -B).", line
                    )  # fmt: skip
            else:
                self.rest()
        self.take("mark")
        if sets is None or not initial:
            raise self.wrong("the header needs 'Start:' and 'Acceptance:'.")
        moves = self.body(sets == 0)
        count = states if states is not None else max(moves, default=0) + 1
        if count > MOST_STATES:
            raise self.wrong(f"{count} states are too many: up to {MOST_STATES} are read.")
        for state in {*initial, *(t for row in moves.values() for _, t, _ in row)}:
            if state >= count:
                raise self.wrong(f"state {state} does not exist: there are {count}.")
        return tuple(dict.fromkeys(initial)), tuple(tuple(moves.get(s, ())) for s in range(count))

    def rest(self) -> list[str]:
        """Take the tokens up to the next header."""
        found = []
        while self.tokens[self.at][0] not in ("header", "mark", "end"):
            found.append(self.tokens[self.at][1])
            self.at += 1
        return found

    def proposition(self, text: str) -> Formula:
        text = re.sub(r"\\(.)", r"\1", text)
        try:
            formula = parse(text)
        except UserError as error:
            raise self.wrong(
                f"the atomic proposition '{text}' is not a condition such as 'in == connect': "
                f"{error.problems[0].message}"
            ) from None
        if isinstance(formula, Counting) or not propositional(formula):
            raise self.wrong(f"the atomic proposition '{text}' must be a condition about one letter.")
        return formula

    def body(self, all_accept: bool) -> dict[int, list[Move]]:
        moves: dict[int, list[Move]] = {}
        while not self.peek("--END--"):
            self.take("header", text="State:")
            shared = self.bracketed()
            state = self.number()
            if self.tokens[self.at][0] == "string":
                self.take("string")
            good = self.accepting() or all_accept
            row = moves.setdefault(state, [])
            implicit = self.valuations()
            while self.tokens[self.at][0] == "number" or self.peek("["):
                own = self.bracketed()
                target = self.number()
                if self.peek("&"):
                    raise self.wrong("alternating automata are not read; write it without '&' between states.")
                accepts = self.accepting() or good
                condition = own if own is not None else shared if shared is not None else next(implicit, None)
                if condition is None:
                    raise self.wrong(f"state {state} has more edges than there are letters.")
                row.append((condition, target, accepts))
        return moves

    def valuations(self) -> Iterator[Formula]:
        """Yield the implicit labels of edges: all valuations in turn, the first proposition changing fastest."""
        for number in range(1 << len(self.conditions)):
            yield conjunction([c if number >> k & 1 else Unary("!", c) for k, c in enumerate(self.conditions)])

    def accepting(self) -> bool:
        if not self.peek("{"):
            return False
        self.take("sign")
        found = []
        while not self.peek("}"):
            found.append(self.take("number"))
        self.take("sign")
        return bool(found)

    def bracketed(self) -> Formula | None:
        if not self.peek("["):
            return None
        self.take("sign")
        label = self.checked_label()
        self.take("sign", text="]")
        return label

    def checked_label(self) -> Formula:
        """Read a label; aliases of aliases could make it larger than any memory."""
        start = self.at
        try:
            label = self.label()
        except RecursionError:
            self.at = start
            raise self.wrong("a label is nested too deeply.") from None
        size, depth = self.sizes[id(label)] = _size(label, self.sizes)
        if size > MOST_PARTS or depth > DEEPEST:
            self.at = start
            raise self.wrong(
                f"a label of more than {MOST_PARTS} parts or {DEEPEST} levels, its aliases written out, is not read."
            )
        return label

    def label(self) -> Formula:
        return self.joined("|", self.label_and)

    def label_and(self) -> Formula:
        return self.joined("&", self.label_atom)

    def joined(self, sign: str, read: Callable[[], Formula]) -> Formula:
        """Read parts with a sign in between; join them in pairs, so that many parts are not nested deeply."""
        parts = [read()]
        while self.peek(sign):
            self.take("sign")
            parts.append(read())
        while len(parts) > 1:
            rest = parts[len(parts) & ~1 :]
            parts = [Binary(sign, left, right) for left, right in zip(parts[::2], parts[1::2], strict=False)] + rest
        return parts[0]

    def label_atom(self) -> Formula:
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        if text == "!":
            return Unary("!", self.label_atom())
        if text == "(":
            inner = self.label()
            self.take("sign", text=")")
            return inner
        if text in ("t", "f"):
            return Truth(text == "t")
        if kind == "alias" and text in self.aliases:
            return self.aliases[text]
        if kind == "number" and len(text) <= _MOST_DIGITS and int(text) < len(self.conditions):
            return self.conditions[int(text)]
        self.at -= 1
        raise self.wrong(f"'{text[:40]}' is not part of a label; there are {len(self.conditions)} atomic propositions.")


def _size(formula: Formula, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Count the parts and the levels of a formula; those of a part that is `known` are looked up."""
    total = deepest = 0
    rest = [(formula, 0)]
    while rest:
        part, above = rest.pop()
        size, depth = known.get(id(part), (1, 1))
        total, deepest = total + size, max(deepest, above + depth)
        if id(part) not in known:
            rest += [(child, above + 1) for child in children(part)]
    return total, deepest


def hoa_text(automaton: Automaton, name: str = "bad words") -> str:
    """Write an automaton as HOA, readable by `hoa`, Spot and Owl."""
    letters = automaton.letters
    quoted = [_quoted(str(atom)) for atom in letters.atoms]
    lines = [
        "HOA: v1",
        f"name: {_quoted(name)}",
        f"States: {max(1, len(automaton))}",
        *(f"Start: {state}" for state in automaton.initial or (0,)),
        f"AP: {' '.join([str(len(quoted)), *quoted])}",
        "acc-name: Buchi",
        "Acceptance: 1 Inf(0)",
        "properties: trans-labels explicit-labels state-acc",
        "--BODY--",
    ]
    for state, row in enumerate(automaton.edges or [[]]):
        lines.append(f"State: {state}{' {0}' if automaton.accepting and automaton.accepting[state] else ''}")
        lines += [
            f"[{_label(letters.all, bits, [letters.valuation(c) for c in classes_of(bits)])}] {t}" for bits, t in row
        ]
    return "\n".join([*lines, "--END--", ""])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _label(everything: int, bits: int, valuations: Sequence[tuple[bool, ...]]) -> str:
    """Write a disjunction of cubes, after joining cubes that differ in one place."""
    if bits == everything:
        return "t"
    cubes: set[tuple[bool | None, ...]] = set(valuations)
    while True:
        joined = set()
        used = set()
        for one, two in itertools.combinations(sorted(cubes, key=str), 2):
            differ = [k for k, (a, b) in enumerate(zip(one, two, strict=True)) if a != b]
            if len(differ) == 1 and one[differ[0]] is not None and two[differ[0]] is not None:
                joined.add(tuple(None if k == differ[0] else a for k, a in enumerate(one)))
                used |= {one, two}
        if not joined:
            break
        cubes = (cubes - used) | joined
    texts = [" & ".join(f"{'' if a else '!'}{k}" for k, a in enumerate(cube) if a is not None) or "t" for cube in cubes]
    return " | ".join(sorted(texts))
