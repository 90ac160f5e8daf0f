"""Files that users name: read whole, with a limit, and with every failure as a message.

A name may be anything (a formula given in the place of a file, 5,000 letters, a NUL), and so may the content (no text,
gigabytes, a device that never ends).
"""

from __future__ import annotations

import os
from pathlib import Path

from bbfalsify.core.errors import Problem, UserError, unknown_name

LARGEST_TEXT = 64 << 20
"""Bytes of a file that people write: models, campaigns, requirements."""
LARGEST_DATA = 2 << 30
"""Bytes of a file that programs write: recordings, logs, results."""


def is_file(path: str | Path) -> bool:
    """Tell whether there is such a file; a name that no file can have is none."""
    return os.path.isfile(path)  # unlike Path.is_file it answers for every text


def is_folder(path: str | Path) -> bool:
    return os.path.isdir(path)


def closest_file(path: str | Path) -> str | None:
    """Name of the file beside `path`, of the same kind, that was probably meant."""
    path = Path(path)
    if is_folder(path) or not is_folder(path.parent):
        return None
    stems = {file.stem for file in path.parent.glob(f"*{path.suffix}")}  # a common ending would make all names alike
    closest = unknown_name("file", path.stem, stems).closest
    return closest and closest + path.suffix


def not_a_file(path: str | Path) -> str:
    """Say why `is_file` is false."""
    return f"'{path}' is a folder; name a file." if is_folder(path) else f"there is no file '{path}'."


def read_bytes(path: str | Path, *, largest: int = LARGEST_TEXT) -> bytes:
    """Read a file of at most `largest` bytes; every failure is a UserError that names it."""
    name = _shown(path)
    try:
        with open(path, "rb") as file:
            data = file.read(largest + 1)
    except FileNotFoundError:
        raise UserError(Problem("there is no such file.", file=name, closest=closest_file(path))) from None
    except IsADirectoryError:
        inside = tuple(sorted(file.name for file in Path(path).glob("*") if file.is_file())[:20])
        raise UserError(Problem("this is a folder; name a file.", file=name, allowed=inside)) from None
    except OSError as error:
        raise UserError(Problem(f"the file cannot be read: {error.strerror}.", file=name)) from None
    except (ValueError, MemoryError) as error:  # ValueError: a NUL in the name
        raise UserError(Problem(f"the file cannot be read: {error}.", file=name)) from None
    if len(data) > largest:
        raise UserError(Problem(f"the file is larger than {largest >> 20} MB; it is not read.", file=name))
    return data


def read_text(path: str | Path, *, largest: int = LARGEST_TEXT, tolerant: bool = False) -> str:
    """Read a text in UTF-8, with or without a byte order mark; line ends become newlines.

    `tolerant`: bytes that are no UTF-8 become a replacement character, as in comments of old files.
    """
    data = read_bytes(path, largest=largest)
    try:
        text = data.decode("utf-8-sig", "replace" if tolerant else "strict")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not a text in UTF-8: byte 0x{data[error.start]:02x} has no meaning there ({error.reason})."
        raise UserError(Problem(message, file=_shown(path), line=line)) from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _shown(path: str | Path) -> str:
    """The name in messages: one of 5,000 letters is cut."""
    text = str(path)
    return text if len(text) <= 300 else f"{text[:120]}…{text[-60:]}"
