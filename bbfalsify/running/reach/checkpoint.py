"""Where a search for a state stands, on disk: what a killed search goes on from, and ends as it would have ended.

The next turn depends on the turns made (their seeds have names), on the counters of RLC-A, and, for shorter or faster
traces, on the best one so far.  All of it is in one file, so that no kill can leave parts of two moments.
"""

from __future__ import annotations

import base64
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.engines.reachability.search import Found, ReachFinding, Standing
from bbfalsify.kernel.target_search import Heuristic
from bbfalsify.modelling import Network
from bbfalsify.modelling.reference.step_replay import NotAllowed
from bbfalsify.records.json_files import read_json, write_json
from bbfalsify.running.reach.trace_files import read_trace, trace_json

FORMAT_VERSION = 1
EVERY_S = 2.0
"""A kill costs at most the walks of so long, and of the turn in which it comes."""
_COUNTS = ("walks", "steps", "seconds", "deadlocks", "timelocks", "zeno")
_OF_A_FINDING = ("walk", "distribution", "depth", "steps", "seconds")


class StandingFile:
    def __init__(self, path: Path, requirement: str) -> None:
        self.path, self._requirement = path, requirement
        self._written = time.monotonic()

    def write_now_and_then(self, standing: Standing, network: Network) -> None:
        if time.monotonic() - self._written >= EVERY_S:
            self.write(standing, network)

    def write(self, standing: Standing, network: Network) -> None:
        self._written = time.monotonic()
        found = standing.found
        write_json(
            self.path,
            {
                "format_version": FORMAT_VERSION,
                "requirement": self._requirement,
                "turn": standing.turn,
                "depth": standing.depth,
                **{name: getattr(found, name) for name in _COUNTS},
                "unconfirmed": found.unconfirmed,
                "findings": [_finding_json(network, finding) for finding in found.findings],
                "coverage": {heuristic.value: _packed(array) for heuristic, array in standing.coverage.items()},
            },
        )

    def read(self, network: Network) -> Standing | None:
        """What was written for this requirement; None where nothing was, or nothing that can be used."""
        if not self.path.is_file():
            return None
        try:
            data = read_json(self.path)
            if (data["format_version"], data["requirement"]) != (FORMAT_VERSION, self._requirement):
                return None
            found = Found(**{name: data[name] for name in _COUNTS}, unconfirmed=list(data["unconfirmed"]))
            found.findings += [_finding(network, finding) for finding in data["findings"]]
            coverage = {Heuristic(name): _unpacked(array) for name, array in data["coverage"].items()}
            return Standing(found, data["turn"], data["depth"], coverage)
        except (UserError, NotAllowed, KeyError, TypeError, ValueError, zlib.error):
            return None  # spoilt: then the search begins anew, and ends the same

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def _finding_json(network: Network, finding: ReachFinding) -> dict[str, Any]:
    plain = {name: getattr(finding, name) for name in _OF_A_FINDING}
    return {**plain, "heuristic": finding.heuristic.value, "trace": trace_json(network, finding.trace)}


def _finding(network: Network, data: dict[str, Any]) -> ReachFinding:
    plain = {name: data[name] for name in _OF_A_FINDING}
    return ReachFinding(trace=read_trace(data["trace"], network), heuristic=Heuristic(data["heuristic"]), **plain)


def _packed(array: np.ndarray) -> dict[str, Any]:
    content = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 1)).decode("ascii")
    return {"type": array.dtype.str, "shape": list(array.shape), "content": content}


def _unpacked(data: dict[str, Any]) -> np.ndarray:
    content = zlib.decompress(base64.b64decode(data["content"]))
    return np.frombuffer(content, np.dtype(data["type"])).reshape(data["shape"]).copy()
