"""Parse queries over models: can a state be reached (`E<> φ`), and does a condition always hold (`A[] φ`)?

    query = parse_query("A[] forall (i : id_t) forall (j : id_t) P(i).cs && P(j).cs imply i == j", network)

φ speaks about locations (`P.cs`, `P(3).cs`), variables (`id`, `P(3).x`) and clocks, and may contain `deadlock`: nothing
can ever fire any more.  The target is a state in which φ holds (`E<>`), or in which it does not (`A[]`).  `deadlock`
splits that predicate in two: one for states where something can still fire, one for the others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.modelling import Network, parse_condition
from bbfalsify.modelling.language.folding import FALSE, TRUE, make_binary, make_unary
from bbfalsify.modelling.network.expressions import Binary, Builtin, Call, Expression, Kind, Unary
from bbfalsify.modelling.network.visit import subexpressions

_FORMS = ("E<> φ (can φ be reached?)", "A[] φ (falsified by a state without φ)")
_OTHER_FORMS = {
    "E[]": "asks for a whole run; look for a state that breaks it with E<>",
    "A<>": "is about liveness, which no finite trace refutes",
    "-->": "is about liveness, which no finite trace refutes",
    "Pr[": "asks for a probability; 'bbfalsify falsify' estimates those",
    "E[<=": "asks for an expectation",
    "simulate": "is a command here: bbfalsify simulate MODEL",
    "sup": "asks for a supremum; look for a larger value with E<>",
    "inf": "asks for an infimum; look for a smaller value with E<>",
    "bounds": "asks for bounds; look for larger values with E<>",
    "control": "is about games",
    "strategy": "is about games",
    "saveStrategy": "is about games",
    "minE": "is about strategies",
    "maxE": "is about strategies",
}
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


def parse_query(text: str, network: Network, *, file: str | None = None, line: int | None = None) -> ReachQuery:
    """Parse a query, or raise a UserError that says what cannot be asked."""
    stripped = text.strip()
    match = re.match(r"(E\s*<>|A\s*\[\s*\](?!\s*<))", stripped)
    if match is None or "-->" in stripped:
        raise UserError(_refusal(stripped, file, line))
    universal = stripped.startswith("A")
    condition = stripped[match.end() :]
    if not condition.strip():
        raise UserError(Problem(f"query '{stripped}': a condition is missing.", file, line))
    mentions = _DEADLOCK.search(condition) is not None
    parts: list[Expression] = []
    for deadlocked in (False, True) if mentions else (False,):
        part = parse_condition(condition, network, {"deadlock": deadlocked} if mentions else {}, file=file, line=line)
        parts.append(simplified(part, negated=universal))
    return ReachQuery(stripped, universal, parts[0], parts[1] if mentions else None)


def _refusal(text: str, file: str | None, line: int | None) -> Problem:
    for start, reason in _OTHER_FORMS.items():
        if text.replace(" ", "").startswith(start) or (start == "-->" and start in text):
            return Problem(f"query '{text}': {start} {reason}.", file, line, allowed=_FORMS)
    return Problem(f"query '{text}': it must start with E<> or A[].", file, line, allowed=_FORMS)


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
