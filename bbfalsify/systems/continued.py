"""Simulations that begin as an earlier one did: go on from a state that was saved on its way.

    uses = ContinuedUses(system)
    outputs, simulated = uses.execute(stimulus)      # the second time round `simulated` is less than the duration

A use of a profile changes its inputs at a few moments.  At each of them the state of the system is saved, under a
digest of everything that it depends on (parameters, sample times and inputs so far).  A later use with the same
beginning is restored at the last moment that both share.  The answers are those of a system that is reset each time,
if it depends on its inputs alone; a system with a seed of its own is not continued.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems.interface import BlackBox, as_columns
from bbfalsify.systems.parameters import open_session

MOST_STATES = 2000
"""Saved states; the one that was not needed for longest is forgotten first."""
MOST_SESSIONS = 16
"""Sessions with other parameters or first inputs; when there are more, all begin anew."""
Row = dict[str, float]


@dataclass(frozen=True)
class _Saved:
    session: Any
    state: Any
    rows: list[Row]
    """Outputs up to the moment of the state; later ones may follow."""


def can_continue(system: BlackBox) -> bool:
    """Tell whether uses of this system may go on from saved states."""
    able = system.capabilities
    return able.snapshot and able.stepwise and not (able.seedable or able.single_session or able.batch)


class ContinuedUses:
    """Uses of one system; a session for each set of parameters stays open, because states belong to their session."""

    def __init__(self, system: BlackBox) -> None:
        self.system = system
        self._sessions: dict[tuple[tuple[str, float], ...], Any] = {}
        self._first: dict[int, tuple[Any, Any]] = {}
        self._saved: OrderedDict[bytes, _Saved] = OrderedDict()

    def execute(self, stimulus: Stimulus) -> tuple[Mapping[str, np.ndarray], float]:
        """The outputs, and the time that was really simulated."""
        changes, digests = _beginnings(stimulus)
        at = next((k for k in reversed(range(len(changes))) if digests[k] in self._saved), None)
        if at is None:
            session = self._reset(stimulus)
            rows, first = [dict(session.observe())], 0
        else:
            found = self._saved[digests[at]]
            session, first = found.session, changes[at]
            session.restore(found.state)
            rows = found.rows[: first + 1]
        held = {name: values.tolist() for name, values in stimulus.inputs.items()}
        durations, places = np.diff(stimulus.times).tolist(), dict(zip(changes, digests, strict=True))
        for i in range(first, len(durations)):
            if i in places:
                self._save(places[i], session, rows)
            session.step({name: values[i] for name, values in held.items()}, durations[i])
            rows.append(dict(session.observe()))
        return as_columns(rows), float(stimulus.times[-1] - stimulus.times[first])

    def _reset(self, stimulus: Stimulus) -> Any:
        """A session at its beginning: one that is open goes back there."""
        parameters = tuple(sorted(stimulus.parameters.items()))
        inputs = {name: float(values[0]) for name, values in stimulus.inputs.items()}
        session = self._sessions.get((*parameters, *inputs.items()))
        if session is not None:
            session.restore(self._first[id(session)][1])
            return session
        if len(self._sessions) >= MOST_SESSIONS:
            self.close()
        session = open_session(self.system, 0, stimulus.parameters)
        session.__enter__()
        if hasattr(session, "start"):  # the first inputs count already when it begins
            session.start(inputs)
        self._sessions[(*parameters, *inputs.items())] = session
        self._first[id(session)] = session, session.save()
        return session

    def _save(self, digest: bytes, session: Any, rows: list[Row]) -> None:
        if digest in self._saved:
            self._saved.move_to_end(digest)
            return
        self._saved[digest] = _Saved(session, session.save(), rows)
        if len(self._saved) > MOST_STATES:
            _, old = self._saved.popitem(last=False)
            if hasattr(old.session, "forget"):
                old.session.forget(old.state)

    def close(self) -> None:
        """End all sessions; the next use opens new ones."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        self._first.clear()
        self._saved.clear()
        for session in sessions:
            session.__exit__(None, None, None)


def _beginnings(stimulus: Stimulus) -> tuple[list[int], list[bytes]]:
    """The samples at which inputs change, and a digest of what comes before each of them."""
    names = sorted(stimulus.inputs)
    matrix = np.array([stimulus.inputs[name] for name in names], float).reshape(len(names), -1)
    changes = (np.flatnonzero((matrix[:, 1:] != matrix[:, :-1]).any(axis=0)) + 1).tolist()
    changes = [i for i in changes if i < len(stimulus.times) - 1]
    digest = blake2b(repr((names, sorted(stimulus.parameters.items()))).encode(), digest_size=16)
    digests, before = [], 0
    for i in changes:
        digest.update(stimulus.times[before : i + 1].tobytes())
        digest.update(np.ascontiguousarray(matrix[:, before:i]).tobytes())
        digests.append(digest.copy().digest())
        before = i
    return changes, digests
