"""Property patterns and assertions: frequent requirements of protocols and hardware under short names.

    response(in == request, out == grant)                      every request is granted at once or later
    absence(out == error, after(in == login))                  no error after the first login
    precedence(in == login & out == ok, out == data)           no data before a login that was accepted
    existence(out == ready, before(in == start))
    universality(out != busy, between(in == lock, in == unlock))
    always(p)  never(p)  next(p, q)  handshake(p, q)  no_overflow(put, take, 3)

The patterns and scopes are those of Dwyer, Avrunin and Corbett.  A step is one letter, so a trigger and its answer may
be one and the same step.  The functions take formulas or texts and give formulas, which `ltl` accepts:

    ltl(response("in == request", "out == grant", after("in == login")))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bbfalsify.logic.ltl.ltl_formula import Binary, Formula, Unary, conjunction


@dataclass(frozen=True)
class Scope:
    """Part of a word in which a pattern must hold: all, before the first `end`, after the first `begin`, or between."""

    begin: Formula | None = None
    end: Formula | None = None


GLOBALLY = Scope()


def after(begin: Formula | str) -> Scope:
    return Scope(read(begin))


def before(end: Formula | str) -> Scope:
    return Scope(None, read(end))


def between(begin: Formula | str, end: Formula | str) -> Scope:
    return Scope(read(begin), read(end))


def read(formula: Formula | str) -> Formula:
    """Parse a text; return a formula unchanged."""
    if not isinstance(formula, str):
        return formula
    from bbfalsify.logic.ltl.ltl_parser import parse

    return parse(formula)  # type: ignore[return-value]


def absence(p: Formula | str, scope: Scope = GLOBALLY) -> Formula:
    """p never holds."""
    return universality(_not(read(p)), scope)


def universality(p: Formula | str, scope: Scope = GLOBALLY) -> Formula:
    """p always holds."""
    p = read(p)
    q, r = scope.begin, scope.end
    if q is None:
        return _g(p) if r is None else _implies(_f(r), _until(p, r))
    if r is None:
        return _g(_implies(q, _g(p)))
    return _g(_implies(_opened(q, r), _until(p, r)))


def existence(p: Formula | str, scope: Scope = GLOBALLY) -> Formula:
    """p holds at least once."""
    p = read(p)
    q, r = scope.begin, scope.end
    if q is None:
        return _f(p) if r is None else _weak(_not(r), _and(p, _not(r)))
    if r is None:
        return _weak(_not(q), _and(q, _f(p)))
    return _g(_implies(_and(q, _not(r)), _weak(_not(r), _and(p, _not(r)))))


def response(p: Formula | str, s: Formula | str, scope: Scope = GLOBALLY) -> Formula:
    """Every p is followed by an s, in the same step or later."""
    p, s = read(p), read(s)
    q, r = scope.begin, scope.end
    if r is None:
        answered: Formula = _g(_implies(p, _f(s)))
        return answered if q is None else _g(_implies(q, answered))
    answered = _until(_implies(p, _until(_not(r), _and(s, _not(r)))), r)
    return _implies(_f(r), answered) if q is None else _g(_implies(_opened(q, r), answered))


def precedence(s: Formula | str, p: Formula | str, scope: Scope = GLOBALLY) -> Formula:
    """The first p comes together with or after an s."""
    s, p = read(s), read(p)
    q, r = scope.begin, scope.end
    if r is None:
        preceded = _weak(_not(p), s)
        # Dwyer and others have F(q & …) here, which a later q satisfies although after the first one p came too early.
        return preceded if q is None else _weak(_not(q), _and(q, preceded))
    preceded = _until(_not(p), _or(s, r))
    return _implies(_f(r), preceded) if q is None else _g(_implies(_opened(q, r), preceded))


def never(p: Formula | str) -> Formula:
    return _g(_not(read(p)))


def next_step(p: Formula | str, q: Formula | str) -> Formula:
    """Written `next(p, q)`: in the step after every p, q holds."""
    return _g(_implies(read(p), Unary("X", read(q))))


def handshake(request: Formula | str, acknowledge: Formula | str) -> Formula:
    """Every request is acknowledged, in the same step or later, and nothing is acknowledged that was not requested.

    An acknowledgement serves all requests up to it; the next one needs a new request.
    """
    request, acknowledge = read(request), read(acknowledge)
    quiet = _weak(_not(acknowledge), request)
    return conjunction([_g(_implies(request, _f(acknowledge))), quiet, _g(_implies(acknowledge, Unary("X", quiet)))])


@dataclass(frozen=True)
class Counting:
    """`no_overflow(put, take, size)`: never more than `size` puts that were not taken.

    A step that is both counts as neither, a take from nothing as nothing.
    """

    put: Formula
    take: Formula
    size: int


PATTERNS: dict[str, tuple[Callable[..., Formula], int, bool]] = {
    "absence": (absence, 1, True),
    "universality": (universality, 1, True),
    "existence": (existence, 1, True),
    "response": (response, 2, True),
    "precedence": (precedence, 2, True),
    "handshake": (handshake, 2, False),
}
"""Function, number of formulas, whether a scope may follow."""
SCOPES: dict[str, tuple[Callable[..., Scope], int]] = {
    "after": (after, 1),
    "before": (before, 1),
    "between": (between, 2),
}


def _not(p: Formula) -> Formula:
    return p.body if isinstance(p, Unary) and p.operator == "!" else Unary("!", p)


_g, _f = partial(Unary, "G"), partial(Unary, "F")
_and, _or, _implies, _until, _weak = (partial(Binary, operator) for operator in ("&", "|", "->", "U", "W"))


def _opened(q: Formula, r: Formula) -> Formula:
    """The begin of a scope that ends."""
    return conjunction([q, _not(r), _f(r)])
