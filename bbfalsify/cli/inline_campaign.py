"""A run described on the command line is a campaign like any other: the same keys, checks and messages.

`falsify`, `check` and `reach` collect their options into sections; problems name the option that gave the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bbfalsify.campaigns import Campaign

SPECIFICATIONS = (".yaml", ".yml")
_RENAMED = {"accepted": "accept", "requirements": "require", "symbols": "symbol"}


def described(sections: Mapping[str, Any], engine: Mapping[str, Any], **given: Any) -> Campaign:
    """The campaign of these sections and engine settings; None means that an option was not given."""
    from bbfalsify.campaigns import plan_document
    from bbfalsify.records.documents import Document
    from bbfalsify.registry import ENGINES

    data = {"format_version": 1, **_given(sections), "engine": _given(engine)}
    return plan_document(Document("", data, {}), ENGINES, base=Path(), label=_option, **given)


def requirement(number: int, text: str, form: str) -> str | dict[str, str]:
    """What --require was given: a specification file, or a formula of this form."""
    return text if text.endswith(SPECIFICATIONS) else {"id": f"R{number}", form: text}


def listed(text: str | None) -> list[str] | None:
    """ "a, b" is a and b."""
    return None if text is None else [word.strip() for word in text.split(",")]


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: value.value if isinstance(value, Enum) else value for key, value in values.items()}
    return {key: value for key, value in plain.items() if value is not None}


def _option(path: Sequence[str | int]) -> str:
    """The option that gave the value: --horizon for engine.horizon, --require 2 for requirements[1].stl, and --query
    for the only question of `reach`."""
    if path and path[-1] == "query":
        return "--query"
    if path and path[0] == "requirements":
        return f"--require {path[1] + 1}" if len(path) > 1 else "--require"
    names = [str(key) for key in path if isinstance(key, str) and key != "engine"]
    return f"--{_RENAMED.get(names[-1], names[-1]).replace('_', '-')}" if names else "--options"
