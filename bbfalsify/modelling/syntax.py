"""Text → syntax tree, by the grammar in language.lark.

    parse("x >= 3 && !busy", "expression", place)      what stands in guards, invariants, inputs, queries
    parse("x = 0, n++", "updates", place)
    parse_declarations(text, place)                     constants, variables, channels, functions

A text that does not parse raises `UserError` with the line, what was found and what could stand there instead.
Declarations are also parsed one by one when the whole fails, so that every wrong one is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import lark

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.modelling import tree
from bbfalsify.modelling.tree import Place

DEEPEST = 250
"""Expressions are walked recursively everywhere; a deeper one was not written by a person."""

STARTS = ("expression", "updates", "declarations", "parameters", "selects", "sync", "instance")

# Binding strength of operators, weakest first; `not` is a prefix that is weaker than ?: and all below it.
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("imply",),
    ("or",),
    ("and",),
    ("not",),
    ("?",),
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<?", ">?"),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_STRENGTH = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_RIGHT_ASSOCIATIVE = {"imply", "?"}
_PREFIX_STRENGTH = {"not": _STRENGTH["not"], "-": 100, "+": 100, "!": 100, "~": 100}
_SAME_MEANING = {"or": "||", "and": "&&", "not": "!", ":=": "="}


class _Chain:
    """Folds the flat chain `prefix* operand (operator prefix* operand)*` into a tree by binding strength."""

    def __init__(self, items: list) -> None:
        self.items = items
        self.position = 0

    def fold(self, weakest: int = 0) -> tree.Expression:
        left = self.operand()
        while self.position < len(self.items):
            operator = self.items[self.position]
            sign = "?" if isinstance(operator, _Question) else str(operator)
            strength = _STRENGTH[sign]
            if strength < weakest:
                break
            self.position += 1
            right = self.fold(strength if sign in _RIGHT_ASSOCIATIVE else strength + 1)
            if isinstance(operator, _Question):
                left = tree.Conditional(left, operator.then, right, operator.line)
            else:
                left = tree.Binary(_SAME_MEANING.get(sign, sign), left, right, operator.line)
        return left

    def operand(self) -> tree.Expression:
        item = self.items[self.position]
        self.position += 1
        if isinstance(item, _QuantifierHead):
            return tree.Quantified(item.name, item.variable, self.fold(), item.line)
        if not isinstance(item, lark.Token):
            return item
        operand = self.fold(_PREFIX_STRENGTH[str(item)])
        sign = _SAME_MEANING.get(str(item), str(item))
        return operand if sign == "+" else tree.Unary(sign, operand, item.line)


class _Question:
    def __init__(self, then: tree.Expression, line: int) -> None:
        self.then, self.line = then, line


class _QuantifierHead:
    def __init__(self, name: str, variable: tree.Selection, line: int) -> None:
        self.name, self.variable, self.line = name, variable, line


def _exact(text: str) -> Fraction:
    return Fraction(text + "0" if text.endswith(".") else text)


class _TreeBuilder(lark.Transformer):
    """One method per rule of the grammar; children arrive already built, `[x]` that is absent arrives as None."""

    def expression(self, items):
        return items[0] if len(items) == 1 else _Chain(items).fold()

    def conditional(self, items):
        return _Question(items[1], items[0].line)

    def quantifier(self, items):
        return _QuantifierHead(str(items[0]), items[1], items[0].line)

    def index(self, items):
        return tree.Index(items[0], items[1], items[0].line)

    def member(self, items):
        return tree.Member(items[0], str(items[1]), items[1].line)

    def prime(self, items):
        return tree.Prime(items[0], items[0].line)

    def name(self, items):
        return tree.Name(str(items[0]), items[0].line)

    def call(self, items):
        return tree.Invocation(str(items[0]), tuple(items[1] or ()), items[0].line)

    def decimal(self, items):
        return tree.Number(_exact(str(items[0])), True, items[0].line)

    def integer(self, items):
        return tree.Number(int(items[0]), False, items[0].line)

    def truth(self, items):
        return tree.Truth(str(items[0]) == "true", items[0].line)

    def arguments(self, items):
        return tuple(items)

    # declarations
    def declarations(self, items):
        return tuple(items)

    def variables(self, items):
        return tree.VariableDeclaration(items[1], items[0] is not None, tuple(items[2:]), items[1].line)

    def channels(self, items):
        return tree.ChannelDeclaration(items[0], tuple(items[1:]), items[0].line)

    def channel(self, items):
        words = {str(word) for word in items}
        return tree.ChannelType("broadcast" in words, "urgent" in words, items[0].line)

    def declarator(self, items):
        initial = items[-1]
        return tree.Declarator(str(items[0]), tuple(items[1:-2]), initial, items[0].line)

    def array_initialiser(self, items):
        return tree.ArrayInitialiser(tuple(items[1:]), items[0].line)

    def dimension(self, items):
        return items[0]

    def plain_type(self, items):
        return tree.TypeName(str(items[0]), items[0].line)

    def type(self, items):
        return items[0]

    def range(self, items):
        return tree.TypeName("int", items[0].line, items[1], items[2])

    def typedef(self, items):
        return tree.TypeDefinition(str(items[2]), items[1], tuple(items[3:]), items[0].line)

    def parameters(self, items):
        return tuple(item for item in items if item is not None)

    def parameter(self, items):
        _constant, type_, reference, name, *dimensions = items
        return tree.Parameter(str(name), type_, reference is not None, tuple(dimensions), name.line)

    def channel_parameter(self, items):
        type_, reference, name, *dimensions = items
        return tree.Parameter(str(name), type_, reference is not None, tuple(dimensions), name.line)

    def select(self, items):
        return tree.Selection(str(items[0]), items[1], items[0].line)

    def selects(self, items):
        return tuple(item for item in items if item is not None)

    def function(self, items):
        result, name, parameters, body = items
        return tree.FunctionDefinition(str(name), result, parameters, body, name.line)

    # statements
    def updates(self, items):
        return tuple(item for item in items if item is not None)

    def evaluate(self, items):
        return tree.Evaluation(items[0], items[0].line)

    def assign(self, items):
        target, operator, value = items
        return tree.Assignment(_SAME_MEANING.get(str(operator), str(operator)), target, value, operator.line)

    def step_after(self, items):
        return self._step(items[0], items[1])

    def step_before(self, items):
        return self._step(items[1], items[0])

    def _step(self, target, sign):
        return tree.Assignment(f"{sign[0]}=", target, tree.Number(1, False, sign.line), sign.line)

    def block(self, items):
        return tree.Block(tuple(items[1:]), items[0].line)

    def local(self, items):
        return items[0]

    def empty(self, items):
        return tree.Block((), 1)

    def if_statement(self, items):
        return tree.If(items[1], items[2], items[4], items[0].line)

    def while_statement(self, items):
        return tree.While(items[1], items[2], items[0].line)

    def do_statement(self, items):
        return tree.While(items[3], items[1], items[0].line, body_first=True)

    def for_statement(self, items):
        return tree.For(items[1], items[2], items[3], items[4], items[0].line)

    def iteration(self, items):
        return tree.Iteration(tree.Selection(str(items[1]), items[2], items[1].line), items[3], items[0].line)

    def return_statement(self, items):
        return tree.Return(items[1], items[0].line)

    # edges and systems
    def sync(self, items):
        return tree.Synchronisation(items[0], str(items[1]) == "!", items[1].line)

    def instance(self, items):
        name, _equals, template, arguments = items
        return tree.Instance(None if name is None else str(name), str(template), arguments or (), template.line)


@cache
def _parser() -> lark.Lark:
    grammar = Path(__file__).with_name("language.lark").read_text(encoding="utf-8")
    return lark.Lark(grammar, parser="lalr", lexer="basic", start=list(STARTS), transformer=_TreeBuilder())


def parse(text: str, start: str, place: Place, *, what: str | None = None) -> Any:
    """The syntax tree of `text`; `what` names it in a complaint ("guard")."""
    try:
        result = _parser().parse(text, start=start)
    except lark.exceptions.UnexpectedInput as error:
        raise UserError(_syntax_problem(error, text, place, what or start)) from None
    except RecursionError:
        result = None
    if result is None or tree.depth(result) > DEEPEST:
        raise UserError(place.problem(f"{what or start}: the text is nested more than {DEEPEST} levels deep."))
    return result


def parse_declarations(text: str, place: Place) -> tuple[tuple[tree.Declaration, ...], list[Problem], set[str]]:
    """The declarations that parse, the problems of those that do not, and all words of the latter.

    The words let the resolver stay silent about names that only the unreadable declarations could have introduced.
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
    """Cuts after each `;` outside braces and after each closing brace of a function."""
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
}


def _syntax_problem(error: lark.exceptions.UnexpectedInput, text: str, place: Place, what: str) -> Problem:
    lines = text.splitlines() or [""]
    if isinstance(error, lark.exceptions.UnexpectedCharacters):
        return place.problem(f"{what}: the character '{error.char}' has no meaning here.", error.line)
    token = error.token
    if token.type == "$END":
        return place.problem(
            f"{what}: the text '{_shortened(lines[-1])}' ends too early.", len(lines), allowed=_allowed(error.accepts)
        )
    hint = ""
    if token.type == "EQUALS" and "OPERATOR" in (error.accepts or error.expected):
        turned = {"=>": ">=", "=<": "<="}.get(text[token.start_pos : token.start_pos + 2])
        hint = f" Write '{turned}'." if turned else " '=' assigns; '==' compares."
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
    """What could stand there, if that is a short list worth reading."""
    words = sorted({_WORDS.get(t, t) for t in terminals or ()})
    return tuple(words) if len(words) <= 5 and all(w[0] in "a'" for w in words) else ()
