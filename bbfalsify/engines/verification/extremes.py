"""Decide `sup{φ}: e` and `inf{φ}: e` by exploring all symbolic states; inf e is −sup −e.

    horizon := largest constant of the model
    repeat
        explore the zone graph; the clock that is measured is not widened up to the horizon
        no state with φ is beyond the horizon    the largest bound of any zone is the answer, met or approached
        some path makes e grow without limit     there is no bound
        a run repeats a state except for e       there is no bound
        else double the horizon

Up to the horizon every bound is exact, since a state with φ && e > v is in the widened graph if and only if the model
reaches one.  Of integers nothing is widened, and smallest values of clocks need no horizon: what is only later is
covered.  The exact interpreter follows a run to the value, or close to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bbfalsify.core.errors import UserError
from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace
from bbfalsify.engines.reachability.extremes import value_at_end
from bbfalsify.engines.verification.answer import EXACT, UNDECIDED, Answer, Effort, Limit
from bbfalsify.engines.verification.repetition import grows_by_repeating
from bbfalsify.engines.verification.states import NO_BEGIN, GoOn, check_memory, confirmed, why_stopped
from bbfalsify.logic.reach_query import ExtremesQuery, ReachQuery
from bbfalsify.modelling.language.folding import make_binary, make_conditional, make_unary
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.network.visit import subexpressions
from bbfalsify.zones import Explorer, Question, ZoneTables, zone_tables
from bbfalsify.zones import extreme_values as kernel
from bbfalsify.zones.dbm import LARGEST
from bbfalsify.zones.explorer import Order, Outcome
from bbfalsify.zones.values_along import NO_LIMIT, grows_along, largest_of
from bbfalsify.zones.workspace import ZoneProblem

CLOSE, NEAR = Fraction(1, 64), Fraction(1)
"""A run to a value that is only approached comes closer than this, in units of time; where constants are so large that
zones have no room for the first, than the second."""

Wanted = tuple[str, str, Expression]
"""sup or inf, text of the expression, expression."""


class ExtremesVerification:
    """The explorations for one query."""

    def __init__(
        self, network: Network, query: ExtremesQuery, *, order: Order, most_bytes: float, seed: int = 0
    ) -> None:
        if order is Order.EARLIEST:
            raise UserError(f"query '{query.text}': the fastest trace is for E<> and A[].")
        self.network, self.query = network, query
        self._order, self._most_bytes, self._seed = order, most_bytes, seed
        everything = zone_tables(network, self._question([largest(*wanted) for wanted in query.wanted]))
        check_memory(everything, most_bytes)
        self._clocks = [bool(atom.clocks) for atom in everything.measured]
        """For each expression: it reads a clock."""
        self._before = Effort()
        self._explorer: Explorer | None = None

    @property
    def effort(self) -> Effort:
        return self._before if self._explorer is None else self._before + Effort.of(self._explorer)

    def run(self, go_on: GoOn) -> Answer:
        wanted, limits = self.query.wanted, list[Limit | None](None for _ in self.query.wanted)
        data = [place for place, clocks in enumerate(self._clocks) if not clocks]
        groups = [data] if data else []
        for places in (*groups, *([place] for place, clocks in enumerate(self._clocks) if clocks)):
            try:
                found = self._limits([wanted[place] for place in places], go_on)
            except ZoneProblem as problem:
                found = [Limit(*wanted[place][:2], why=str(problem)) for place in places]
            for place, limit in zip(places, found, strict=True):
                limits[place] = limit
        known = tuple(limit for limit in limits if limit is not None)
        reasons = list(dict.fromkeys(limit.why for limit in known if limit.why is not None))
        trace = next((limit.trace for limit in known if limit.trace is not None), None)
        verdict, why = (UNDECIDED, "; ".join(reasons)) if reasons else (EXACT, None)
        return Answer(verdict, self.effort, why, trace, limits=known)

    def _question(self, measured: Sequence[Expression], horizon: int = 0) -> Question:
        return Question(alive=self.query.condition, measured=tuple(measured), horizon=horizon)

    def _limits(self, wanted: Sequence[Wanted], go_on: GoOn) -> list[Limit]:
        """Limits of expressions over data, or of one that reads clocks."""
        measured = [largest(*one) for one in wanted]
        horizon = max([1, self.network.largest_constant, *self._constants()])
        while True:
            tables = zone_tables(self.network, self._question(measured, horizon))
            ended = self._explore(tables, go_on)
            assert self._explorer is not None
            if ended is Outcome.ALL and self._explorer.count == 0:
                return [Limit(*one[:2], why=NO_BEGIN) for one in wanted]
            found = [_One(self, one, tables, k, horizon, ended) for k, one in enumerate(wanted)]
            if len(found) > 1 or not found[0].is_beyond or ended is not Outcome.ALL:
                return [one.limit() for one in found]
            unbounded, value = found[0].grows()
            if unbounded is not None:
                return [unbounded]
            if horizon * tables.scale >= LARGEST:
                return [found[0].at_least(f"there are values beyond {horizon}")]
            horizon = max(2 * horizon, -(-value // tables.scale))

    def _constants(self) -> list[int]:
        """Constants of the condition, rounded up."""
        parts = [part.value for part in subexpressions(self.query.condition) if isinstance(part, Constant)]
        return [int(abs(Fraction(value))) + 1 for value in parts]

    def _explore(self, tables: ZoneTables, go_on: GoOn) -> Outcome:
        self._before, self._explorer = self.effort, None  # its memory first
        explorer = Explorer(
            tables, order=self._order, most_bytes=self._most_bytes, targets=False, seed=self._seed
        )  # fmt: skip
        before, self._explorer = self._before, explorer
        return explorer.run(lambda now: go_on(before + Effort.of(now))).outcome

    @property
    def explorer(self) -> Explorer:
        assert self._explorer is not None
        return self._explorer


class _One:
    """One expression after one exploration."""

    def __init__(
        self, work: ExtremesVerification, wanted: Wanted, tables: ZoneTables, k: int, horizon: int, ended: Outcome
    ) -> None:
        self.work, self.tables, self.k, self.horizon, self.ended = work, tables, k, horizon, ended
        self.word, self.text, self.expression = wanted
        steps = NO_LIMIT if tables.diagonal is not None else min(horizon * tables.scale, LARGEST)
        self.best = largest_of(work.explorer, k, steps)

    @property
    def is_beyond(self) -> bool:
        return bool(self.best[kernel.X_FAR_NODE] >= 0)

    @property
    def value(self) -> Fraction:
        """The largest value below the horizon, with the sign of the question."""
        value = Fraction(int(self.best[kernel.X_LARGEST]) >> 1, self.tables.scale)
        return value if self.word == "sup" else -value

    def limit(self) -> Limit:
        """The limit, where no state is beyond the horizon, or what an exploration that was stopped knows of it."""
        if self.ended is not Outcome.ALL:
            return self.at_least(why_stopped(self.ended, self.tables, self.work.effort))
        if self.best[kernel.X_NODE] < 0:
            return Limit(self.word, self.text)
        reached = bool(self.best[kernel.X_LARGEST] & 1)
        trace, problem = self._trace_near(reached)
        if trace is None:
            if self.tables.stopwatch is not None:
                sign = "most" if self.word == "sup" else "least"
                problem = f"it is at {sign} {float(self.value):.12g}; {problem}"
            return Limit(self.word, self.text, why=problem)
        return Limit(self.word, self.text, self.value, reached, trace=trace)

    def at_least(self, why: str) -> Limit:
        """A value that was reached, where others may lie beyond."""
        if not self.is_beyond and self.best[kernel.X_NODE] < 0:
            return Limit(self.word, self.text, why=why)
        trace, _ = self._trace_beyond() if self.is_beyond else self._trace_near(bool(self.best[kernel.X_LARGEST] & 1))
        value = None if trace is None else self._at_end(trace)[0]
        return Limit(self.word, self.text, value, why=why, trace=trace)

    def grows(self) -> tuple[Limit | None, int]:
        """The limit, if there is no bound; else a value beyond the horizon, in steps of 1/scale."""
        path = self.work.explorer.path(int(self.best[kernel.X_FAR_NODE]))
        value = grows_along(self.tables, path, self.k)
        trace, _ = self._trace_beyond()
        unbounded = value is True and self.tables.stopwatch is None
        if trace is not None and not unbounded:
            slots = [slot for clock in self.tables.measured[self.k].clocks for slot in clock.slots]
            unbounded = self._at_end(trace)[1] or grows_by_repeating(self.tables, trace, slots)
        if unbounded:
            return Limit(self.word, self.text, unbounded=True, trace=trace), 0
        return None, 0 if value is True else int(value)

    def _at_end(self, trace: ConcreteTrace) -> tuple[Fraction, bool]:
        value, unbounded = value_at_end(
            self.work.network, self.work.query.condition, self.expression, self.word, trace
        )  # fmt: skip
        return Fraction(value), unbounded

    def _trace_beyond(self) -> tuple[ConcreteTrace | None, str | None]:
        operator, limit = (">", self.horizon) if self.word == "sup" else ("<", -self.horizon)
        return self._trace(int(self.best[kernel.X_FAR_NODE]), self._compared(operator, Fraction(limit)))

    def _trace_near(self, reached: bool) -> tuple[ConcreteTrace | None, str | None]:
        node, operator, sign = int(self.best[kernel.X_NODE]), *((">=", -1) if self.word == "sup" else ("<=", 1))
        if reached:
            return self._trace(node, self._compared(operator, self.value))
        try:
            return self._trace(node, self._compared(operator, self.value + sign * CLOSE))
        except UserError:
            return self._trace(node, self._compared(operator, self.value + sign * NEAR))

    def _compared(self, operator: str, value: Fraction) -> Expression:
        whole = value.denominator == 1
        constant = Constant(int(value) if whole else value, Kind.INT if whole else Kind.DOUBLE)
        comparison = make_binary(operator, self.expression, constant, Kind.BOOL)
        return make_binary("&&", self.work.query.condition, comparison, Kind.BOOL)

    def _trace(self, node: int, aim: Expression) -> tuple[ConcreteTrace | None, str | None]:
        """A run along the path to a node that ends with a condition; else why there is none."""
        query = ReachQuery(self.work.query.text, False, aim, None)
        target = zone_tables(self.work.network, Question(alive=aim))
        path = self.work.explorer.path(node)
        answer = confirmed(self.work.network, query, self.tables, path, self.work.effort, aim=target)
        return answer.trace, answer.why


def largest(word: str, _text: str, expression: Expression) -> Expression:
    """The expression of which the largest value is asked."""
    number = expression
    if expression.kind is Kind.BOOL:
        number = make_conditional(expression, Constant(1, Kind.INT), Constant(0, Kind.INT), Kind.INT)
    return number if word == "sup" else make_unary("-", number, number.kind)
