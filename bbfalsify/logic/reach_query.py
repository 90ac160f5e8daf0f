"""Parse queries over models for searches by walks.

    ReachQuery       can a state be reached (`E<> φ`), does a condition always hold (`A[] φ`)?
    LivenessQuery    does each run meet a condition (`A<> φ`, `φ --> ψ`), does some run keep one (`E[] φ`)?
    ExtremesQuery    how large and how small do expressions get (`sup`, `inf`, `bounds`)?

    query = parse_query("A[] forall (i : id_t) forall (j : id_t) P(i).cs && P(j).cs imply i == j", network)

φ speaks about locations (`P.cs`, `P(3).cs`), variables (`id`, `P(3).x`) and clocks, and may contain `deadlock`: nothing
can ever fire any more.  The target is a state in which φ holds (`E<>`), or in which it does not (`A[]`).  `deadlock`
splits that predicate in two: one for states where something can still fire, one for the others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.logic.uppaal_queries import read_query
from bbfalsify.logic.uppaal_query_forms import Elsewhere, Extremes, LeadsTo, StateQuery, UppaalQuery
from bbfalsify.modelling import Network, parse_condition, parse_expression
from bbfalsify.modelling.language.folding import FALSE, TRUE, make_binary, make_unary
from bbfalsify.modelling.network.expressions import Binary, Builtin, Call, Expression, Kind, Unary
from bbfalsify.modelling.network.visit import subexpressions

_FORMS = (
    "E<> φ (can φ be reached?)", "A[] φ (falsified by a state without φ)", "A<> φ", "φ --> ψ", "E[] φ", "sup: e",
    "inf: e", "bounds: e",
)  # fmt: skip
_DEADLOCK = re.compile(r"\bdeadlock\b")


@dataclass(frozen=True)
class ReachQuery:
    text: str
    universal: bool
    """A[]: finding a trace falsifies it."""
    alive: Expression
    """Target predicate of states where something can still fire."""
    dead: Expression | None
    """Target predicate of states where nothing can; None if the query does not speak about deadlocks."""

    @property
    def holds_word(self) -> str:
        """The meaning of a found trace."""
        return "violated" if self.universal else "reached"

    def target(self, deadlocked: bool) -> Expression:
        return self.dead if deadlocked and self.dead is not None else self.alive


@dataclass(frozen=True)
class LivenessQuery:
    """`A<> φ`, `φ --> ψ` and `E[] φ`: about whole runs, decided here by one run of which the end is known.

    The run avoids a condition for ever, from its beginning or from a state that satisfies the trigger.
    """

    text: str
    universal: bool
    """Finding such a run falsifies it (`A<>`, `-->`); `E[]` asks for one."""
    avoided: Expression
    trigger: Expression | None = None

    @property
    def holds_word(self) -> str:
        return "violated" if self.universal else "witnessed"


@dataclass(frozen=True)
class ExtremesQuery:
    """`sup`, `inf` and `bounds`: extreme values of expressions over the states that satisfy a condition."""

    text: str
    condition: Expression
    wanted: tuple[tuple[str, str, Expression], ...]
    """sup or inf, text of the expression, expression."""
    universal: bool = False
    holds_word: str = "reached"


Asked = ReachQuery | LivenessQuery | ExtremesQuery


def parse_asked(text: str, network: Network, *, file: str | None = None, line: int | None = None) -> Asked:
    """Parse any query that walks can answer, or raise a UserError that names the command that answers it."""
    asked = read_query(text, file=file, line=line)

    def condition(part: str, *, negated: bool = False) -> Expression:
        if _DEADLOCK.search(part):
            problem = f"query '{asked.text}': 'deadlock' is only understood under E<> and A[]."
            raise UserError(Problem(problem, file, line))
        return simplified(parse_condition(part, network, {}, file=file, line=line), negated=negated)

    match asked:
        case StateQuery(quantifier="E[]"):
            return LivenessQuery(asked.text, False, condition(asked.condition, negated=True))
        case StateQuery(quantifier="A<>"):
            return LivenessQuery(asked.text, True, condition(asked.condition))
        case LeadsTo():
            return LivenessQuery(asked.text, True, condition(asked.conclusion), condition(asked.premise))
        case Extremes():
            words = ("inf", "sup") if asked.word == "bounds" else (asked.word,)
            wanted = [
                (word, part, parse_expression(part, network, file=file, line=line, what="query")[0])
                for part in asked.expressions for word in words
            ]  # fmt: skip
            return ExtremesQuery(asked.text, condition(asked.condition or "true"), tuple(wanted))
    return parse_query(text, network, file=file, line=line)


def parse_query(text: str, network: Network, *, file: str | None = None, line: int | None = None) -> ReachQuery:
    """Parse a query about reachable states (`E<>`, `A[]`), or raise a UserError that says what cannot be asked."""
    asked = read_query(text, file=file, line=line)
    if not isinstance(asked, StateQuery) or asked.quantifier not in ("E<>", "A[]"):
        raise UserError(_refusal(asked, file, line))
    universal, condition = asked.quantifier == "A[]", asked.condition
    mentions = _DEADLOCK.search(condition) is not None
    parts: list[Expression] = []
    for deadlocked in (False, True) if mentions else (False,):
        part = parse_condition(condition, network, {"deadlock": deadlocked} if mentions else {}, file=file, line=line)
        parts.append(simplified(part, negated=universal))
    return ReachQuery(asked.text, universal, parts[0], parts[1] if mentions else None)


def _refusal(asked: UppaalQuery, file: str | None, line: int | None) -> Problem:
    match asked:
        case StateQuery(quantifier=word) | LeadsTo(word=word):
            reason = f"{word} is about whole runs, not about a state"
        case Extremes(word=word):
            reason = f"{word} asks for extreme values, not for a state"
        case Elsewhere(word=word, reason=why):
            reason = f"'{word}' {why}"
        case _:
            reason = f"it asks for probabilities or simulations: 'bbfalsify {asked.command}' is the command for that"
    return Problem(f"query '{asked.text}': {reason}.", file, line, allowed=_FORMS)


_DUAL = {"&&": "||", "||": "&&"}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def simplified(e: Expression, *, negated: bool = False) -> Expression:
    """Move the negations of a condition (or of its negation) to its leaves, and drop parts that decide nothing.

    This separates the parts of a conjunction, and shows which queries only deadlocks can satisfy.
    """
    if isinstance(e, Unary) and e.operator == "!":
        return simplified(e.operand, negated=not negated)
    if isinstance(e, Binary) and e.operator in ("&&", "||", "imply"):
        left = simplified(e.left, negated=negated != (e.operator == "imply"))
        right = simplified(e.right, negated=negated)
        operator = "||" if e.operator == "imply" else e.operator
        return _joined(_DUAL[operator] if negated else operator, left, right)
    if negated and isinstance(e, Binary) and e.operator in _OPPOSITE and not _may_be_nan(e):
        return make_binary(_OPPOSITE[e.operator], e.left, e.right, Kind.BOOL)
    return make_unary("!", e, Kind.BOOL) if negated else e


def _joined(operator: str, left: Expression, right: Expression) -> Expression:
    strong, weak = (FALSE, TRUE) if operator == "&&" else (TRUE, FALSE)
    if left == strong or (right == strong and not _may_fail(left)):
        return strong
    if right == weak or left == weak:
        return left if right == weak else right
    return make_binary(operator, left, right, Kind.BOOL)


def _may_fail(e: Expression) -> bool:
    return any(
        isinstance(part, Builtin | Call)
        or (isinstance(part, Binary) and part.operator in ("/", "%"))
        or getattr(part, "index", None) is not None
        for part in subexpressions(e)
    )


def _may_be_nan(e: Binary) -> bool:
    """Tell whether a comparison may involve NaN: it is false then, and so is its opposite."""
    return any(isinstance(p, Builtin | Call) or getattr(p, "operator", "") == "/" for p in subexpressions(e))
