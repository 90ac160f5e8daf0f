"""Names of the heuristics by which random walks choose their transitions."""

from __future__ import annotations

from enum import StrEnum


class Heuristic(StrEnum):
    RET = "ret"
    SEM = "sem"
    RLC = "rlc"
    RLC_A = "rlc-a"
    RCF = "rcf"
