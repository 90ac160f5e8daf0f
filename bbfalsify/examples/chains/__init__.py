"""Markov chains of papers and textbooks as model files: `bbfalsify estimate --example hubble`."""

from __future__ import annotations

from pathlib import Path

CHAINS = {
    "hubble": "the Hubble telescope: six gyroscopes that fail, sleep and repair (Hermanns 2001)",
    "gambler": "a gambler who returns home when a die shows six; nothing takes time, so steps are counted",
    "gambler-in-time": "the same with exponential delays of the same law",
    "ruin": "a gambler with 1 who wins 1 with probability 1/3, else loses 1, until he has 6 or nothing",
    "typist": "a lock that opens after three right symbols in a row out of two, typed with rate 1",
    "queue": "an M/M/1 queue with room for ten",
    "erlang": "a delay of four exponential phases",
}


def chain_file(name: str) -> Path:
    """The model file of an example."""
    return Path(__file__).parent / f"{name}.yaml"
