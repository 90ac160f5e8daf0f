"""Markov chains, exactly: from a network to its chain, and from the chain to the answers of CSL.

chain = explore_chain(network)
answer = answer_csl(chain, "P=? [ !sleep U[0,2.7] sleep ]")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bbfalsify.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from bbfalsify.chains.answers import Answer as Answer
    from bbfalsify.chains.answers import answer_csl as answer_csl
    from bbfalsify.chains.chain import Chain as Chain
    from bbfalsify.chains.chain import explore_chain as explore_chain
    from bbfalsify.chains.lumping import lump as lump
    from bbfalsify.chains.prism import to_prism as to_prism
    from bbfalsify.chains.sensitivities import derivatives as derivatives
    from bbfalsify.chains.storm import ask_storm as ask_storm
else:
    __all__, __getattr__ = lazy_names(__name__, __file__)
