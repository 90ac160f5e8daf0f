"""Fit profiles to logs of use: `fit_profile` for a given structure, `learn_profile` without one.

    log.csv ── logs ──► sessions ── log_replay ──► choices and stays ──► weights, waiting_times ──► a commented profile

Start reading at `profile_fit.py`.  Names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for type checkers and editors; at run time names are loaded by __getattr__
    from bbfalsify.fitting.learning import learn_profile as learn_profile
    from bbfalsify.fitting.logs import Log as Log
    from bbfalsify.fitting.logs import read_logs as read_logs
    from bbfalsify.fitting.profile_fit import Fit as Fit
    from bbfalsify.fitting.profile_fit import fit_profile as fit_profile

_HOMES = {
    "Fit": "profile_fit",
    "Log": "logs",
    "fit_profile": "profile_fit",
    "learn_profile": "learning",
    "read_logs": "logs",
}

__all__ = sorted(_HOMES)

if not TYPE_CHECKING:  # otherwise a type checker would accept every name

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
