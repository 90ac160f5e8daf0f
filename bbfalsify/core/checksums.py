"""Checksums of records: eight hexadecimal digits in every line and file, so that damage is noticed where it is.

A line ends with the checksum of what stands before it; a file of JSON has a key `checksum` over its content, so that
it may be indented or ordered differently.  Records of older versions have none, and are read as they are.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

KEY = "checksum"
"""Member of a file of JSON …"""
LINE_KEY = "crc"
"""… and of a line."""
_OF_A_FILE = re.compile(r"crc32:[0-9a-f]{8}")
_END_OF_A_LINE = re.compile(rb',"crc":"([0-9a-f]{8})"\}\s*$')
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def utf8(text: str) -> bytes:
    r"""Encode a text; bytes of file names that are no text become \udcff, which JSON reads as what it was."""
    return text.encode("utf-8", "backslashreplace")


def crc(data: bytes) -> str:
    return f"{zlib.crc32(data):08x}"


def sealed_line(text: str) -> bytes:
    """Add the checksum to one object of JSON without needless spaces; a line of a file."""
    body = utf8(text)[:-1]
    return body + f',"crc":"{crc(body)}"}}\n'.encode()


def has_checksum(line: bytes) -> bool:
    return _END_OF_A_LINE.search(line) is not None


def line_is_whole(line: bytes) -> bool:
    """False where a line has a checksum and it is not that of the line."""
    end = _END_OF_A_LINE.search(line)
    return end is None or end[1].decode() == crc(line[: end.start()])


def content_checksum(content: Any) -> str:
    """Return the checksum of plain data, whatever the order of its keys."""
    return f"crc32:{crc(_canonical(content).encode())}"


def taken_out(content: Any) -> tuple[Any, bool]:
    """Return the content of a file without its checksum, and whether that was the right one (or there was none)."""
    if not isinstance(content, dict):
        return content, True
    stated = content.get(KEY)
    if not isinstance(stated, str) or not _OF_A_FILE.fullmatch(stated):
        return content, True
    rest = {name: value for name, value in content.items() if name != KEY}
    return rest, content_checksum(rest) == stated
