"""Secrets of this process: their values are kept out of answers, records, logs and everything that is shown.

An adapter names environment variables as `secrets`; starting (or declaring) its program or server registers their
values here.  `without_secrets` removes them from texts, also in the forms in which programs repeat what they were
given: quoted for JSON, Python, URLs, HTML or a shell, in base64, in another normal form of Unicode.  It is applied
where an answer is made (`core/query.py`), where something is recorded (`records/json_files.py`), and where something is
printed (`cli/output.py`); `Redactor` does the same for a stream of bytes that becomes a log.
"""

from __future__ import annotations

import base64
import functools
import html
import json
import re
import shlex
import unicodedata
import urllib.parse
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

HIDDEN = "***"
SHORTEST = 4
"""Characters of a secret: shorter ones cannot be told from other text."""
_OWN_WORD = re.compile(r"[a-z_]+(-[a-z_]+)*")
"""Words of our own files (kinds, states, reasons) look like this."""

T = TypeVar("T")
_values: set[str] = set()


def keep_secret(values: Iterable[str]) -> None:
    """Keep these values out of everything from now on; too short ones are left to `too_short`."""
    new = {value for value in values if len(value) >= SHORTEST} - _values
    if new:
        _values.update(new)
        _pattern.cache_clear()


def forget_secrets() -> None:
    """Forget all values; for tests."""
    _values.clear()
    _pattern.cache_clear()


def too_short(name: str, value: str) -> str | None:
    """Say what is wrong with a secret that cannot be kept."""
    if len(value) >= SHORTEST:
        return None
    return f"the secret '{name}' has fewer than {SHORTEST} characters, and cannot be told from other text."


def without_secrets(value: T) -> T:
    """Return a text, or plain data with texts in it, without secrets."""
    cleaned: T = _cleaned(value, own_words=False) if _values else value
    return cleaned


def record_without_secrets(value: T) -> T:
    """As `without_secrets`, but leave single words of our own alone: a record must stay readable to us.

    Texts of the system were cleaned when they came; this is for what got there in another way.
    """
    cleaned: T = _cleaned(value, own_words=True) if _values else value
    return cleaned


def _cleaned(value: Any, *, own_words: bool) -> Any:
    if isinstance(value, str):
        return value if own_words and _OWN_WORD.fullmatch(value) else _pattern().sub(HIDDEN, value)
    if isinstance(value, dict):
        return {key: _cleaned(item, own_words=own_words) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [_cleaned(item, own_words=own_words) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


@functools.cache
def _pattern() -> re.Pattern[str]:
    # The longest first: one secret may contain another, and a quoted form may contain the plain one.
    found = sorted({form for value in _values for form in forms(value)}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, found)))


def _compiled(values: Iterable[str]) -> tuple[re.Pattern[bytes], int]:
    """The same for bytes, and the length of the longest form."""
    found = {form.encode("utf-8", "surrogateescape") for value in values for form in forms(value)}
    with_latin = (value for value in values if max(map(ord, value)) < 256)
    found |= {value.encode("latin-1") for value in with_latin}
    ordered = sorted(found, key=len, reverse=True)
    return re.compile(b"|".join(map(re.escape, ordered))), len(ordered[0])


def forms(secret: str) -> set[str]:
    """Return the texts as which a secret may come back."""
    found = set()
    for text in {secret, *(unicodedata.normalize(form, secret) for form in ("NFC", "NFD", "NFKC"))}:
        for quoted in _quoted(text):
            found.add(quoted)
            found.add(json.dumps(quoted)[1:-1])  # a message within a message
    found |= set(_in_base64(secret.encode("utf-8", "surrogateescape")))
    return {form for form in found if len(form) >= SHORTEST}


def _quoted(text: str) -> Iterator[str]:
    yield text
    for as_json in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield as_json
        yield as_json.replace("/", "\\/")
        yield re.sub(r"\\u[0-9a-f]{4}", lambda escape: "\\u" + escape[0][2:].upper(), as_json)
    for as_python in (repr(text)[1:-1], ascii(text)[1:-1]):
        yield as_python
        yield as_python.replace("'", "\\'")
    for unquoted in ("/", ""):
        as_url = urllib.parse.quote(text, safe=unquoted, errors="surrogateescape")
        yield as_url
        yield re.sub("%..", lambda escape: escape[0].lower(), as_url)
        yield as_url.replace("%20", "+")
    yield html.escape(text)
    yield html.escape(text, quote=False)
    yield html.escape(text, quote=False).replace('"', "&quot;")
    yield html.escape(text).replace("&#x27;", "&#39;")
    yield shlex.quote(text)


def _in_base64(data: bytes) -> Iterator[str]:
    """The characters that depend on the secret alone, whatever stands before and after it."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + data).decode()
        start = -(-before * 8 // 6)
        end = (before + len(data)) * 8 // 6
        for text in (whole[start:end], whole[start:end].replace("+", "-").replace("/", "_")):
            if len(text) >= 2 * SHORTEST:
                yield text


class Redactor:
    """A filter that removes secrets from a stream, also where a read cuts one in two."""

    def __init__(self, secrets: Iterable[str] | None = None) -> None:
        """Remove these secrets; None: all that this process knows now."""
        values = set(_values) if secrets is None else {value for value in secrets if value}
        self._pattern: re.Pattern[bytes] | None = None
        self._longest = 0
        if values:
            self._pattern, self._longest = _compiled(values)
        self.active = bool(values)
        self._held = b""
        """Held back: it could be the beginning of a secret."""

    def feed(self, data: bytes) -> bytes:
        """Take more of the stream; return the part that may be shown by now."""
        if self._pattern is None:
            return data
        shown: list[bytes] = []
        text, position = self._held + data, 0
        decided = len(text) - self._longest + 1  # a secret that starts before this has arrived completely
        for match in self._pattern.finditer(text):
            if match.start() >= decided:
                break
            shown += (text[position : match.start()], HIDDEN.encode())
            position = match.end()
        end = max(position, decided)
        self._held = text[end:]
        return b"".join((*shown, text[position:end]))

    def rest(self) -> bytes:
        """Return the part still held back, without secrets, and forget it; for the end of the stream."""
        held, self._held = self._held, b""
        return self.clean(held)

    def clean(self, data: bytes) -> bytes:
        return data if self._pattern is None else self._pattern.sub(HIDDEN.encode(), data)

    def clean_text(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self.clean(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
