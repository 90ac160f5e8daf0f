"""Updates of clocks: they may set them to integers and copy them; other uses of clocks have no zones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.expressions import Kind, Read
from bbfalsify.modelling.network.visit import expressions_of, substatements
from bbfalsify.zones.bounds import ClockEffects
from bbfalsify.zones.zone_conditions import Clock, Conditions, NoZones, clock_of


def clock_effects(
    conditions: Conditions, functions: Sequence[ex.Function], statements: Sequence[ex.Statement]
) -> ClockEffects:
    """Effects of updates on clocks, or NoZones."""
    effects = ClockEffects()
    for statement in _all(statements, functions, frozenset()):
        _check(conditions, statement, effects)
    for statement in _certain(statements, functions):
        match statement:
            case ex.Assign(target=Read(kind=Kind.CLOCK) as target, value=value) if not conditions.reads_clock(value):
                clock = clock_of(target.slot, target.index, target.size)
                if clock.index is None:
                    effects.reset.add(clock.slot)
            case ex.Assign(target=Read(kind=Kind.CLOCK) as target):
                effects.reset.difference_update(clock_of(target.slot, target.index, target.size).slots)
    return effects


def _all(
    statements: Sequence[ex.Statement], functions: Sequence[ex.Function], inside: frozenset[int]
) -> Iterator[ex.Statement]:
    """All statements, also of functions that are called for their effects."""
    for statement in substatements(statements):
        yield statement
        if isinstance(statement, ex.Evaluate) and isinstance(statement.expression, ex.Call):
            number = statement.expression.function
            if number not in inside:
                yield from _all(functions[number].body, functions, inside | {number})


def _certain(statements: Sequence[ex.Statement], functions: Sequence[ex.Function]) -> Iterator[ex.Statement]:
    """Assignments that are certainly executed."""
    for statement in statements:
        if any(isinstance(inner, ex.Return) for inner in substatements([statement])):
            return
        if isinstance(statement, ex.Evaluate) and isinstance(statement.expression, ex.Call):
            yield from _certain(functions[statement.expression.function].body, functions)
        yield statement


def _check(conditions: Conditions, statement: ex.Statement, effects: ClockEffects) -> None:
    match statement:
        case ex.Assign(target=Read(kind=Kind.CLOCK) as target, value=value):
            if target.index is not None and conditions.reads_clock(target.index):
                raise NoZones("an index depends on a clock")
            if conditions.reads_clock(value):
                source, plain = _copied(conditions, value)
                effects.copies.append((clock_of(target.slot, target.index, target.size).slots, source.slots, plain))
        case ex.Assign(target=Read(kind=Kind.DOUBLE)):
            raise NoZones("a double is assigned; use integers, or multiply to make all values whole")
        case ex.Evaluate(expression=ex.Call(arguments=arguments)):
            if any(conditions.reads_clock(argument) for argument in arguments):
                raise NoZones("a function is called with the value of a clock")
        case ex.If() | ex.While():
            if conditions.reads_clock(statement.condition):
                raise NoZones("a choice in an update depends on a clock; split the edge instead")
        case _:
            if any(conditions.reads_clock(e) for e in expressions_of([statement])):
                raise NoZones("the value of a clock is stored elsewhere than in a clock")


def _copied(conditions: Conditions, value: ex.Expression) -> tuple[Clock, bool]:
    """The clock in `x`, `x + 3` or `x - k`, and whether nothing is added."""
    left, right, _ = conditions._difference(ex.Binary("==", value, ex.Constant(0, Kind.INT), Kind.BOOL))
    if left is None or right is not None:
        raise NoZones("a clock is assigned something else than an integer, or a clock plus an integer")
    return left, isinstance(value, Read)
