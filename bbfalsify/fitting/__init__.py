"""From logs of use to a profile: `fit_profile` where the structure is known, `learn_profile` where it is not.

    log.csv ── logs ──► sessions ── following ──► choices and stays ──► weights, delays ──► a commented profile

Start reading at `fit_profile.py`.  Names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bbfalsify.fitting.fit_profile import Fit, fit_profile
    from bbfalsify.fitting.learning import learn_profile
    from bbfalsify.fitting.logs import Log, read_logs

_HOMES = {
    "Fit": "fit_profile",
    "Log": "logs",
    "fit_profile": "fit_profile",
    "learn_profile": "learning",
    "read_logs": "logs",
}

__all__ = ["Fit", "Log", "fit_profile", "learn_profile", "read_logs"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
