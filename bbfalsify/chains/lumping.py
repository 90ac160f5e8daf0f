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
_HOPEFUL = 8
"""Rounds after which a chain with more blocks than half its states is left as it is."""
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
    count = int(blocks.max(initial=-1)) + 1
    for number in range(_ROUNDS):
        if count == size or (number > _HOPEFUL and 2 * count > size):
            break
        _, split = np.unique(_signatures(rates, blocks), return_inverse=True)
        split = split.ravel().astype(np.int64)
        if int(split.max(initial=-1)) + 1 == count:
            found = _quotient(rates, blocks, discrete)
            return found if found is not None else _unlumped(rates)
        blocks, count = split, int(split.max(initial=-1)) + 1
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


def _mixed(words: np.ndarray) -> np.ndarray:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _signatures(rates: csr_matrix, blocks: np.ndarray) -> np.ndarray:
    """64 bits per state, from its block and its rates into other blocks; the order of the entries has no effect."""
    summed = _into_blocks(rates, blocks)
    with np.errstate(over="ignore"):
        result = _mixed((blocks.astype(np.uint64) + np.uint64(1)) * _MIX)
        if summed.nnz:
            targets = _mixed((summed.indices.astype(np.uint64) + np.uint64(1)) * _MIX)
            entries = _mixed(_rounded(summed.data).view(np.uint64) ^ targets)
            starts = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries)])[summed.indptr]
            result += starts[1:] - starts[:-1]
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
