"""Translate signal temporal logic to LTL over sampled symbols, to check a continuous system as a finite machine.

    sampling = Sampling([parse_stl("always(T <= 75)")], period=0.5)
    sampling.thresholds                     # {"T": (75.0,)}
    sampling.answer({"T": 76.2})            # "T>75": the output symbol of a sample
    sampling.properties                     # LTL over these symbols, in the order of the formulas

One step of the machine is one period: an input symbol sets the inputs for its length, and the sample at its end is the
answer.  A symbol names for each quantity that a formula compares (a signal or an expression) the cell between its
thresholds, so comparisons keep their exact truth.  Bounds become numbers of steps.  Formulas without a sound
counterpart are refused: bounds that are no multiples of the period, and operators that look back.

The sequence of samples is judged.  In dense time, where a sample's values hold until the next one, that is the same,
but for an until whose window does not begin at once.  A physical system also changes between samples: `unseen` names
the formulas that this could concern.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.logic.ltl.cells import Quantity, evaluate, holds, normal
from bbfalsify.logic.ltl.ltl_formula import Atom, Binary, Formula, Truth, Unary
from bbfalsify.logic.ltl.properties import LtlProperty
from bbfalsify.logic.stl import formula as stl
from bbfalsify.logic.stl.requirement import period_problems

MOST_STEPS = 200
"""Samples that a formula may look ahead; longer ones need a longer period."""
MOST_SYMBOLS = 2000
"""Limit of output symbols: one for each combination of cells."""
NOTHING = "ok"
"""The output symbol where no formula compares an output."""


class SampledProperty(LtlProperty):
    """A formula over the symbols of a sampling, with the STL formula that it was translated from."""

    def __init__(self, sampling: Sampling, number: int, formula: stl.Formula) -> None:
        text = formula.text or str(formula)
        super().__init__(sampling.translated(formula.root), text, form="stl", source=sampling.source(number))
        self._sampling, self._root = sampling, formula.root

    def __reduce__(self) -> tuple:
        return _property_of, (self.source,)

    def triggered(self) -> Iterator[tuple[str, str, Formula]]:
        """Implications as trigger, right side, and the formula with `false` as right side."""
        for trigger, asked, stronger in _implications(self._root, True, lambda whole: whole):
            yield stl.render(trigger), stl.render(asked), self._sampling.translated(stronger)


def _property_of(source: str) -> SampledProperty:
    from bbfalsify.logic.ltl.property_forms import read_property

    return read_property("stl", source)  # type: ignore[return-value]


class Sampling:
    """A map from samples to symbols, and the formulas about these symbols.

    `inputs` gives for each input symbol the values it sets: comparisons of those only are about the input, all others
    about the output.
    """

    def __init__(
        self, formulas: Sequence[stl.Formula], period: float, *, inputs: Mapping[str, Mapping[str, float]] | None = None
    ) -> None:
        self.formulas, self.period, self.inputs = tuple(formulas), period, dict(inputs or {})
        problems = [p for formula in formulas for p in sampling_problems(formula, period)]
        if problems:
            raise UserError(problems)
        self._set = set.intersection(*(set(v) for v in self.inputs.values())) if self.inputs else set()
        self._quantities: dict[str, Quantity] = {}
        for formula in formulas:
            for node in stl.nodes_of(formula.root):
                if isinstance(node, stl.Compare) and not self._about_input(node):
                    term, operator, value = normal(node)
                    self._quantities.setdefault(stl.render(term), Quantity(term)).cut(operator, value)
        self._cells = {name: quantity.cells() for name, quantity in self._quantities.items()}
        count = math.prod(len(cells) for cells in self._cells.values())
        if count > MOST_SYMBOLS:
            detail = ", ".join(f"{name} {len(cells)}" for name, cells in self._cells.items())
            raise UserError(
                f"the thresholds of the formulas give {count} output symbols ({detail} cells), more than "
                f"{MOST_SYMBOLS}; check fewer formulas at a time."
            )
        self._memory: dict[int, tuple[stl.Condition, Formula]] = {}
        self.properties = tuple(SampledProperty(self, number, formula) for number, formula in enumerate(formulas))

    def source(self, number: int) -> str:
        """Source text of a property; it has all formulas, because together they define the symbols."""
        facts = {"stl": [f.text or str(f) for f in self.formulas], "number": number, "period": self.period}
        return json.dumps({**facts, "inputs": self.inputs})

    @property
    def thresholds(self) -> dict[str, tuple[float, ...]]:
        """For each quantity the numbers it is compared with."""
        return {name: quantity.thresholds for name, quantity in self._quantities.items()}

    @property
    def outputs(self) -> tuple[str, ...]:
        """All output symbols."""
        return tuple(
            self._symbol(numbers) for numbers in itertools.product(*map(range, map(len, self._cells.values())))
        )

    @property
    def unseen(self) -> dict[int, str]:
        """Reasons, by number of the formula, why its violation on samples need not be one in between."""
        reason = "it could be fulfilled between two samples; only what the samples show is judged"
        return {k: reason for k, formula in enumerate(self.formulas) if _hopes(formula.root, True)}

    def answer(self, values: Mapping[str, float]) -> str:
        """The output symbol of a sample."""
        numbers = []
        for quantity in self._quantities.values():
            value = evaluate(quantity.term, values)
            if math.isnan(value):
                return f"{quantity.name} is not a number"
            numbers.append(quantity.cell_of(value))
        return self._symbol(numbers)

    def _symbol(self, numbers: Sequence[int]) -> str:
        parts = [cells[k].text(name) for (name, cells), k in zip(self._cells.items(), numbers, strict=True)]
        return ", ".join(parts) or NOTHING

    # --- formulas ----------------------------------------------------------------------------------------------------

    def _about_input(self, node: stl.Compare) -> bool:
        read = {part.name for part in stl.nodes_of(node) if isinstance(part, stl.Signal)}
        return bool(read) and read <= self._set

    def _atom(self, node: stl.Compare) -> Formula:
        if not any(isinstance(part, stl.Signal) for part in stl.nodes_of(node)):
            return Truth(holds(node.operator, evaluate(node.left, {}), evaluate(node.right, {})))
        if self._about_input(node):
            chosen = [
                symbol
                for symbol, values in self.inputs.items()
                if holds(node.operator, evaluate(node.left, values), evaluate(node.right, values))
            ]
            return _one_of("in", chosen, len(self.inputs))
        term, operator, value = normal(node)
        name = stl.render(term)
        good = [k for k, cell in enumerate(self._cells[name]) if holds(operator, cell.inside(), value)]
        choices = [good if other == name else range(len(cells)) for other, cells in self._cells.items()]
        return _one_of("out", [self._symbol(numbers) for numbers in itertools.product(*choices)], -1)

    def translated(self, node: stl.Condition) -> Formula:
        """Translate to LTL over the symbols; shared parts stay shared, which keeps long windows small."""
        if id(node) not in self._memory:
            self._memory[id(node)] = node, self._translation(node)
        return self._memory[id(node)][1]

    def _translation(self, node: stl.Condition) -> Formula:
        match node:
            case stl.Truth(value):
                return Truth(value)
            case stl.Compare():
                return self._atom(node)
            case stl.Not(body):
                return Unary("!", self.translated(body))
            case stl.Connective(operator, left, right):
                p, q = self.translated(left), self.translated(right)
                if operator == "xor":
                    return Unary("!", Binary("<->", p, q))
                return Binary({"and": "&", "or": "|", "implies": "->", "iff": "<->"}[operator], p, q)
            case stl.Step(_, body):
                return Unary("X", self.translated(body))
            case stl.Window(operator, lower, upper, body):
                p = self.translated(body)
                always = operator == "always"
                if math.isinf(upper):
                    return _later(Unary("G" if always else "F", p), self._steps(lower))
                result = p
                for _ in range(self._steps(upper) - self._steps(lower)):
                    result = Binary("&" if always else "|", p, Unary("X", result))
                return _later(result, self._steps(lower))
            case stl.Reach(_, lower, upper, left, right):
                p, q = self.translated(left), self.translated(right)
                if math.isinf(upper):
                    result = Binary("U", p, q)
                else:
                    result = q
                    for _ in range(self._steps(upper) - self._steps(lower)):
                        result = Binary("|", q, Binary("&", p, Unary("X", result)))
                for _ in range(self._steps(lower)):
                    result = Binary("&", p, Unary("X", result))
                return result
        raise TypeError(f"not a condition: {node!r}")

    def _steps(self, time: float) -> int:
        return round(time / self.period)


def sampling_problems(formula: stl.Formula, period: float) -> list[Problem]:
    """Find the reasons why a formula has no counterpart over samples."""
    problems = period_problems(formula, period)
    if problems:
        return problems
    timed = [n.operator for n in stl.nodes_of(formula.root) if isinstance(n, stl.Window | stl.Reach | stl.Step)]
    for operator in dict.fromkeys(timed):
        if operator in (*stl.PAST_WINDOWS, "since", "prev", "s_prev", "rise", "fall"):
            message = f"'{formula}' uses {operator}, which looks back: only the future can be checked; turn it round."
            problems.append(Problem(message))
    ahead = stl.lookahead(formula.root, period) / period
    if ahead > MOST_STEPS:
        problems.append(
            Problem(
                f"'{formula}' looks {ahead:.0f} samples ahead, more than {MOST_STEPS}: take a longer sampling period."
            )
        )
    return problems


def _hopes(node: stl.Condition | stl.Term, positive: bool) -> bool:
    """Tell whether a violation means that something was not seen: an eventually or until, or a negated always."""
    match node:
        case stl.Not(body):
            return _hopes(body, not positive)
        case stl.Connective("implies", left, right):
            return _hopes(left, not positive) or _hopes(right, positive)
        case stl.Connective("iff" | "xor", left, right):
            return any(_hopes(side, sign) for side in (left, right) for sign in (True, False))
        case stl.Window(operator, _, upper, body):
            return (operator == "eventually") == positive and upper > 0 or _hopes(body, positive)
        case stl.Reach(_, _, upper, left, right):
            return (positive and upper > 0) or _hopes(left, positive) or _hopes(right, positive)
    return any(_hopes(child, positive) for child in stl.children(node))


def _implications(
    node: stl.Condition | stl.Term, positive: bool, rebuilt: Callable[[stl.Condition], stl.Condition]
) -> Iterator[tuple[stl.Condition, stl.Condition, stl.Condition]]:
    """Yield (left, right, the whole with the right side false) of implications that are not under a negation."""
    match node:
        case stl.Not(body):
            yield from _implications(body, not positive, lambda new: rebuilt(stl.Not(new)))
        case stl.Connective("iff" | "xor"):
            return
        case stl.Connective(operator, left, right):
            if operator == "implies" and positive:
                yield left, right, rebuilt(replace(node, right=stl.Truth(False)))
            yield from _implications(
                left, positive != (operator == "implies"), lambda new: rebuilt(replace(node, left=new))
            )
            yield from _implications(right, positive, lambda new: rebuilt(replace(node, right=new)))
        case stl.Reach():
            yield from _implications(node.left, positive, lambda new: rebuilt(replace(node, left=new)))
            yield from _implications(node.right, positive, lambda new: rebuilt(replace(node, right=new)))
        case stl.Window() | stl.Step():
            yield from _implications(node.body, positive, lambda new: rebuilt(replace(node, body=new)))


def _later(formula: Formula, steps: int) -> Formula:
    for _ in range(steps):
        formula = Unary("X", formula)
    return formula


def _one_of(side: str, symbols: list[str], of: int) -> Formula:
    if not symbols or len(symbols) == of:
        return Truth(bool(symbols))
    return Atom(side, tuple(symbols))
