"""A trace of `reach` in lines of text: when, who, and what changed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from bbfalsify.engines.reachability.trace import ConcreteTrace
from bbfalsify.modelling.network import Network
from bbfalsify.running.reach import ReachOutcome, ReachResult
from bbfalsify.running.traces import who

FIRST, LAST = 15, 25
"""Of a long trace, so many steps at each end are shown."""


def trace_lines(network: Network, trace: ConcreteTrace, *, everything: bool = False) -> Iterator[str]:
    """One line per step; the middle of a long trace is left out unless everything is wanted."""
    hidden = 0 if everything or len(trace.steps) <= FIRST + LAST + 1 else len(trace.steps) - FIRST - LAST
    width = max(8, len(_shown(trace.time)))
    yield f"{'step':>6}  {'time':>{width}}  {'delay':>{width}}"
    for number, step in enumerate(trace.steps, start=1):
        if hidden and FIRST < number <= FIRST + hidden:
            if number == FIRST + 1:
                yield f"{'':>6}  … {hidden} steps (all of them in the trace file) …"
            continue
        changes = ", ".join(f"{name} = {value}" for name, value in step.changes)
        movers = "; ".join(who(network, move) for move in step.moves)
        label = "" if step.action in movers.replace(" -> ", "->") else f"  [{step.action}]"
        line = f"{number:6}  {_shown(step.time):>{width}}  {_shown(step.delay):>{width}}  {movers}{label}"
        yield f"{line}  {changes}" if changes else line
    if trace.waits:
        yield f"{'':6}  {_shown(trace.time):>{width}}  {_shown(trace.waits):>{width}}  (waiting)"
    if trace.failing:
        yield f"{'':6}  fails: " + "; ".join(who(network, move) for move in trace.failing)


def _shown(value: Fraction | float) -> str:
    return f"{float(value):.6g}"


def end_lines(network: Network, trace: ConcreteTrace) -> Iterator[str]:
    """The state in which the trace ends."""
    here = [f"{p.name}.{p.locations[i].name}" for p, i in zip(network.processes, trace.end.locations, strict=True)]
    yield "locations: " + ", ".join(here)
    values = []
    for v in network.variables:
        store = trace.end.reals if v.kind.is_real else trace.end.integers
        shown = [_shown(x) if v.kind.is_real else str(x) for x in store[v.slot : v.slot + v.size]]
        values.append(f"{v.name} = {shown[0] if v.size == 1 else '{' + ', '.join(shown) + '}'}")
    if values:
        yield "values: " + ", ".join(values)


def effort_lines(result: ReachResult) -> Iterator[str]:
    """What the search did, and what it stumbled upon."""
    found = result.found
    rate = f", {found.steps / found.seconds:,.0f} steps per second" if found.seconds > 0.1 else ""
    yield f"{found.walks} walks, {found.steps} steps in {found.seconds:.2f} s{rate}"
    if found.timelocks:
        yield (
            f"note: {found.timelocks} walks ended in a timelock: time can pass no further and nothing can fire "
            "(E<> deadlock gives a trace)"
        )
    if found.zeno:
        yield f"note: {found.zeno} walks went on without time passing (a zeno run): some cycle takes no time"
    for problem in found.unconfirmed[:3]:
        yield f"note: a walk was not confirmed by the exact interpreter and does not count: {problem}"
    if len(found.unconfirmed) > 3:
        yield f"note: … and {len(found.unconfirmed) - 3} more walks that were not confirmed"


def outcome_line(result: ReachResult) -> str:
    query, finding = result.query, result.finding
    if result.outcome is ReachOutcome.REACHED:
        trace = finding.trace
        met = "deadlocked" if trace.deadlocked else result.query.holds_word
        return (
            f"{query.text}: {query.holds_word.upper()}{' (deadlock)' if met == 'deadlocked' else ''} after "
            f"{len(trace.steps)} steps and {float(trace.time):g} time units, by {finding.heuristic.value} in its walk "
            f"{finding.walk}; every step re-checked by the exact interpreter"
        )
    if result.outcome is ReachOutcome.MODEL_ERROR:
        return f"{query.text}: THE MODEL FAILS after {len(finding.trace.steps)} steps: {finding.trace.error}"
    why = "the time is up" if result.found.stopped == "timeout" else "all walks are made"
    word = "not falsified" if query.universal else "not reached"
    return f"{query.text}: {word.upper()} ({why}; random walks prove nothing)"
