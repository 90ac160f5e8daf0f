"""Markov chains, exactly: from a network to its chain, and from the chain to the answers of CSL.

chain = explore_chain(network)
answer = answer_csl(chain, "P=? [ !sleep U[0,2.7] sleep ]")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bbfalsify.chains.answers import Answer as Answer
    from bbfalsify.chains.answers import answer_csl as answer_csl
    from bbfalsify.chains.chain import Chain as Chain
    from bbfalsify.chains.chain import explore_chain as explore_chain
    from bbfalsify.chains.lumping import lump as lump
    from bbfalsify.chains.prism import to_prism as to_prism
    from bbfalsify.chains.sensitivities import derivatives as derivatives
    from bbfalsify.chains.storm import ask_storm as ask_storm

_HOMES = {
    "ask_storm": "storm",
    "Answer": "answers",
    "answer_csl": "answers",
    "Chain": "chain",
    "explore_chain": "chain",
    "derivatives": "sensitivities",
    "lump": "lumping",
    "to_prism": "prism",
}

__all__ = sorted(_HOMES)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
