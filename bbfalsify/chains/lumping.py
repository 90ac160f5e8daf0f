"""Lump states that a question cannot tell apart: the coarsest partition with equal rates into every other block.

Refinement starts with the classes of the question and splits blocks by their rates into all blocks.  Rates are compared
at twelve digits; the last step compares all rates of a block again, and gives up rather than lump what differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from bbfalsify.chains.chain import Chain
from bbfalsify.chains.elimination import reduced
from bbfalsify.modelling import parse_condition

_DIGITS = 12
_ROUNDS = 200
"""Chains whose blocks still split after so many rounds are hardly lumpable, and are not lumped."""
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Lumped:
    blocks: np.ndarray
    """Per state the number of its block."""
    rates: csr_matrix
    """Rates (or probabilities) between blocks."""
    first: np.ndarray
    """Per block one of its states."""

    @property
    def states(self) -> int:
        return len(self.first)


def lump(chain: Chain, labels: Sequence[str]) -> Lumped:
    """Lump a chain by conditions over its states, immediate states eliminated."""
    whole = reduced(chain, np.zeros(chain.states, bool))
    truths = [chain.values(parse_condition(text, chain.network, {}))[whole.kept] for text in labels]
    return lump_rates(whole.rates, classes_of(*truths, size=len(whole.kept)), discrete=chain.discrete)


def classes_of(*values: np.ndarray, size: int) -> np.ndarray:
    """Number the states by their combinations of values."""
    blocks = np.zeros(size, np.int64)
    for each in values:
        _, number = np.unique(each, return_inverse=True)
        _, blocks = np.unique(blocks * (int(number.max(initial=0)) + 1) + number.ravel(), return_inverse=True)
    return blocks.ravel()


def lump_rates(rates: csr_matrix, classes: np.ndarray, *, discrete: bool = False) -> Lumped:
    """Find the coarsest partition finer than `classes` whose states agree in their rates into every other block."""
    size = rates.shape[0]
    blocks = classes.astype(np.int64)
    for _ in range(_ROUNDS):
        count = int(blocks.max(initial=-1)) + 1
        if count == size:
            break
        _, split = np.unique(np.stack([blocks.astype(np.uint64), _signatures(rates, blocks)]), axis=1, return_inverse=True)
        split = split.ravel()
        if int(split.max(initial=-1)) + 1 == count:
            found = _quotient(rates, blocks, discrete)
            return found if found is not None else _unlumped(rates)
        blocks = split.astype(np.int64)
    return _unlumped(rates)


def _unlumped(rates: csr_matrix) -> Lumped:
    every = np.arange(rates.shape[0])
    return Lumped(every, rates, every)


def _into_blocks(rates: csr_matrix, blocks: np.ndarray) -> csr_matrix:
    """Rates from each state into each block other than its own."""
    source = np.repeat(np.arange(rates.shape[0]), np.diff(rates.indptr))
    target = blocks[rates.indices]
    other = target != blocks[source]
    shape = (rates.shape[0], int(blocks.max(initial=0)) + 1)
    summed = csr_matrix((rates.data[other], (source[other], target[other])), shape)
    summed.sum_duplicates()
    return summed


def _rounded(values: np.ndarray) -> np.ndarray:
    scale = 10.0 ** (np.floor(np.log10(np.abs(values))) - _DIGITS + 1)
    return np.round(values / scale) * scale


def _signatures(rates: csr_matrix, blocks: np.ndarray) -> np.ndarray:
    """A number per state that depends on its rates into other blocks only; the order of the entries has no effect."""
    summed = _into_blocks(rates, blocks)
    result = np.zeros(rates.shape[0], np.uint64)
    if summed.nnz:
        with np.errstate(over="ignore"):
            mixed = _rounded(summed.data).view(np.uint64) + (
                summed.indices.astype(np.uint64) + np.uint64(1)
            ) * _MIX
            mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            np.add.at(result, np.repeat(np.arange(rates.shape[0]), np.diff(summed.indptr)), mixed)
    return result


def _quotient(rates: csr_matrix, blocks: np.ndarray, discrete: bool) -> Lumped | None:
    """Rates between blocks, taken from one state each; None if another state of a block disagrees."""
    _, first = np.unique(blocks, return_index=True)
    summed = _into_blocks(rates, blocks)
    difference = abs(summed - summed[first][blocks])
    scale = abs(summed).max(axis=1).toarray().ravel()
    worst = difference.max(axis=1).toarray().ravel() if difference.nnz else np.zeros(len(blocks))
    if (worst > 1e-11 * scale).any():
        return None
    between = summed[first].tocsr()
    if discrete:
        from scipy.sparse import diags

        between = (between + diags(1.0 - np.asarray(between.sum(axis=1)).ravel())).tocsr()
    return Lumped(blocks, between, first)
