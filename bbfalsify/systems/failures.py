"""Exceptions that a session raises to say how the black box failed.

Each gives the simulation its status and message.  Any other exception becomes RAISED, with its place in the code.
"""

from __future__ import annotations

from bbfalsify.core.redaction import without_secrets
from bbfalsify.core.verdict import SimulationStatus


class SessionFailure(Exception):
    """The black box said itself that it failed."""

    status = SimulationStatus.RAISED


class SystemDied(SessionFailure):
    """The black box ended, or its connection did."""

    status = SimulationStatus.DIED


class NoAnswer(SessionFailure):
    """The black box did not answer in time."""

    status = SimulationStatus.TIMED_OUT


class MalformedAnswer(SessionFailure):
    """The black box answered, but not in the agreed form."""

    status = SimulationStatus.MALFORMED


def excerpt(text: str, length: int = 80) -> str:
    """The first characters of a text, in quotes, without secrets and with unprintable ones escaped."""
    text = without_secrets(text)  # before it is cut: half a secret is one, too
    shown = text.encode("unicode_escape").decode("ascii") if not text.isprintable() else text
    return f"'{shown[:length]}…'" if len(shown) > length else f"'{shown}'"
