"""Write a chain as a model of PRISM, which Storm reads, too.

Immediate states are eliminated; the labels are conditions over our model.  A rate that is a simple fraction is written
as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from scipy.sparse import diags

from bbfalsify.chains.chain import Chain
from bbfalsify.chains.elimination import reduced
from bbfalsify.core.errors import UserError
from bbfalsify.modelling import parse_condition

_SIMPLE = 10**6


def to_prism(chain: Chain, labels: Mapping[str, str]) -> str:
    """Return the text of a PRISM model with one variable `s`; `labels` are names and conditions."""
    small = reduced(chain, np.zeros(chain.states, bool))
    start = small.arrive[0]
    if start.nnz != 1:
        raise UserError("the chain starts in several states at random; PRISM models start in one.")
    lines = ["dtmc" if chain.discrete else "ctmc", "", f"// {chain.network.name}: {len(small.kept)} states", "module M"]
    lines.append(f"  s : [0..{max(1, len(small.kept) - 1)}] init {start.indices[0]};")
    matrix = (small.rates + diags(small.again)).tocsr()
    matrix.sort_indices()
    for row in range(len(small.kept)):
        ends = range(matrix.indptr[row], matrix.indptr[row + 1])
        moves = " + ".join(f"{number_text(matrix.data[k])} : (s'={matrix.indices[k]})" for k in ends)
        if moves:
            lines.append(f"  [] s={row} -> {moves};")
    lines += ["endmodule", ""]
    for name, condition in labels.items():
        holds = chain.values(parse_condition(condition, chain.network, {}))[small.kept] != 0
        states = " | ".join(f"s={state}" for state in np.flatnonzero(holds)) or "false"
        lines.append(f'label "{name}" = {states};')
    gains = chain.cost_rates()[small.kept] + small.impulse
    if gains.any():
        lines += ["", 'rewards "cost"', *(f"  s={s} : {number_text(gains[s])};" for s in np.flatnonzero(gains))]
        lines.append("endrewards")
    return "\n".join(lines) + "\n"


def number_text(value: float) -> str:
    """Write a number as a simple fraction if it is one, else with all its digits."""
    simple = Fraction(float(value)).limit_denominator(_SIMPLE)
    return str(simple) if float(simple) == float(value) else repr(float(value))
