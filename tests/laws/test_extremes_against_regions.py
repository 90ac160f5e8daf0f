"""Largest and smallest values by zones against all regions of small timed automata, by the reference interpreter."""

import random
from fractions import Fraction

import pytest

from bbfalsify.engines.verification.answer import EXACT
from bbfalsify.engines.verification.extremes import ExtremesVerification
from bbfalsify.logic.reach_query import parse_asked
from bbfalsify.zones.explorer import Order
from tests.support.regions import Regions
from tests.support.timed_automata import random_condition, random_network
from tests.support.timed_texts import random_text

JUDGED = 5
"""Regions tell clocks apart up to here."""
BEYOND = Fraction(1 << 30)
REFUSED = (
    "an invariant (or the condition to keep) is a disjunction over clocks",
    "whether an urgent channel can fire depends on clocks",
)
SUMS = {"x": (1, 0, 0), "y": (0, 1, 0), "n": (0, 0, 1), "x + n": (1, 0, 1), "3 - y": (0, -1, 0), "x - y": (1, -1, 0)}
"""Factors of x, y and n."""
CONSTANTS = {"3 - y": 3}


def interval(regions, network, key, expression):
    """Values of an expression in a region: (least, reached, largest, reached); BEYOND stands for values not judged."""
    x, y, n = SUMS[expression]
    state = regions.regions[key].state
    slots = [network.variable(name).slot for name in "xy"]
    values = [(factor, state.reals[slot]) for factor, slot in zip((x, y), slots, strict=True) if factor]
    base = Fraction(n * state.integers[network.variable("n").slot] + CONSTANTS.get(expression, 0))
    large = [factor for factor, value in values if value > JUDGED]
    if large:
        return None if len(values) > 1 else (base + large[0] * BEYOND,) * 2
    whole = base + sum(factor * (value // 1) for factor, value in values)
    parts = sum(factor * (value % 1) for factor, value in values)
    if parts == 0 and (len(values) < 2 or values[0][1] % 1 == values[1][1] % 1):
        return (whole, True), (whole, True)
    return ((whole, False), (whole + 1, False)) if parts > 0 else ((whole - 1, False), (whole, False))


def judged(regions, network, condition, word, expression):
    """The limit by regions as (value, reached), None where no state satisfies the condition; BEYOND: not judged."""
    best = None
    for key in regions.regions:
        if not regions.holds(key, condition):
            continue
        found = interval(regions, network, key, expression)
        if found is None or not isinstance(found[0], tuple):
            if found is None or (found[0] > 0) == (word == "sup"):
                return BEYOND
            continue  # a value that is large does not matter for the least one, if there is a smaller one
        value, reached = found[1] if word == "sup" else found[0]
        rank = (value if word == "sup" else -value, reached)
        best = rank if best is None or rank > best else best
    if best is None:
        return None if not any(regions.holds(key, condition) for key in regions.regions) else BEYOND
    return (best[0] if word == "sup" else -best[0]), best[1]


def compare(network, text, seed):
    """Decide some expressions both ways; return how each ended."""
    try:
        regions = Regions(network, JUDGED)
    except ValueError:  # too many of them to judge by
        return []
    said = []
    drawn = random.Random(f"extremes {seed}")
    for expression in drawn.sample(sorted(SUMS), 3):
        for word in ("sup", "inf"):
            query = parse_asked(f"{word}{{{text}}}: {expression}", network)
            work = ExtremesVerification(
                network, query, order=drawn.choice([Order.BREADTH, Order.DEPTH]), most_bytes=1e9
            )
            answer = work.run(lambda effort: effort.states < 20_000)
            [limit] = answer.limits
            name = (seed, query.text, limit)
            if answer.verdict != EXACT:
                allowed = (*REFUSED, "the time is up", "an invariant forbids")
                assert any(why in str(limit.why) for why in allowed), name
                continue
            expected = judged(regions, network, query.condition, word, expression)
            if expected == BEYOND and expression == "x - y":
                continue  # clocks beyond may differ by any amount
            if limit.unbounded:
                assert expected == BEYOND, (name, expected)
                said.append("unbounded")
            elif expected == BEYOND:
                assert limit.value is not None and abs(limit.value) > JUDGED - 3, name
                said.append("beyond")
            elif expected is None:
                assert limit.value is None, name
                said.append("none")
            else:
                assert (limit.value, limit.reached) == expected, (name, expected)
                said.append("reached" if limit.reached else "approached")
            assert (limit.trace is not None) == (expected is not None), name
    return said


def compared(seed):
    network = random_network(seed)
    return compare(network, random_condition(seed, network), seed)


def compared_text(seed):
    drawn = random_text(seed)
    return [] if drawn is None else compare(drawn.network, drawn.condition, f"text {seed}")


def test_limits_are_those_of_the_regions():
    said = [word for seed in range(20) for word in compared(seed)]
    assert {"unbounded", "reached", "approached", "none"} <= set(said)


def test_limits_of_the_whole_language_are_those_of_the_regions():
    said = [word for seed in range(2, 7) for word in compared_text(seed)]
    assert {"approached", "reached"} <= set(said)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_limits_are_those_of_the_regions_of_five_hundred(block):
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        compared(seed)
        compared_text(seed)
