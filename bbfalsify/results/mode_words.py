"""Failure modes in words: the sentences that terminal, notebook, report and CI share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bbfalsify.core.estimate import BOTH
from bbfalsify.core.odds import ALL, odds, odds_interval, percent
from bbfalsify.results.falsify_modes import FailureMode

if TYPE_CHECKING:
    from bbfalsify.results.falsify_result import RequirementResult


ANY_USE = "any use"
"""Name of a mode that has neither actions nor conditions."""

NEARLY_ALL = 0.99
MOSTLY = 0.9
"""Less of the violations than this leaves a rest worth a word."""
HARDLY_EVER = 0.001
"""Shares below this are not told apart."""
WIDE = 10
"""An interval whose upper limit is so many times the value is that of known violations beside a bound of others."""
TELLING = 0.5
"""A mode whose pattern fails less often does not explain its violations."""


def violation_sentence(row: RequirementResult) -> str:
    """R1, never above 75 degrees: violated in at least 1 of 206 uses [199, 215]"""
    return f"{row.id}, {row.text or row.stl}: {violated_in(row)}"


def violated_in(row: RequirementResult) -> str:
    """violated in 1 of 206 uses [199, 215]; "at least" where violations never seen may lead beyond the interval"""
    known = row.violation
    assert known is not None
    if known.none_seen:
        return f"violated, but in {odds_interval(known).replace('1 in ', '1 of ')} uses"
    hidden = row.unseen is not None and known.value + row.unseen.high > known.high and not known.method.endswith(BOTH)
    hidden |= known.high > WIDE * known.value
    value, bracket, interval = odds_interval(known).partition(" [")
    uses = "of uses" if value.endswith("%") else "uses"
    return f"violated in {'at least ' if hidden else ''}{value.replace('1 in ', '1 of ')} {uses}{bracket}{interval}"


def held_together(text: str) -> str:
    """The text with spaces that do not break inside an interval, a share or odds."""
    return re.sub(r"\[[^]]*\]|\d %|1 (?:in|of) [\d.,]+(?: [mb]illion)?", lambda m: m[0].replace(" ", "\xa0"), text)


def explanation(row: RequirementResult, modes: Sequence[FailureMode]) -> str:
    """How much the modes explain, and what may be missing."""
    known, other, unseen = row.violation, row.other, row.unseen
    assert known is not None
    rest = 0.0 if other is None else other.value
    explained = 1.0 - min(1.0, rest / known.value) if known.value > 0 else 0.0
    if modes and all(mode.name == ANY_USE for mode in modes):
        if known.high >= ALL and known.value >= NEARLY_ALL:
            return "it is violated whatever the actions and values are"
        return "no short pattern tells these uses from those that pass"
    # A pattern that mostly passes is on the way to these violations; it does not say why they happen.
    telling = sum(mode.probability.value for mode in modes if mode.precision.value >= TELLING)
    verb = "explain" if telling >= MOSTLY * sum(mode.probability.value for mode in modes) else "cover"
    named = f"1 failure mode {verb}s" if len(modes) == 1 else f"{len(modes)} failure modes {verb}"
    again = "no simulation met a violation again"
    if modes and all(mode.probability.none_seen for mode in modes):
        return f"{len(modes)} failure mode{'s' * (len(modes) > 1)} known from the search alone: {again}"
    if not modes and known.none_seen:
        return f"{again}; plain simulation beside it (smc) tells how rare it is"
    text = f"{named} {percent(explained)} of that" if modes else "no failure mode could be named"
    if modes and explained < MOSTLY:
        text += ", the rest has no short pattern in common"
    return text if unseen is None else f"{text}; unseen violations may add up to {odds(unseen.high)}"


def fails(mode: FailureMode) -> str:
    """How often the pattern fails when it occurs: 82 % [75, 90]"""
    known = mode.precision
    if known.none_seen:
        return f"less than {percent(known.high)}" if known.samples else "unknown"
    if known.high < HARDLY_EVER:
        return f"less than {percent(HARDLY_EVER)}"
    value, low, high = (
        percent(0.0 if share < HARDLY_EVER else share) for share in (known.value, known.low, known.high)
    )
    if value == low == high or known.samples == 0:
        return value
    return f"{value} [{low.removesuffix(' %')}, {high.removesuffix(' %')}]"


def mode_texts(modes: Sequence[FailureMode]) -> Iterator[str]:
    """One line per mode: #1 on 4 times: 1 in 314 [304, 325], fails 18 % [15, 22]"""
    for mode in modes:
        yield f"#{mode.rank} {mode.sentence}: {odds_interval(mode.probability)}, fails {fails(mode)}"


def like(name: str, modes: Sequence[FailureMode]) -> list[str]:
    """Names of modes that may be the one with this name in another version: the actions of one contain the other's."""
    return [mode.name for mode in modes if _within(name, mode.name) or _within(mode.name, name)]


def _within(part: str, whole: str) -> bool:
    rest = iter(_actions(whole))
    return all(action in rest for action in _actions(part))


def _actions(name: str) -> list[str]:
    """The core that a name was made of: on×3·off (2) is on, on, on, off; of values, throttle high, brake low."""
    found = []
    for part in re.split(r"·|, ", re.sub(r" \(\d+\)$", "", name)):
        times = re.fullmatch(r"(.+)×(\d{1,3})", part)
        found += [part] if times is None else [times[1]] * int(times[2])
    return found


def time_text(mode: FailureMode) -> str | None:
    """violated between 13.9 and 20, half of it by 16.2"""
    times = mode.time_to_violation
    if times is None:
        return None
    first, median, last = (f"{time:.4g}" for time in (times.first, times.median, times.last))
    return f"violated at {first}" if first == last else f"violated between {first} and {last}, half of it by {median}"


def rank_change_text(mode: FailureMode) -> str | None:
    """as probable as mode 2 if weight of close × 1.7"""
    swap = mode.rank_changes
    if swap is None:
        return None
    other = swap.second if mode.rank == swap.first else swap.first
    text = f"as probable as mode {other} if {swap.parameter} × {swap.factor:.2g}"
    return f"{text} (uncertain: the two are about as probable now)" if swap.low <= 1 <= swap.high else text
