"""Build the syntax tree: one method per rule of language.lark.

Expressions are flat chains of operands and operators; `_Chain` folds them by binding strength.
"""

from __future__ import annotations

from fractions import Fraction

import lark

from bbfalsify.modelling.language import syntax_tree as tree

# Binding strength of operators, weakest first; `not` is a prefix that is weaker than ?: and all below it.
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("imply",),
    ("or", "xor"),
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
    ("**",),
)
_STRENGTH = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_RIGHT_ASSOCIATIVE = {"imply", "?", "**"}
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
        return operand if sign == "+" else tree.Unary(sign, operand, item.line or 1)


class _Question:
    def __init__(self, then: tree.Expression, line: int) -> None:
        self.then, self.line = then, line


class _QuantifierHead:
    def __init__(self, name: str, variable: tree.Selection, line: int) -> None:
        self.name, self.variable, self.line = name, variable, line


MOST_DIGITS = 300
"""Of a number; more do not fit into a float64."""


class UnreadableNumber(Exception):
    """A number that no float64 can hold, or that takes too long to read."""

    def __init__(self, token: lark.Token) -> None:
        super().__init__(token)
        self.token = token


def _exact(token: lark.Token) -> Fraction:
    mantissa, _, exponent = token.lower().partition("e")
    if len(mantissa) > MOST_DIGITS or (exponent and (len(exponent) > 4 or abs(int(exponent)) > MOST_DIGITS)):
        raise UnreadableNumber(token)
    return Fraction(token + "0" if token.endswith(".") else str(token))


class TreeBuilder(lark.Transformer):
    """One method per rule of the grammar; children are already built, and an absent `[x]` is None."""

    def _given(self, items):
        return tuple(item for item in items if item is not None)

    def _only(self, items):
        return items[0]

    arguments = parameters = selects = updates = _given
    dimension = type = local = _only

    def declarations(self, items):
        return tuple(part for item in items for part in (item if isinstance(item, tuple) else (item,)))  # typedef a, b;

    def nothing(self, items):
        return ()

    def expression(self, items):
        return items[0] if len(items) == 1 else _Chain(items).fold()

    def conditional(self, items):
        return _Question(self.nested(items[1:]), items[0].line)

    def nested(self, items):
        return items[0].expression if isinstance(items[0], tree.Evaluation) else items[0]

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

    def method(self, items):
        return tree.Invocation(str(items[1]), tuple(items[2] or ()), items[1].line, items[0])

    def decimal(self, items):
        return tree.Number(_exact(items[0]), True, items[0].line)

    def integer(self, items):
        if len(items[0]) > MOST_DIGITS:
            raise UnreadableNumber(items[0])
        return tree.Number(int(items[0]), False, items[0].line)

    def truth(self, items):
        return tree.Truth(str(items[0]) == "true", items[0].line)

    # declarations
    def variables(self, items):
        # `meta` and `hybrid` matter to a search that compares states; a walk keeps every variable alike.
        constant, _memory, type_, *declarators = items
        return tree.VariableDeclaration(type_, constant is not None, tuple(declarators), type_.line)

    def channels(self, items):
        return tree.ChannelDeclaration(items[0], tuple(items[1:]), items[0].line)

    def channel(self, items):
        words = {str(word) for word in items}
        return tree.ChannelType("broadcast" in words, "urgent" in words, items[0].line)

    def declarator(self, items):
        initial = items[-1]
        return tree.Declarator(str(items[0]), tuple(items[1:-2]), initial, items[0].line)

    def field_initialiser(self, items):
        return tree.FieldInitialiser(str(items[0]), items[1], items[0].line)

    def array_initialiser(self, items):
        return tree.ArrayInitialiser(tuple(items[1:]), items[0].line)

    def plain_type(self, items):
        return tree.TypeName(str(items[0]), items[0].line)

    def range(self, items):
        return tree.TypeName("int", items[0].line, items[1], items[2])

    def struct(self, items):
        return tree.TypeName("struct", items[0].line, fields=tuple(items[2:]))

    def scalar(self, items):
        return tree.TypeName("scalar", items[0].line, high=items[1])

    def typedef(self, items):
        word, type_, *aliases = (item for item in items if str(item) != "const")
        return tuple(tree.TypeDefinition(str(name), type_, tuple(shape), word.line) for name, *shape in aliases)

    def alias(self, items):
        return items

    def parameter(self, items):
        constant, type_, reference, name, *dimensions = items
        return tree.FormalParameter(
            str(name), type_, reference is not None, tuple(dimensions), name.line, constant is not None
        )

    def channel_parameter(self, items):
        type_, reference, name, *dimensions = items
        return tree.FormalParameter(str(name), type_, reference is not None, tuple(dimensions), name.line)

    def select(self, items):
        return tree.Selection(str(items[0]), items[1], items[0].line)

    def function(self, items):
        result, name, parameters, body = items
        return tree.FunctionDefinition(str(name), result, parameters, body, name.line)

    # statements
    def evaluate(self, items):
        return items[0] if isinstance(items[0], tree.Assignment) else tree.Evaluation(items[0], items[0].line)

    def assign(self, items):
        target, operator, value = items
        value = value.expression if isinstance(value, tree.Evaluation) else value
        return tree.Assignment(_SAME_MEANING.get(str(operator), str(operator)), target, value, operator.line)

    def several(self, items):
        return items[0] if len(items) == 1 else tree.Block(tuple(items), items[0].line)

    def step_after(self, items):
        return self._step(items[0], items[1], later=True)

    def step_before(self, items):
        return self._step(items[1], items[0])

    def _step(self, target, sign, *, later=False):
        return tree.Assignment(f"{sign[0]}=", target, tree.Number(1, False, sign.line), sign.line, later)

    def block(self, items):
        return tree.Block(self.declarations(items[1:]), items[0].line)

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

    def assert_statement(self, items):
        return tree.Assertion(items[1], items[0].line)

    def return_statement(self, items):
        return tree.Return(items[1], items[0].line)

    # edges and systems
    def sync(self, items):
        channel, direction = items
        return tree.Synchronisation(channel, None if direction is None else str(direction) == "!", channel.line)

    def instance(self, items):
        name, _equals, template, arguments = items
        return tree.Instance(None if name is None else str(name), str(template), arguments or (), template.line)

    def definition(self, items):
        name, parameters, _equals, template, arguments = items
        return tree.Instance(str(name), str(template), arguments or (), name.line, parameters or ())
