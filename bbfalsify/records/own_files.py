"""Recognise counterexample files that this user wrote on this machine.

Replaying a file runs the system that it names.  Every file carries a mark of that name and its folder, made with a key
that never leaves the state folder of the user.  So files of own runs are replayed at once, and all others only after
a question.  A mark says nothing about the rest of the file, which is data.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import secrets
from pathlib import Path

_KEY_BYTES = 32


def mark_of(reference: str, base: str) -> str | None:
    """Return the mark of a system; None where no key can be kept."""
    key = _key(_state_folder())
    if key is None:
        return None
    return hmac.new(key, f"{reference}\0{base}".encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()


def is_own(reference: str, base: str, mark: str | None) -> bool:
    expected = mark_of(reference, base)
    return mark is not None and expected is not None and hmac.compare_digest(mark.encode(), expected.encode())


def _state_folder() -> Path | None:
    stated = os.environ.get("XDG_STATE_HOME")
    if stated:
        return Path(stated) / "bbfalsify"
    with contextlib.suppress(RuntimeError):  # no home
        return Path.home() / ".local" / "state" / "bbfalsify"
    return None


@functools.lru_cache(4)
def _key(folder: Path | None) -> bytes | None:
    """Read the key; the first use makes it."""
    if folder is None:
        return None
    file = folder / "key"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".key.{secrets.token_hex(6)}"
        if not file.exists():
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as made:
                made.write(secrets.token_bytes(_KEY_BYTES))
            try:
                os.link(temporary, file)  # of two processes that make one at the same time, the first wins
            except FileExistsError:
                pass
            finally:
                temporary.unlink()
    try:
        key = file.read_bytes()
    except OSError:
        return None
    return key if len(key) == _KEY_BYTES else None
