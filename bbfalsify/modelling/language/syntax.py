"""Parse texts of the modelling language by the grammar in language.lark.

    parse("x >= 3 && !busy", "expression", place)      guards, invariants, inputs, queries
    parse("x = 0, n++", "updates", place)
    parse_declarations(text, place)                     constants, variables, channels, functions

A text that does not parse raises `UserError` with the line, the unexpected token and what is allowed there.
Declarations are parsed one by one if the whole fails, so that every wrong one is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import lark

from bbfalsify.core.cached_parser import cached_parser
from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.tree_builder import MOST_DIGITS, TreeBuilder, UnreadableNumber
from bbfalsify.modelling.language.tree_search import depth

DEEPEST = 250
"""Limit for recursive walks; no person writes deeper expressions."""

RESERVED = {
    "break": "end the loop by its condition, or return from a function",
    "continue": "put the rest of the loop into an if",
    "switch": "write if … else if …",
    "case": "write if … else if …",
    "enum": "write constants and a range such as int[0,3]",
}
"""Words of C that UPPAAL reserves without a meaning, and what to write instead."""

STARTS = ("expression", "updates", "declarations", "parameters", "selects", "sync", "instance", "definition")


@cache
def _parser() -> lark.Lark:
    grammar = Path(__file__).with_name("language.lark")
    return cached_parser(grammar, lexer="basic", start=list(STARTS), transformer=TreeBuilder())


def parse(text: str, start: str, place: Place, *, what: str | None = None) -> Any:
    """Parse `text`; `what` names it in messages ("guard")."""
    try:
        result = _parser().parse(text, start=start)
    except lark.exceptions.UnexpectedInput as error:
        raise UserError(_syntax_problem(error, text, place, what or start)) from None
    except UnreadableNumber as error:
        digits = f"{what or start}: the number {error.token[:20]}… has too many digits or too large an exponent"
        raise UserError(place.problem(f"{digits}; at most {MOST_DIGITS} are read.", error.token.line or 1)) from None
    except RecursionError:
        result = None
    if result is None or depth(result) > DEEPEST:
        raise UserError(place.problem(f"{what or start}: the text is nested more than {DEEPEST} levels deep."))
    return result


def parse_declarations(text: str, place: Place) -> tuple[tuple[tree.Declaration, ...], list[Problem], set[str]]:
    """Parse declarations; return those that parse, the problems of the others, and all words of the others.

    The resolver reports no unknown name that is one of these words.
    """
    try:
        return parse(text, "declarations", place), [], set()
    except UserError:
        pass
    declarations: list[tree.Declaration] = []
    problems: list[Problem] = []
    words: set[str] = set()
    for piece in _pieces(text):
        try:
            # Blank lines in front keep the line numbers right.
            declarations += parse("\n" * piece.lines_before + piece.text, "declarations", place)
        except UserError as error:
            problems += error.problems
            words |= set(re.findall(r"[A-Za-z_]\w*", piece.text))
    return tuple(declarations), problems, words


class _Piece:
    def __init__(self, text: str, lines_before: int) -> None:
        self.text, self.lines_before = text, lines_before


def _pieces(text: str) -> Iterator[_Piece]:
    """Cut after each `;` outside braces and after each closing brace of a function."""
    begin = depth = 0
    for match in re.finditer(r"//[^\n]*|/\*.*?\*/|[{};]", text, re.DOTALL):
        sign = match.group()
        depth += (sign == "{") - (sign == "}")
        ends_function = sign == "}" and depth <= 0 and not re.match(r"\s*[;,]", text[match.end() :])
        if (sign == ";" and depth <= 0) or ends_function:
            yield _Piece(text[begin : match.end()], text.count("\n", 0, begin))
            begin, depth = match.end(), 0
    if text[begin:].strip():
        yield _Piece(text[begin:], text.count("\n", 0, begin))


_WORDS = {
    "NAME": "a name",
    "INTEGER": "a number",
    "DECIMAL": "a number",
    "SEMICOLON": "';'",
    "COMMA": "','",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "RBRACE": "'}'",
    "OPEN": "'{'",
    "COLON": "':'",
    "EXCLAMATION": "'!'",
    "QUESTION": "'?'",
    "CHAN": "'chan'",
    "EQUALS": "'='",
    "ASSIGN": "'='",
}


def _syntax_problem(error: lark.exceptions.UnexpectedInput, text: str, place: Place, what: str) -> Problem:
    lines = text.splitlines() or [""]
    if not isinstance(error, lark.exceptions.UnexpectedToken):
        sign = getattr(error, "char", "")
        hint = " Texts in quotes are not supported." if sign == '"' else ""
        return place.problem(f"{what}: the character '{sign}' has no meaning here.{hint}", error.line)
    token = error.token
    if token.type == "$END":
        return place.problem(
            f"{what}: the text '{_shortened(lines[-1])}' ends too early.", len(lines), allowed=_allowed(error.accepts)
        )
    hint = ""
    if token.type == "EQUALS" and "OPERATOR" in (error.accepts or error.expected):
        turned = {"=>": ">=", "=<": "<="}.get(text[token.start_pos : token.start_pos + 2])
        hint = f" Write '{turned}'." if turned else " '=' assigns; '==' compares."
    for word, instead in RESERVED.items():
        if not hint and re.search(rf"\b{word}\b", text[: token.end_pos]):
            hint = f" '{word}' is reserved and has no meaning, as in UPPAAL: {instead}."
    shown = _shortened(lines[token.line - 1])
    return place.problem(
        f"{what}: unexpected '{token}' at column {token.column} of '{shown}'.{hint}",
        token.line,
        allowed=() if hint else _allowed(error.accepts or error.expected),
    )


def _shortened(text: str, length: int = 60) -> str:
    text = text.strip()
    return text if len(text) <= length else text[: length - 1] + "…"


def _allowed(terminals: set[str] | None) -> tuple[str, ...]:
    """The allowed tokens, if the list is short enough to be helpful."""
    words = sorted({_WORDS.get(t, t) for t in terminals or ()})
    return tuple(words) if len(words) <= 5 and all(w[0] in "a'" for w in words) else ()
