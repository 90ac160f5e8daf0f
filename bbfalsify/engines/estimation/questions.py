"""Questions about probabilities, read from CSL or from UPPAAL's queries, for a network.

question = read_question("Pr[<=100](<> Train(0).Cross)", network)
question.formula      the same in CSL, for a chain; None where CSL cannot say it
question.path         the same for random walks; None where they cannot decide it
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.logic import csl
from bbfalsify.logic import uppaal_queries as uppaal
from bbfalsify.modelling import Network, parse_condition, parse_expression
from bbfalsify.modelling.language.folding import make_binary, make_unary
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind

FORMS = (*csl.FORMS, "Pr[<=T](<> φ)", "Pr[#<=N]([] φ) >= p", "E[<=T; N](max: e)", "simulate [<=T; N] {e}")


@dataclass(frozen=True)
class Path:
    """Runs that meet `goal` before `avoid`, within a time or a number of steps."""

    goal: Expression
    avoid: Expression | None
    limit: float
    counted: bool = False
    """The limit counts steps."""
    negated: bool = False
    """The question is about the runs that do not."""


@dataclass(frozen=True)
class Question:
    text: str
    formula: csl.Formula | None = None
    path: Path | None = None
    other: Path | None = None
    """The second probability of a comparison."""
    sides: tuple[csl.Formula, csl.Formula] | None = None
    """Both probabilities of a comparison in CSL; None where CSL cannot say one of them."""
    bound: csl.Bound | None = None
    """The values that satisfy a query with a bound; of a comparison, of the difference."""
    expression: Expression | None = None
    """Of an expectation: its largest or smallest value in a run."""
    extreme: str = ""
    expressions: tuple[tuple[str, Expression], ...] = ()
    """Of a simulation."""
    runs: int | None = None
    """The number of runs that the query itself asks for."""
    limit: float = math.inf


def is_estimate(text: str) -> bool:
    """Tell whether a query stored in a file asks for a probability or an expectation."""
    if csl.is_csl(text):
        return True
    try:
        return uppaal.read_query(text).command == "estimate"
    except UserError:
        return False


def read_question(text: str, network: Network, *, file: str | None = None, line: int | None = None) -> Question:
    """Read a query, or raise a UserError."""
    return _Reader(text, network, file, line).question()


class _Reader:
    def __init__(self, text: str, network: Network, file: str | None, line: int | None) -> None:
        self.text, self.network, self.file, self.line = text, network, file, line

    def question(self) -> Question:
        if csl.is_csl(self.text):
            return self._csl()
        query = uppaal.read_query(self.text, file=self.file, line=self.line)
        if isinstance(query, uppaal.Probability):
            return self._probability(query)
        if isinstance(query, uppaal.ProbabilityTest):
            return self._test(query)
        if isinstance(query, uppaal.ProbabilityComparison):
            left, right = self._probability(query.left), self._probability(query.right)
            bound = csl.Bound(low=0.0) if query.operator[0] == ">" else csl.Bound(high=0.0)
            sides = None if left.formula is None or right.formula is None else (left.formula, right.formula)
            return Question(self.text, path=left.path, other=right.path, sides=sides, bound=bound, runs=left.runs)
        if isinstance(query, uppaal.Expectation):
            expression = self._expression(query.expression)
            asked = self._bounded(query.bound)
            if asked.runs == 1:
                raise self._wrong("a mean needs two runs at least")
            return replace(asked, expression=expression, extreme=query.extreme)
        if isinstance(query, uppaal.Simulation) and query.condition is None:
            named = tuple((e, self._expression(e)) for e in query.expressions)
            return replace(self._bounded(query.bound), expressions=named)
        raise self._wrong(f"'bbfalsify {query.command}' answers it" if query.command not in (None, "estimate") else
                          getattr(query, "reason", "runs that meet a condition cannot be asked for"))  # fmt: skip

    def _wrong(self, says: str) -> UserError:
        return UserError(Problem(f"query '{self.text}': {says}.", self.file, self.line, allowed=FORMS))

    # --- CSL ---------------------------------------------------------------------------------------------------------

    def _csl(self) -> Question:
        formula = csl.parse_csl(self.text, file=self.file, line=self.line)
        self._check_conditions(formula)
        path, bound = None, getattr(formula, "bound", None)
        if isinstance(formula, csl.Probability):
            path = self._path_of(formula.path)
        return Question(self.text, formula, path, bound=bound)

    def _path_of(self, path: csl.Path) -> Path | None:
        """The path for walks, if they can decide it: no inner operator, from now on, and bounded."""
        if isinstance(path, csl.Next) or path.low > 0 or path.high == math.inf:
            return None
        if isinstance(path, csl.Globally):
            if not isinstance(path.operand, csl.Condition):
                return None
            return Path(make_unary("!", self._condition(path.operand.text), Kind.BOOL), None, path.high, negated=True)
        parts = [part for part in (path.left, path.right) if part is not None]
        if not all(isinstance(part, csl.Condition) for part in parts):
            return None
        [*before, goal] = [self._condition(part.text) for part in parts if isinstance(part, csl.Condition)]
        return Path(goal, make_unary("!", before[0], Kind.BOOL) if before else None, path.high)

    def _check_conditions(self, formula: object) -> None:
        if isinstance(formula, csl.Condition):
            self._condition(formula.text)
            return
        if isinstance(formula, csl.Reward) and formula.name == "cost" and not self._has_costs():
            raise self._wrong("the model has no costs; give it `cost_rate` or `cost`, or ask R{expression}")
        if hasattr(formula, "__dataclass_fields__"):
            for name in formula.__dataclass_fields__:
                self._check_conditions(getattr(formula, name))

    def _has_costs(self) -> bool:
        places = (place for p in self.network.processes for place in p.locations)
        edges = (edge for p in self.network.processes for edge in p.edges)
        return any(at.cost_rate is not None for at in places) or any(edge.cost is not None for edge in edges)

    # --- UPPAAL ------------------------------------------------------------------------------------------------------

    def _bounded(self, bound: uppaal.RunBound) -> Question:
        if bound.of != "time":
            raise self._wrong("an expectation is bounded by time here: [<=T]")
        return Question(self.text, runs=self._runs(bound), limit=self._limit(bound))

    def _probability(self, query: uppaal.Probability) -> Question:
        if query.bound is None or query.path == "mitl":
            raise self._wrong("a bound of runs is missing, such as Pr[<=100]")
        limit, of = self._limit(query.bound), query.bound.of
        goal = self._condition(query.condition)
        avoid = None if query.before is None else make_unary("!", self._condition(query.before), Kind.BOOL)
        negated = query.path == "[]"
        if negated:
            goal = make_unary("!", goal, Kind.BOOL)
        if of not in ("time", "steps"):  # a clock or an expression is bounded: the run ends where it exceeds the limit
            beyond = self._condition(f"({of}) > ({query.bound.limit})")
            avoid = beyond if avoid is None else make_binary("||", avoid, beyond, Kind.BOOL)
        path = Path(goal, avoid, limit if of in ("time", "steps") else math.inf, of == "steps", negated)
        formula = None
        if of == "time":
            condition = csl.Condition(query.condition)
            before = None if query.before is None else csl.Condition(query.before)
            always, until = csl.Globally(condition, 0.0, limit), csl.Until(before, condition, 0.0, limit)
            formula = csl.Probability(always if negated else until, None)
        return Question(self.text, formula, path, runs=self._runs(query.bound))

    def _test(self, query: uppaal.ProbabilityTest) -> Question:
        question, threshold = self._probability(query.probability), self._number(query.threshold)
        if not 0 <= threshold <= 1:
            raise self._wrong(f"a probability lies between 0 and 1, not at {threshold:g}")
        strict = "=" not in query.operator
        bound = (
            csl.Bound(low=threshold, low_strict=strict)
            if query.operator[0] == ">"
            else csl.Bound(high=threshold, high_strict=strict)
        )
        formula = question.formula
        if isinstance(formula, csl.Probability):
            formula = replace(formula, bound=bound)
        return replace(question, formula=formula, bound=bound)

    # --- texts of the model ------------------------------------------------------------------------------------------

    def _condition(self, text: str) -> Expression:
        return parse_condition(text, self.network, {}, file=self.file, line=self.line)

    def _expression(self, text: str) -> Expression:
        return parse_expression(text, self.network, file=self.file, line=self.line, what=f"query '{self.text}'")[0]

    def _limit(self, bound: uppaal.RunBound) -> float:
        limit = self._number(bound.limit)
        if bound.of in ("time", "steps") and not 0 <= limit < math.inf:
            raise self._wrong(f"a bound of {bound.of} is a number from 0 on; found {limit:g}")
        return limit

    def _runs(self, bound: uppaal.RunBound) -> int | None:
        runs = None if bound.runs is None else self._number(bound.runs)
        if runs is not None and not (runs >= 1 and runs == int(runs)):
            raise self._wrong(f"the number of runs is a whole number from 1 on; found {runs:g}")
        return None if runs is None else int(runs)

    def _number(self, text: str) -> float:
        value = self._expression(text)
        if not isinstance(value, Constant):
            raise self._wrong(f"'{text}' must be a number")
        return float(value.value)
