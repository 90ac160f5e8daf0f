"""Eliminate states in which no time passes, once a question has said which of them it must see.

Of the states that are kept, those that absorb lose their transitions.  From every other state the chain moves at once
through immediate states until it meets a kept one:

    arrive = (I − P_VV)⁻¹ P_VK         V eliminated, K kept
    rates  = R_KK + R_KV · arrive
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix, diags, eye, vstack
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from bbfalsify.core.errors import Problem, UserError

if TYPE_CHECKING:
    from bbfalsify.chains.chain import Chain


@dataclass(frozen=True, eq=False)
class Reduced:
    """A chain over the kept states only."""

    kept: np.ndarray
    """Numbers of the kept states."""
    rates: csr_matrix
    """Rates between kept states, without self loops; probabilities, with self loops, if the chain is discrete."""
    arrive: csr_matrix
    """Per state of the whole chain the probabilities of the kept states in which it arrives without delay."""
    impulse: np.ndarray
    """Per kept state the expected cost of its transitions, immediate ones that follow included, times their rate."""
    before: np.ndarray
    """Per state of the whole chain the expected cost before it arrives in a kept state."""
    again: np.ndarray
    """Per kept state the rate of jumps back into itself; 0 in a discrete chain."""


def reduced(chain: Chain, absorbing: np.ndarray) -> Reduced:
    """Eliminate the immediate states that do not absorb; in a discrete chain nothing is eliminated."""
    keep = np.ones(chain.states, bool) if chain.discrete else ~chain.immediate | absorbing
    kept, gone = np.flatnonzero(keep), np.flatnonzero(~keep)
    stays = diags((~absorbing[kept]).astype(float))
    outgoing = (stays @ chain.matrix[kept]).tocsr()
    impulse = chain.impulse[kept] * ~absorbing[kept]
    before = np.zeros(chain.states)
    if len(gone):
        arriving, before[gone] = _through(chain, kept, gone)
        rates = (outgoing[:, kept] + outgoing[:, gone] @ arriving).tocsr()
        impulse = impulse + outgoing[:, gone] @ before[gone]
        order = np.argsort(np.concatenate([kept, gone]), kind="stable")
        arrive = vstack([eye(len(kept), format="csr"), arriving], format="csr")[order]
    else:
        rates, arrive = outgoing[:, kept].tocsr(), eye(len(kept), format="csr")
    again = np.zeros(len(kept))
    if chain.discrete:
        ends = np.asarray(rates.sum(axis=1)).ravel() == 0  # absorbing, or nothing can happen any more
        rates = (rates + diags(ends.astype(float))).tocsr()
    else:
        again = rates.diagonal()
        rates = (rates - diags(again)).tocsr()
        rates.eliminate_zeros()
    return Reduced(kept, rates, arrive, impulse, before, again)


def _through(chain: Chain, kept: np.ndarray, gone: np.ndarray) -> tuple[csr_matrix, np.ndarray]:
    """Return the distribution over kept states after each eliminated state, and the cost until then."""
    rows = chain.matrix[gone].tocsr()
    inner, out = rows[:, gone].tocsr(), rows[:, kept].tocsr()
    _refuse_endless(chain, gone, inner, out)
    cost = chain.impulse[gone]
    components, _ = connected_components(inner, directed=True, connection="strong")
    if components == len(gone) and not inner.diagonal().any():  # no cycle: the sum of powers ends
        arriving, paid, step, owed = out, cost.copy(), out, cost
        while True:
            step, owed = (inner @ step).tocsr(), inner @ owed
            if step.nnz == 0 and not owed.any():
                return arriving.tocsr(), paid
            arriving, paid = arriving + step, paid + owed
    solver = splu((eye(len(gone)) - inner).tocsc())
    columns = np.flatnonzero(np.diff(out.tocsc().indptr))
    arriving = csr_matrix((len(gone), len(kept)))
    if len(columns):
        solved = solver.solve(out[:, columns].toarray())
        place = csr_matrix((np.ones(len(columns)), (np.arange(len(columns)), columns)), (len(columns), len(kept)))
        arriving = (csr_matrix(solved) @ place).tocsr()
    return arriving, solver.solve(cost)


def _refuse_endless(chain: Chain, gone: np.ndarray, inner: csr_matrix, out: csr_matrix) -> None:
    """Refuse immediate states from which time never passes again."""
    ends = np.diff(out.indptr) > 0
    while True:
        more = ends | (inner @ ends.astype(float) > 0)
        if (more == ends).all():
            break
        ends = more
    if not ends.all():
        state = chain.describe(int(gone[np.flatnonzero(~ends)[0]]))
        raise UserError(
            Problem(f"an endless loop without delay starts in the state {state}; give a location on it a rate.",
                    chain.network.file)
        )  # fmt: skip
