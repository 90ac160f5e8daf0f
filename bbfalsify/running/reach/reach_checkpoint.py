"""The state of a search for a model's state as a checkpoint (`records/checkpoint.py`).

The next turn depends on the turns made (their seeds have names), on the counters of RLC-A, and, for shorter or faster
traces, on the best one so far; for several traces, on those that are known.
"""

from __future__ import annotations

import zlib
from typing import Any

from bbfalsify.core.errors import UserError
from bbfalsify.engines.reachability.walk_search import Found, ReachFinding, Standing
from bbfalsify.kernel.target_search import Heuristic
from bbfalsify.modelling import Network
from bbfalsify.modelling.reference.step_replay import NotAllowed
from bbfalsify.records.checkpoint import pack_array, unpack_array
from bbfalsify.running.reach.trace_files import read_trace, trace_json

_COUNTS = ("walks", "steps", "seconds", "deadlocks", "timelocks", "zeno", "repeated")
_FINDINGS = ("findings", "others")
_OF_A_FINDING = ("walk", "distribution", "depth", "steps", "seconds")


def standing_json(standing: Standing, network: Network) -> dict[str, Any]:
    found = standing.found
    return {
        "turn": standing.turn,
        "depth": standing.depth,
        **{name: getattr(found, name) for name in _COUNTS},
        "unconfirmed": found.unconfirmed,
        **{name: [_finding_json(network, finding) for finding in getattr(found, name)] for name in _FINDINGS},
        "coverage": {heuristic.value: pack_array(array) for heuristic, array in standing.coverage.items()},
    }


def read_standing(data: dict[str, Any] | None, network: Network) -> Standing | None:
    """Return the state to continue from; None where the checkpoint is spoilt, or of another model."""
    if data is None:
        return None
    try:
        found = Found(**{name: data[name] for name in _COUNTS}, unconfirmed=list(data["unconfirmed"]))
        for name in _FINDINGS:
            getattr(found, name).extend(_finding(network, finding) for finding in data[name])
        coverage = {Heuristic(name): unpack_array(array) for name, array in data["coverage"].items()}
        return Standing(found, data["turn"], data["depth"], coverage)
    except (UserError, NotAllowed, KeyError, TypeError, ValueError, zlib.error):
        return None


def _finding_json(network: Network, finding: ReachFinding) -> dict[str, Any]:
    plain = {name: getattr(finding, name) for name in _OF_A_FINDING}
    return {**plain, "heuristic": finding.heuristic.value, "trace": trace_json(network, finding.trace)}


def _finding(network: Network, data: dict[str, Any]) -> ReachFinding:
    plain = {name: data[name] for name in _OF_A_FINDING}
    return ReachFinding(trace=read_trace(data["trace"], network), heuristic=Heuristic(data["heuristic"]), **plain)
