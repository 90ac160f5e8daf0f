"""Trace files of `reach`: everything needed to follow a trace again on the model as it is now.

SAME      the model still allows every step, and the query's target is still met at the end
FIXED     a step is not allowed any more, or the target is not met
CHANGED   the model has no such processes, locations or edges any more
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from bbfalsify.core.checksums import KEY as CHECKSUM
from bbfalsify.core.checksums import content_checksum
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.verdict import ReplayOutcome
from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace, TraceStep, fails, follow, met
from bbfalsify.engines.reachability.endless_runs import Endings
from bbfalsify.logic.reach_query import ExtremesQuery, LivenessQuery, parse_asked, parse_query
from bbfalsify.modelling import Network
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.network import HIDDEN, Variable
from bbfalsify.modelling.reference.state import Move, State
from bbfalsify.modelling.reference.step_replay import NotAllowed, Replayer
from bbfalsify.records.json_files import read_json, write_atomically
from bbfalsify.records.manifest import versions

FORMAT_VERSION = 1
KIND = "reach trace"


def trace_json(network: Network, trace: ConcreteTrace) -> dict[str, Any]:
    """The trace in words and numbers; "exact" beside a number that no float64 holds."""
    reals = sorted((v for v in network.variables if v.kind.is_real), key=lambda v: v.slot)
    integers = sorted((v for v in network.variables if not v.kind.is_real), key=lambda v: v.slot)
    return {
        "length": len(trace.steps),
        **_number("time", trace.time),
        "deadlock": trace.deadlocked,
        "error": trace.error,
        "steps": [_step_json(network, step) for step in trace.steps],
        **_number("waits", trace.waits),
        "failing": [who(network, move) for move in trace.failing],
        "failing_moves": [list(move) for move in trace.failing],
        "begin": {
            "integers": _by_element(integers, network.initial_integers()),
            "reals": _by_element(reals, [float(v) for v in network.initial_reals()]),
        },
        "end": {
            "reals": _by_element(reals, [float(v) for v in trace.end.reals]),
            "locations": {
                p.name: p.locations[here].name for p, here in zip(network.processes, trace.end.locations, strict=True)
            },
            "variables": {
                **{v.name: _values(trace.end.integers[v.slot : v.slot + v.size]) for v in _changing(network, integers)},
                **{v.name: _values([float(r) for r in trace.end.reals[v.slot : v.slot + v.size]]) for v in reals},
            },
        },
    }


def _changing(network: Network, integers: list[Variable]) -> list[Variable]:
    """The variables that some update writes: tables of constants would hide them."""
    updates = [u for p in network.processes for e in p.edges for b in e.branches for u in b.updates]
    written = EffectAnalysis(network.functions).statements(updates).writes
    shown = [v for v in integers if HIDDEN not in v.name]
    return [v for v in shown if any(("i", slot) in written for slot in range(v.slot, v.slot + v.size))]


def _by_element(variables: Sequence[Variable], values: Sequence[Any]) -> dict[str, Any]:
    """Values by name, those of arrays by element, in the order of their slots."""
    return {
        f"{v.name}[{i}]" if v.size > 1 else v.name: values[v.slot + i] for v in variables for i in range(v.size)
    }  # fmt: skip


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 9) for value in values]


def _values(values: Any) -> Any:
    return list(values) if len(values) != 1 else values[0]


def _number(name: str, value: Fraction | float) -> dict[str, Any]:
    exact = isinstance(value, Fraction) and Fraction(float(value)) != value
    return {name: float(value), **({f"{name}_exact": str(value)} if exact else {})}


def _step_json(network: Network, step: TraceStep) -> dict[str, Any]:
    return {
        **_number("time", step.time),
        **_number("delay", step.delay),
        "action": step.action,
        "who": [who(network, move) for move in step.moves],
        "moves": [list(move) for move in step.moves],
        "changes": dict(step.changes),
        **({} if step.values is None else {"values": list(step.values)}),
        **({"before": _rounded(step.before), "after": _rounded(step.after)} if step.after else {}),
    }


def who(network: Network, move: Move) -> str:
    process = network.processes[move[0]]
    edge = process.edges[move[1]]
    source, target = process.locations[edge.source].name, process.locations[edge.branches[move[2]].target].name
    return f"{process.name}: {source} -> {target}"


def write_trace(path: Path, network: Network, trace: ConcreteTrace, about: Mapping[str, Any]) -> None:
    """`about`: model or example, query, heuristic, seed, and how it was found."""
    data = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        **about,
        "versions": versions(),
        **trace_json(network, trace),
    }
    lines = []
    data[CHECKSUM] = content_checksum(json.loads(json.dumps(data)))
    for key, value in data.items():
        if key == "steps" and value:
            text = "[\n" + ",\n".join("    " + json.dumps(step, ensure_ascii=False) for step in value) + "\n  ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        lines.append(f"  {json.dumps(key)}: {text}")
    write_atomically(path, "{\n" + ",\n".join(lines) + "\n}\n")


def is_trace_file(data: Any) -> bool:
    return isinstance(data, dict) and data.get("kind") == KIND


@dataclass(frozen=True)
class TraceReplay:
    outcome: ReplayOutcome
    explanation: str
    data: Mapping[str, Any]


def replay_trace(file: str | Path, network: Network) -> TraceReplay:
    """Follow a trace file on a model with the exact interpreter."""
    data = read_json(file)
    try:
        return _replay(data, network)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        what = f"{type(error).__name__} {str(error)[:200]}"
        raise UserError(Problem(f"not a complete trace file: {what}.", str(file))) from None


def read_trace(data: Mapping[str, Any], network: Network) -> ConcreteTrace:
    """Follow a trace that `trace_json` wrote on the same model; raises NotAllowed on another one."""
    replayer = Replayer(network)
    steps, state = _followed(data, replayer)
    waits = _exact(data, "waits")
    failing = tuple(map(_move, data["failing_moves"]))
    end = state if failing else replayer.wait(state, waits)
    return ConcreteTrace(tuple(steps), waits, end, data["deadlock"], data["error"], failing)


def _followed(data: Mapping[str, Any], replayer: Replayer) -> tuple[list[TraceStep], State]:
    moves = [tuple(map(_move, step["moves"])) for step in data["steps"]]
    times = [_exact(step, "time") for step in data["steps"]]
    drawn = [tuple(step["values"]) if "values" in step else None for step in data["steps"]]
    return follow(replayer, moves, times, drawn if any(drawn) else None)


def _move(numbers: Any) -> Move:
    process, edge, branch = numbers
    return int(process), int(edge), int(branch)


def _replay(data: Mapping[str, Any], network: Network) -> TraceReplay:
    for number, step in enumerate(data["steps"], start=1):
        problem = _unknown(network, tuple(map(_move, step["moves"])), step["who"])
        if problem is not None:
            return TraceReplay(ReplayOutcome.CHANGED, f"step {number}: {problem}", data)
    replayer = Replayer(network)
    try:
        _, state = _followed(data, replayer)
    except NotAllowed as problem:
        return TraceReplay(ReplayOutcome.FIXED, f"the model does not allow it any more: {problem}", data)
    if data.get("error"):
        failing = tuple(map(_move, data["failing_moves"]))
        if fails(replayer, state, failing, _exact(data, "waits")):
            return TraceReplay(ReplayOutcome.SAME, f"the model still fails: {data['error']}", data)
        return TraceReplay(ReplayOutcome.FIXED, "the model does not fail there any more", data)
    if "ends" in data:
        return _replay_endless(data, network, replayer)
    asked = parse_asked(data["query"], network)
    if isinstance(asked, ExtremesQuery):
        return TraceReplay(ReplayOutcome.SAME, f"the model still allows its {len(data['steps'])} steps", data)
    query = parse_query(data["query"], network)
    try:
        met(replayer, query, state, _exact(data, "waits"))
    except NotAllowed as problem:
        return TraceReplay(ReplayOutcome.FIXED, str(problem), data)
    return TraceReplay(ReplayOutcome.SAME, f"the query is {query.holds_word} after {len(data['steps'])} steps", data)


def _replay_endless(data: Mapping[str, Any], network: Network, replayer: Replayer) -> TraceReplay:
    """Follow a run whose end goes on for ever."""
    query = parse_asked(data["query"], network)
    assert isinstance(query, LivenessQuery)
    steps, _ = _followed(data, replayer)
    ending = Endings(network, query).first(replayer, steps, _exact(data, "waits"))
    if ending is None or ending.kind != data["ends"]["kind"]:
        return TraceReplay(ReplayOutcome.FIXED, "the run does not avoid the condition for ever any more", data)
    return TraceReplay(ReplayOutcome.SAME, f"the query is {query.holds_word}: the run {ending.in_words()}", data)


def _exact(data: Mapping[str, Any], name: str) -> Fraction:
    return Fraction(data.get(f"{name}_exact", data[name]))


def _unknown(network: Network, moves: tuple[Move, ...], names: list[str]) -> str | None:
    for (process, edge, branch), expected in zip(moves, names, strict=True):
        edges = network.processes[process].edges if process < len(network.processes) else ()
        if edge >= len(edges) or branch >= len(edges[edge].branches):
            return f"the model has no '{expected}' any more."
        found = who(network, (process, edge, branch))
        if found != expected:
            return f"the model has '{found}' where it had '{expected}'."
    return None
