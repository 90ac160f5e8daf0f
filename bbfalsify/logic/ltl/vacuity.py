"""Detect requirements that hold only because their trigger never occurred.

    G(in == publish & out == ok -> F out == delivered)

holds on a machine that refuses every publish, and says nothing about it.  A part that is only required after a trigger
(the right side of an implication, the end of a weak until) is replaced by `false`; if the machine satisfies that, too,
the trigger never occurred where it mattered (Beer and others; Kupferman and Vardi).  Allowed alternatives that never
occur are no trigger: `G(in == get -> out in {ok, busy})` is not vacuous where no answer is busy.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.logic.ltl.ltl_formula import Atom, Binary, Formula, Truth, Unary, atoms, nodes_of, propositional, quote
from bbfalsify.logic.ltl.monitors import MonitorProperty
from bbfalsify.logic.ltl.properties import LtlfProperty, LtlProperty, Property
from bbfalsify.logic.ltl.sampled_stl import SampledProperty
from bbfalsify.logic.ltl.violation_search import find_violation

REFUSALS = re.compile(
    r"err|fail|refus|reject|den(y|ied)|invalid|illegal|unknown|unsupported|closed|time.?out|nack?\b|^[45]\d\d", re.I
)
"""Names of answers that mean a refusal."""
MOST_TRIGGERS = 20
"""Limit, because each costs a translation and a search."""
Trigger = tuple[Formula, Formula, Formula]
"""The trigger, the part that it requires, and the whole formula with `false` in place of that part."""


def vacuity(machine: MealyMachine, property: Property) -> str | None:
    """Explain in a sentence why a requirement that the machine satisfies holds only vacuously; None if it does not."""
    answers = _answers(machine)
    if isinstance(property, LtlProperty | LtlfProperty):
        named = {o for o in machine.outputs if any(atom.side == "out" and atom.holds(o) for atom in property.atoms)}
        found = _trigger(machine, property, answers) or _refused(property, answers, named)
        return found or _silent(answers, named)
    if isinstance(property, MonitorProperty):
        return _unmoved(machine, property)
    return None


def _answers(machine: MealyMachine) -> dict[str, list[str]]:
    """The outputs that each input can get, over all reachable states."""
    reached, pending = {machine.initial}, [machine.initial]
    for state in pending:
        for target in machine.successor[state].tolist():
            if target not in reached:
                reached.add(target)
                pending.append(target)
    return {
        symbol: sorted({machine.outputs[machine.answer[s, i]] for s in reached})
        for i, symbol in enumerate(machine.inputs)
    }


def _trigger(machine: MealyMachine, property: LtlProperty | LtlfProperty, answers: dict[str, list[str]]) -> str | None:
    # For sampled signals only implications are triggers: their windows become disjunctions that no user wrote.
    triggers = property.triggered() if isinstance(property, SampledProperty) else triggered(property.formula)
    for trigger, rest, stronger in itertools.islice(triggers, MOST_TRIGGERS):
        if find_violation(machine, _with(property, stronger)) is None:
            return f"'{trigger}' never happens where '{rest}' would be asked for{_because(trigger, answers)}"
    return None


def _with(property: LtlProperty | LtlfProperty, formula: Formula) -> Property:
    return LtlProperty(formula) if isinstance(property, LtlProperty) else LtlfProperty(formula, ends=property.ends)


def triggered(formula: Formula) -> Iterator[Trigger]:
    """Yield the triggers from outside to inside."""
    yield from _inside(formula, True, lambda whole: whole)


def _inside(formula: Formula, positive: bool, rebuilt: Callable[[Formula], Formula]) -> Iterator[Trigger]:
    """Yield triggers below a part; `positive`: it is not under a negation, where everything is dual."""
    match formula:
        case Unary(operator, body):
            around = lambda new: rebuilt(Unary(operator, new))  # noqa: E731
            yield from _inside(body, positive != (operator == "!"), around)
        case Binary("<->"):
            return  # both directions at once: neither side is a trigger
        case Binary(operator, left, right):
            in_left = lambda new: rebuilt(Binary(operator, new, right))  # noqa: E731
            in_right = lambda new: rebuilt(Binary(operator, left, new))  # noqa: E731
            asked = _asked(operator, left, right, positive)
            if asked is not None and not isinstance(asked[1], Truth):
                place = in_right if asked[1] is right else in_left
                yield asked[0], asked[1], place(Truth(not positive))
            yield from _inside(left, positive != (operator == "->"), in_left)
            yield from _inside(right, positive, in_right)


def _asked(operator: str, left: Formula, right: Formula, positive: bool) -> tuple[Formula, Formula] | None:
    """Return (trigger, required part) of one operator."""
    plain = propositional(left) and propositional(right)
    match operator, positive:
        case "->", True:
            return left, right
        case "|", True if not plain and _negative(left):  # !p | q; where both are wanted, either may do
            return _opposite(left), right
        case "&", False if not plain:
            return left, right
        case "W", True:  # p W q: when p ends, q is asked for
            return _opposite(left), right
        case "R", True:  # p R q: when q ends, p must have been
            return _opposite(right), left
        case "U", False:
            return right, left
        case "M", False:
            return left, right
    return None


def _negative(formula: Formula) -> bool:
    match formula:
        case Unary("G", body):
            return _negative(body)
        case Unary("!"):
            return True
    return False


def _opposite(formula: Formula) -> Formula:
    match formula:
        case Unary("!", body):
            return body
        case Unary("G", body):
            return Unary("F", _opposite(body)) if not propositional(body) else _opposite(body)
    return Unary("!", formula)


def _because(trigger: Formula | str, answers: dict[str, list[str]]) -> str:
    """Name the inputs of the trigger that always get the same answer, as an explanation."""
    if isinstance(trigger, str):
        return ""
    named = {s for node in nodes_of(trigger) if isinstance(node, Atom) and node.side == "in" for s in node.symbols}
    constant = [s for s in sorted(named) if len(answers.get(s, [])) == 1]
    if not constant or all(atom.side == "in" for atom in atoms(trigger)):
        return ""
    return ": " + ", ".join(f"{quote(s)} is always answered {quote(answers[s][0])}" for s in constant)


def _refused(property: LtlProperty | LtlfProperty, answers: dict[str, list[str]], named: set[str]) -> str | None:
    for atom in property.atoms:
        for symbol in atom.symbols if atom.side == "in" else ():
            got = answers.get(symbol, [])
            if len(got) == 1 and got[0] not in named and REFUSALS.search(got[0]):
                return f"the input {quote(symbol)} was never accepted: it is always answered {quote(got[0])}"
    return None


def _silent(answers: dict[str, list[str]], named: set[str]) -> str | None:
    """Detect a system that gives the same answer to every input."""
    different = {output for got in answers.values() for output in got}
    if len(different) == 1 and len(answers) > 1 and not different & named:
        return f"the system answers {quote(next(iter(different)))} to every input"
    return None


def _unmoved(machine: MealyMachine, property: MonitorProperty) -> str | None:
    """Detect a monitor that never leaves its first state."""
    automaton = property.plain(machine.inputs)
    pending, seen = [machine.initial], {machine.initial}
    for state in pending:
        for i, symbol in enumerate(machine.inputs):
            answer = machine.outputs[machine.answer[state, i]]
            if automaton.table[0][automaton.number(symbol, answer)] != (0,):
                return None
            target = int(machine.successor[state, i])
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return f"the monitor never leaves its first state '{property.names[0]}'"
