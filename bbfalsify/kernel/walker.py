"""Memory of a walker, and its error messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.rng import STREAM, TAPE, TAPE_TILTS
from bbfalsify.kernel.tilts import Tilts

_ERRORS = {
    at.ERROR_RANGE: "value {value} is out of range: {site}",
    at.ERROR_INDEX: "index {value} is out of bounds: {site}",
    at.ERROR_DIVISION: "{site}",
    at.ERROR_LOOP: "more than {value} iterations: {site}",
    at.ERROR_CALLS: "calls are nested too deeply: {site}",
    at.ERROR_DOMAIN: "argument outside the domain: {site}",
    at.ERROR_WEIGHT: "no branch has a positive weight: {edge}",
    at.ERROR_RATE: "the exponential rate of a location is negative: the source of {edge}",
    at.ERROR_AFFINE: "an expression is not affine in the delay where it was taken to be",
    at.ERROR_WINDOWS: "more than {value} separate windows of delays",
}


def error_message(model: CompiledModel, error: int, site: int, value: int) -> str:
    text = model.sites[site] if 0 <= site < len(model.sites) else "(unknown place)"
    edge = model.edge_text(value) if error in (at.ERROR_WEIGHT, at.ERROR_RATE) else ""
    return _ERRORS[error].format(value=value, site=text, edge=edge)


@dataclass(eq=False)
class Walker:
    """The arrays one walker needs; compiled functions take `*walker.arrays` first."""

    model: CompiledModel
    S: np.ndarray
    X: np.ndarray
    R: np.ndarray
    code: Any = None
    """The module of machine code in use, kept alive by this reference."""

    @classmethod
    def of(cls, model: CompiledModel, *, tape: int | None = None, tilts: Tilts | None = None) -> Walker:
        """`tape`: random numbers that the walker records, and takes from outside (`rng.py`); None: neither.

        `tilts`: laws of random numbers in place of the uniform one.
        """
        X = np.zeros(int(model.T[at.H_X_SIZE]), np.float64)
        earliest = int(model.T[at.H_X_EARLIEST])
        X[earliest : earliest + int(model.T[at.H_EDGES])] = -np.inf
        if tape is None and tilts is None:
            R = np.zeros(STREAM, np.uint64)
        else:
            behind = np.zeros(0, np.uint64) if tilts is None else tilts.words()
            R = np.append(np.zeros(TAPE + 2 * (tape or 0), np.uint64), behind)
            R[TAPE_TILTS] = len(R) - len(behind) if len(behind) else 0
        return cls(model, np.zeros(int(model.T[at.H_S_SIZE]), np.int64), X, R)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.model.T, self.model.F, self.S, self.X, self.R

    def error(self) -> str | None:
        if self.S[at.S_ERROR] == 0:
            return None
        S = self.S
        return error_message(self.model, int(S[at.S_ERROR]), int(S[at.S_SITE]), int(S[at.S_ERROR_VALUE]))


def initial_state(model: CompiledModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Locations, integers and reals of the initial state, each with one row."""
    network = model.network
    return (
        np.array([[p.initial for p in network.processes]], np.int32).reshape(1, -1),
        np.array([[int(v) for v in network.initial_integers()]], np.int64).reshape(1, -1),
        np.array([[float(v) for v in network.initial_reals()]], np.float64).reshape(1, -1),
    )


def limits(model: CompiledModel) -> tuple[float, float]:
    """Largest constant of the model and step of the integration."""
    return float(model.network.largest_constant), float(model.ode_step)
