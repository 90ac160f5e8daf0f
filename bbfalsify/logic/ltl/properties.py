"""Requirements about words of (input, output) letters, and their common interface `Property`.

Every kind gives an automaton of the words that violate it, and a watch that recognises bad prefixes.  Both depend on
the inputs only; outputs stay open (see letters.py), so they serve a growing hypothesis unchanged.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Protocol, runtime_checkable

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.foreign_files import read_text
from bbfalsify.logic.ltl.automaton import Automaton
from bbfalsify.logic.ltl.bad_prefixes import Watch
from bbfalsify.logic.ltl.letters import Letters
from bbfalsify.logic.ltl.ltl_formula import Atom, Formula, Unary, atoms, propositional
from bbfalsify.logic.ltl.ltl_parser import parse
from bbfalsify.logic.ltl.patterns import Counting
from bbfalsify.logic.ltl.reduction import reduced
from bbfalsify.logic.ltl.tableau import TooLarge, translate, translate_finite
from bbfalsify.logic.ltl.word_semantics import Letter, satisfies

MOST_WATCHED = 300
"""States of an automaton of the formula's own words, for watching."""
_ENDS = re.compile(r"""\bends\s+with\b(?=(?:[^"']|"[^"]*"|'[^']*')*$)""")
_REMEMBERED = 8
"""Alphabets for which a property keeps its automata."""


@runtime_checkable
class Property(Protocol):
    """A requirement about the words of (input, output) letters that a system can show."""

    text: str
    """The text shown to people."""
    form: str
    """ltl, ltlf, monitor, hoa, hoa_violations or stl: the form of `source`."""
    source: str
    """`read_property(form, source)` gives an equal requirement."""

    def problems(self, inputs: Sequence[str], outputs: Sequence[str] | None = None) -> list[Problem]:
        """Find unknown symbols (outputs only if given), and a requirement that no word, or every word, satisfies."""

    def bad_words(self, inputs: Sequence[str], outputs: Sequence[str] | None = None) -> Automaton:
        """Automaton that accepts exactly the infinite words that violate the requirement."""

    def watch(self, inputs: Sequence[str]) -> Watch:
        """Recogniser of the finite words after which it is violated whatever follows; same letter classes."""

    def violated_by(self, inputs: Sequence[str], prefix: Sequence[Letter], loop: Sequence[Letter]) -> bool:
        """Tell whether prefix·loop·loop·… violates it; without a loop: whether the prefix is bad already."""


class PropertyBase(ABC):
    """Common base of the kinds, which give their `atoms` and implement `_make_bad` and `_make_watch`."""

    form: str
    source: str

    def __init__(self, text: str, found_in: tuple[Atom, ...], file: str | None, line: int | None) -> None:
        self.text, self.atoms, self.file, self.line = text, found_in, file, line
        self._automata = lru_cache(_REMEMBERED)(self._make_bad)
        self._watches = lru_cache(_REMEMBERED)(self._make_watch)
        self.letters = lru_cache(_REMEMBERED)(partial(Letters, self.atoms))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    @abstractmethod
    def _make_bad(self, inputs: tuple[str, ...]) -> Automaton:
        """Make an automaton of the words that violate it."""

    def _make_watch(self, inputs: tuple[str, ...]) -> Watch:
        return Watch(self._automata(inputs), of_violations=True)

    def bad_words(self, inputs: Sequence[str], outputs: Sequence[str] | None = None) -> Automaton:
        return self._automata(tuple(inputs))

    def watch(self, inputs: Sequence[str]) -> Watch:
        return self._watches(tuple(inputs))

    def violated_by(self, inputs: Sequence[str], prefix: Sequence[Letter], loop: Sequence[Letter]) -> bool:
        automaton = self.bad_words(inputs)
        if not loop:
            return self.watch(inputs).first_bad(automaton.number(*letter) for letter in prefix) is not None
        return automaton.accepts(
            [automaton.number(*letter) for letter in prefix], [automaton.number(*letter) for letter in loop]
        )

    def problems(self, inputs: Sequence[str], outputs: Sequence[str] | None = None) -> list[Problem]:
        if not inputs:
            return [self._problem("the alphabet is empty: there is no input symbol to check with.")]
        found = symbol_problems(self.atoms, inputs, outputs, file=self.file, line=self.line)
        if found:
            return found
        try:
            bad = self.bad_words(inputs)
            watch = self.watch(inputs)
        except UserError as error:
            return [Problem(p.message, self.file, self.line, p.allowed, p.closest) for p in error.problems]
        if not len(bad):
            return [self._problem(f"'{self.text}' is always true: no system with these inputs can violate it.")]
        if watch.bad[watch.initial] or bad.everything & set(bad.initial):
            return [self._problem(f"'{self.text}' is always false: no system with these inputs can satisfy it.")]
        return []

    def _problem(self, message: str) -> Problem:
        return Problem(message, file=self.file, line=self.line)


