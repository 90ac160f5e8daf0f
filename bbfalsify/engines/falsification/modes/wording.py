"""Sentences and names of failure modes.

    sentence   on, then on 4 to 5 later, then on within 5
    name       on×3

A name is made of the core alone (of a mode without actions: of its values), so it survives other seeds and releases,
where limits of conditions move.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from bbfalsify.engines.falsification.modes.moments import Held, Moving, Rise
from bbfalsify.engines.falsification.modes.pattern import Condition, Free, Gap, Lasting, Level, Pattern, Window

NEARLY_ALWAYS = 0.99


def name_of(pattern: Pattern) -> str:
    """on×3·off; or, without actions, throttle high, brake low."""
    if pattern.core:
        runs = ((action, len(list(group))) for action, group in itertools.groupby(pattern.core))
        return "·".join(action if count == 1 else f"{action}×{count}" for action, count in runs)
    sides = [f"{_subject(c)} {_side(c)}" for c in pattern.conditions]
    sides = sorted(sides) if pattern.moving else sides
    return ", ".join(dict.fromkeys(sides)) or "any use"


def names_of(patterns: Sequence[Pattern]) -> list[str]:
    """Names that differ, also where two patterns have one core: the later one gets a number."""
    names: list[str] = []
    seen: dict[str, int] = {}
    for pattern in patterns:
        name = name_of(pattern)
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def sentence_of(pattern: Pattern, units: Mapping[str, str], fails: float = 0.0) -> str:
    """The pattern in words; `units` of the values; `fails`: how often uses with it violate."""
    if pattern == Pattern(()):
        return "any use" if fails >= NEARLY_ALWAYS else "any use: no short pattern found"
    gaps = {c.feature.action: c for c in pattern.conditions if isinstance(c.feature, Gap)}
    parts = []
    for number, action in enumerate(pattern.core):
        text = f"then {action}" if number else action
        if number in gaps:
            text += f" {_delay(gaps[number], first=number == 0)}"
        levels = [c for c in pattern.conditions if isinstance(c.feature, Level) and c.feature.action == number]
        if levels:
            text += " with " + " and ".join(_limits(c, units) for c in levels)
        parts.append(text)
    windows = [(c, c.feature) for c in pattern.conditions if isinstance(c.feature, Window)]
    windows = sorted(windows, key=lambda pair: (pair[1].start, pair[1].end, pair[1].name))
    values = [_limits(c, units) + _when(at) + _some_time(c, at) for c, at in windows]
    lasting = [(c, c.feature) for c in pattern.conditions if isinstance(c.feature, Lasting)]
    values += [f"at some time {_limits(c, units)} for {at.length:g}" for c, at in lasting]
    said = ", ".join([*_counted(pattern.core, parts), *values, *_at_a_moment(pattern.moving, units)])
    absent = sorted(pattern.absent)
    said = f"{said}, without {' or '.join(absent)} in between" if absent else said
    return ", ".join([said, *_quiet(pattern)])


def _at_a_moment(moving: Sequence[tuple[Condition, Moving]], units: Mapping[str, str]) -> Iterator[str]:
    """at some time u rises by 6 or more, with d ≥ 0.3 for 2"""
    before = [_limits(c, units) for c, at in moving if isinstance(at, Held) and at.start < 0]
    jumps = [_jump(c, at, units) for c, at in moving if isinstance(at, Rise)]
    after = [f"{_limits(c, units)} for {at.end:g}" for c, at in moving if isinstance(at, Held) and at.start >= 0]
    parts = [f"{' and '.join(before)} before"] * bool(before) + [" and ".join(jumps)] * bool(jumps)
    parts += [("with " if parts else "") + " and ".join(after)] * bool(after)
    if parts:
        yield "at some time " + ", ".join(parts)


def _jump(condition: Condition, feature: Rise, units: Mapping[str, str]) -> str:
    name, low, high = feature.name, condition.low, condition.high
    unit = f" {units[name]}" if name in units else ""
    if math.isfinite(low) and math.isfinite(high):
        return f"{name} changes by {low:g} to {high:g}{unit}"
    limit, verb = (low, "rises") if math.isfinite(low) else (-high, "falls")
    return f"{name} {verb} by {limit:g}{unit} or more"


def _quiet(pattern: Pattern) -> Iterator[str]:
    """no off for 13.8; with several actions, after which one"""
    for condition in pattern.conditions:
        if isinstance(condition.feature, Free):
            since = " after the last" if condition.feature.action else " after the first"
            since = since if len(pattern.core) > 1 else ""
            yield f"no {condition.feature.name} for {condition.low:g}{since}"


def _counted(core: Sequence[str], parts: Sequence[str]) -> list[str]:
    """Say what comes again and again shorter: on 3 times, the first by 5; up 5 times, then stop, then up 3 times."""
    if len(parts) >= 3 and all(part == f"then {core[0]}" for part in parts[1:]):
        times, how = f"{core[0]} {len(parts)} times", parts[0][len(core[0]) :]
        return [times, f"the first{how}"] if how else [times]
    said: list[str] = []
    for first, last in _runs(core, parts):
        count, head, action = last - first, parts[first], core[first]
        if count < 3:
            said += parts[first:last]
        elif head.removeprefix("then ") == action:
            said.append(f"{head} {count} times")
        else:
            said += [head, f"then {action} {count - 1} more times"]
    return said


def _runs(core: Sequence[str], parts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where the same action comes one time after the other, all but the first without conditions."""
    starts = [0] + [k for k in range(1, len(parts)) if core[k] != core[k - 1] or parts[k] != f"then {core[k]}"]
    yield from zip(starts, [*starts[1:], len(parts)], strict=True) if parts else ()


def _delay(condition: Condition, *, first: bool) -> str:
    low, high = condition.low, condition.high
    if math.isinf(low):
        return f"by {high:g}" if first else f"within {high:g}"
    if math.isinf(high):
        return f"at {low:g} or later" if first else f"after {low:g} or more"
    return f"between {low:g} and {high:g}" if first else f"{low:g} to {high:g} later"


def _limits(condition: Condition, units: Mapping[str, str]) -> str:
    subject, low, high = _subject(condition), condition.low, condition.high
    unit = f" {units[subject]}" if subject in units else ""
    if isinstance(condition.feature, Window) and condition.feature.extreme == "mean":
        subject += " on average"
    if math.isinf(low):
        return f"{subject} ≤ {high:g}{unit}"
    if math.isinf(high):
        return f"{subject} ≥ {low:g}{unit}"
    return f"{subject} from {low:g} to {high:g}{unit}"


def _when(window: Window) -> str:
    if math.isinf(window.end):
        return ""
    return f" until {window.end:g}" if window.start <= 0 else f" from {window.start:g} to {window.end:g}"


def _some_time(condition: Condition, window: Window) -> str:
    """A limit of the greatest value from below, or of the least from above, holds at some time, not throughout."""
    if window.extreme == "mean":
        return ""
    open_side = condition.high if window.extreme == "greatest" else condition.low
    return " at some time" if math.isinf(open_side) else ""


def _subject(condition: Condition) -> str:
    feature = condition.feature
    return "time" if isinstance(feature, Gap) else feature.name


def _side(condition: Condition) -> str:
    if isinstance(condition.feature, Rise):
        return "rises" if condition.low > 0 else "falls"
    return "low" if math.isinf(condition.low) else "high" if math.isinf(condition.high) else "within limits"
