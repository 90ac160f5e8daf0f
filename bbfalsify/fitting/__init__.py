"""Fit profiles to logs of use: `fit_profile` for a given structure, `learn_profile` without one.

    log.csv ── logs ──► sessions ── log_replay ──► choices and stays ──► weights, waiting_times ──► a commented profile

Start reading at `profile_fit.py`.  Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bbfalsify.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from bbfalsify.fitting.log_events import Log as Log
    from bbfalsify.fitting.logs import read_logs as read_logs
    from bbfalsify.fitting.profile_fit import Fit as Fit
    from bbfalsify.fitting.profile_fit import fit_profile as fit_profile
    from bbfalsify.fitting.profile_learning import learn_profile as learn_profile
else:
    __all__, __getattr__ = lazy_names(__name__, __file__)
