"""Extreme values by walks: each trace found asks for a larger (or smaller) value than its own.

    sup e over φ:   search for φ;  then for φ && e > v, where v is the largest value so far, until the search ends

The values are reached, so they bound the true extremes from inside; walks cannot say that there is nothing beyond.
A clock is read at the end of the stay in which it was found, where it is largest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace, Exact
from bbfalsify.engines.reachability.walk_search import Found
from bbfalsify.logic.reach_query import ExtremesQuery, ReachQuery
from bbfalsify.modelling.language.folding import make_binary
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.exact_values import at_delay
from bbfalsify.modelling.reference.step_replay import Replayer

MOST_ROUNDS = 10_000


@dataclass(frozen=True)
class Extreme:
    """The best value found of one expression."""

    word: str
    """sup or inf."""
    expression: str
    value: Exact | None
    """None: no state satisfied the condition."""
    unbounded: bool = False

    def in_words(self) -> str:
        if self.value is None:
            return f"{self.word} {self.expression}: no state satisfied the condition"
        if self.unbounded:
            return f"{self.word} {self.expression}: without bound (time may pass for ever)"
        sign = ">=" if self.word == "sup" else "<="
        return f"{self.word} {self.expression} {sign} {float(self.value):g}"


def search_extremes(
    network: Network, query: ExtremesQuery, search: Callable[[ReachQuery], Found]
) -> tuple[Found, tuple[Extreme, ...]]:
    """Search for each expression; return all of the searches together, with the trace to the last value found."""
    total, extremes = Found(), []
    for word, text, expression in query.wanted:
        value: Exact | None = None
        unbounded = False
        for _ in range(MOST_ROUNDS):
            better = (
                query.condition
                if value is None
                else make_binary("&&", query.condition, _beyond(expression, word, value), Kind.BOOL)
            )
            found = search(ReachQuery(query.text, False, better, None))
            _add(total, found)
            if found.best is None:
                break
            total.findings.append(found.best)
            value, unbounded = value_at_end(network, better, expression, word, found.best.trace)
            if unbounded:
                break
        extremes.append(Extreme(word, text, value, unbounded))
        if total.failure is not None:
            break
    return total, tuple(extremes)


def _add(total: Found, found: Found) -> None:
    for name in ("walks", "steps", "seconds", "deadlocks", "timelocks", "zeno"):
        setattr(total, name, getattr(total, name) + getattr(found, name))
    total.unconfirmed += found.unconfirmed
    total.failure, total.stopped = found.failure, found.stopped


def _beyond(expression: Expression, word: str, value: Exact) -> Expression:
    kind = Kind.DOUBLE if expression.kind.is_real else Kind.INT
    exact = Fraction(value)
    bound = Constant(exact if kind is Kind.DOUBLE else int(exact), kind)
    return make_binary(">" if word == "sup" else "<", expression, bound, Kind.BOOL)


def value_at_end(
    network: Network, condition: Expression, expression: Expression, word: str, trace: ConcreteTrace
) -> tuple[Exact, bool]:
    """The best value while the network stays where the trace ends, and whether it grows for ever."""
    replayer = Replayer(network)
    choose = max if word == "sup" else min

    def at(delay: Exact) -> Exact:
        return at_delay(replayer.evaluator_at(trace.end, delay).value(expression), 0)

    best, unbounded = at(Fraction(0)), False
    for window in replayer.delays_of(trace.end, condition):
        if window.high is None:
            later = at(window.low + 1)
            unbounded = unbounded or choose(later, best) != best
        elif not window.high_strict:
            best = choose(best, at(window.high))
    return best, unbounded
