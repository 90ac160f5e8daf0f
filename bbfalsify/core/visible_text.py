r"""Foreign text on one visible line.

Names, answers and messages of a system may hold anything: a newline with a forged verdict behind it, escape sequences
that recolour or erase the terminal, marks that reverse the direction of writing, commands to a CI server.  Files keep
such text as it is; `visible` makes it fit to be shown: every control character becomes an escape such as `\n` or
`\x1b`.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

T = TypeVar("T")
CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
"""Characters that a terminal obeys rather than shows, as part of a regular expression; without tab and newline."""
_HIDDEN = re.compile(rf"[{CONTROL}\t\n]|##(?=\[)")
_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "##": r"#\#"}


def visible(value: T) -> T:
    """Return a text, or plain data with texts in it, with each text on one line and nothing in it to obey."""
    shown: T = _shown(value)
    return shown


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return escaped(value, _HIDDEN)
    if isinstance(value, dict):
        return {_shown(key): _shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [_shown(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


def escaped(text: str, found: re.Pattern[str]) -> str:
    """Replace what the pattern finds by escapes."""
    return found.sub(lambda match: _SHORT.get(match[0]) or _escape(match[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