def symbol_problems(
    found_in: Sequence[Atom],
    inputs: Sequence[str],
    outputs: Sequence[str] | None,
    *,
    file: str | None = None,
    line: int | None = None,
) -> list[Problem]:
    """Find unknown symbols, and patterns that match nothing."""
    problems = []
    for side, what, known in (("in", "input", inputs), ("out", "output", outputs)):
        if known is None:
            continue
        own = [atom for atom in found_in if atom.side == side]
        for symbol in dict.fromkeys(s for atom in own for s in atom.symbols if s not in known):
            problems.append(unknown_name(what, symbol, known, file=file, line=line))
        for atom in own:
            if atom.pattern is not None and not any(atom.holds(symbol) for symbol in known):
                message = f"the regular expression '{atom.pattern}' matches no {what}."
                problems.append(Problem(message, file=file, line=line, allowed=tuple(known[:40])))
    return problems


class LtlProperty(PropertyBase):
    """A formula that every infinite word of the system must satisfy."""

    def __init__(
        self,
        formula: Formula,
        text: str = "",
        file: str | None = None,
        line: int | None = None,
        *,
        form: str = "ltl",
        source: str = "",
    ) -> None:
        super().__init__(text or str(formula), atoms(formula), file, line)
        self.formula, self.form, self.source = formula, form, source or self.text

    def __reduce__(self) -> tuple:
        facts = self.formula, self.text, self.file, self.line
        return partial(LtlProperty, form=self.form, source=self.source), facts

    def _make_bad(self, inputs: tuple[str, ...]) -> Automaton:
        return translate(self.formula, self.letters(inputs), negated=True)

    def _make_watch(self, inputs: tuple[str, ...]) -> Watch:
        # The automaton of the formula's own words: a prefix is bad if nothing can follow it.  In that of the violating
        # words several states together may accept everything after it, which no single one shows; it is the second
        # choice, for formulas such as G(p -> XXXXXXXXXX q), where it has ten states instead of a thousand.
        try:
            good = translate(self.formula, self.letters(inputs), most=MOST_WATCHED)
        except TooLarge:
            return super()._make_watch(inputs)
        return Watch(good, of_violations=False)

    def violated_by(self, inputs: Sequence[str], prefix: Sequence[Letter], loop: Sequence[Letter]) -> bool:
        return not satisfies(self.formula, prefix, loop) if loop else super().violated_by(inputs, prefix, loop)


class LtlfProperty(PropertyBase):
    """A formula that every finite word of the system must satisfy: the tester may stop at any moment.

    With `ends`, only words whose last letter satisfies it are complete, and only complete words are judged.
    """

    def __init__(
        self,
        formula: Formula,
        text: str = "",
        ends: Formula | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(text or str(formula), atoms(formula, *([] if ends is None else [ends])), file, line)
        self.formula, self.ends = formula, ends
        self.form = "ltlf"
        self.source = self.text if ends is None else f"{self.text} ends with {ends}"

    def __reduce__(self) -> tuple:
        return LtlfProperty, (self.formula, self.text, self.ends, self.file, self.line)

    def _make_bad(self, inputs: tuple[str, ...]) -> Automaton:
        return reduced(self._violations(inputs))

    def _make_watch(self, inputs: tuple[str, ...]) -> Watch:
        return Watch(self._violations(inputs), of_violations=True)

    def _violations(self, inputs: tuple[str, ...]) -> Automaton:
        return translate_finite(Unary("!", self.formula), self.letters(inputs), ends=self.ends)


def ltl(text: str | Formula, *, file: str | None = None, line: int | None = None) -> Property:
    """A requirement in linear temporal logic, or one of the patterns: every infinite word must satisfy it."""
    from bbfalsify.logic.ltl.monitors import counting

    formula = parse(text, file=file, line=line) if isinstance(text, str) else text
    words = text.strip() if isinstance(text, str) else ""
    if isinstance(formula, Counting):
        return counting(formula, words, file=file, line=line)
    return LtlProperty(formula, words, file, line)


def ltlf(text: str | Formula, *, ends: str | None = None, file: str | None = None, line: int | None = None) -> Property:
    """A requirement in finite-trace LTL: every non-empty finite word must satisfy it; with `ends` (a condition about
    one letter, such as "in == quit") every word whose last letter satisfies that.  The text may say so itself:
    "F out == ready ends with in == quit".
    """
    if isinstance(text, str) and ends is None and (found := _ENDS.search(text)):
        text, ends = text[: found.start()], text[found.end() :]
    formula = _formula(text, file, line)
    condition = None if ends is None else _formula(ends, file, line)
    if condition is not None and not propositional(condition):
        raise UserError(Problem(f"'{ends}' must be a condition about one letter.", file=file, line=line))
    return LtlfProperty(formula, text.strip() if isinstance(text, str) else "", condition, file, line)


def _formula(text: str | Formula, file: str | None, line: int | None) -> Formula:
    formula = parse(text, file=file, line=line) if isinstance(text, str) else text
    if isinstance(formula, Counting):
        raise UserError(Problem("no_overflow is a requirement of its own.", file=file, line=line))
    return formula


def text_of(source: str | Path, folder: str | Path | None = None) -> tuple[str, str | None]:
    """Return the text itself, or the text of a file in `folder` (and its name) if it is the name of one."""
    if isinstance(source, Path) or ("\n" not in source and Path(source).suffix and len(source) < 500):
        file = Path(folder or ".") / source
        return read_text(file), str(file)
    return source, None
