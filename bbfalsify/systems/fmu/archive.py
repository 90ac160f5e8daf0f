"""Read the description in an FMU's archive, and unpack the archive into a private folder.

The archive is untrusted.  Names that lead out of the folder, symbolic links, encrypted members and excessive sizes are
refused before a byte is written, and sizes are counted while writing, because headers can lie.  Sources, documentation
and the libraries of other machines stay packed.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.systems.fmu.description import Description, read_description
from bbfalsify.systems.temporary import remove, temporary_folder

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

MOST_MEMBERS = 20_000
LARGEST_DESCRIPTION = 64 << 20
LARGEST_ARCHIVE = 1 << 30
"""Bytes, unpacked."""
MOST_TIMES_LARGER = 100
"""Unpacked size beside that of the archive: libraries and tables stay far below, archives that fill a disk do not."""
_NOT_LARGE = 64 << 20
"""Bytes, unpacked, that are never too many."""
_DESCRIPTION = "modelDescription.xml"
_LEFT_PACKED = ("documentation/", "sources/")


def describe(path: Path) -> Description:
    """Read the FMU's description; check that it can be unpacked and has a library for this machine."""
    with _opened(path) as archive:
        _check(archive, path)
        try:
            members = _members(archive)
            text = b"".join(_chunks(archive, members[_DESCRIPTION], LARGEST_DESCRIPTION))
        except KeyError:
            raise UserError(Problem(f"there is no {_DESCRIPTION} in it: not an FMU.", file=str(path))) from None
        description = read_description(text, str(path))
    if description.library not in members:
        parts = [name.split("/") for name in members if name.startswith("binaries/")]
        machines = tuple(sorted({part[1] for part in parts if len(part) > 2}))
        message = f"this FMU has no library for this machine ({description.library})."
        raise UserError(Problem(message, file=str(path), allowed=machines))
    return description


def unpack(path: Path, description: Description) -> Path:
    """Unpack what a simulation needs into a new private folder, which the caller removes."""
    folder = temporary_folder("fmu")
    try:
        with _opened(path) as archive:
            _check(archive, path)
            left = LARGEST_ARCHIVE
            for name, member in _members(archive).items():
                if not _needed(name, description):
                    continue
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with open(target, "xb") as file:
                    for chunk in _chunks(archive, member, left):
                        left -= file.write(chunk)
                if member.external_attr >> 16 & 0o111:
                    target.chmod(0o700)
    except BaseException:
        remove(folder)
        raise
    return folder


@contextmanager
def _opened(path: Path) -> Iterator[ZipFile]:
    from zipfile import BadZipFile, ZipFile
    from zlib import error as ZlibError

    try:
        with ZipFile(path) as archive:
            yield archive
    except (BadZipFile, ZlibError, EOFError, NotImplementedError) as error:
        raise UserError(Problem(f"the archive is damaged: {error}.", file=str(path))) from None
    except _TooLarge as error:
        raise UserError(Problem(f"the archive is too large: {error}.", file=str(path))) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UserError(Problem(f"the FMU cannot be read or unpacked: {reason}.", file=str(path))) from None


class _TooLarge(Exception):
    pass


def _members(archive: ZipFile) -> dict[str, ZipInfo]:
    """Files by name; some tools write "./" before each, or as a member of its own."""
    return {str(PurePosixPath(member.filename)): member for member in archive.infolist() if not member.is_dir()}


def _check(archive: ZipFile, path: Path) -> None:
    members = archive.infolist()
    problems = []
    if len(members) > MOST_MEMBERS:
        problems.append(f"it has {len(members)} members, more than {MOST_MEMBERS}.")
    if (size := sum(member.file_size for member in members)) > LARGEST_ARCHIVE:
        problems.append(f"it would take {size >> 20} MB, more than {LARGEST_ARCHIVE >> 20}.")
    elif size > _NOT_LARGE and size > MOST_TIMES_LARGER * (packed := path.stat().st_size):
        problems.append(f"it would become {size // max(1, packed)} times as large ({size >> 20} MB).")
    if len(_members(archive)) < sum(not member.is_dir() for member in members):
        problems.append("it contains a name twice.")
    for member in members:
        if _leads_out(member.filename):
            problems.append(f"its member '{member.filename}' would be written outside its folder; refused.")
        elif stat.S_ISLNK(member.external_attr >> 16):
            problems.append(f"its member '{member.filename}' is a symbolic link; refused.")
        elif member.flag_bits & 1:
            problems.append(f"its member '{member.filename}' is encrypted.")
    if problems:
        raise UserError(Problem(f"the archive is refused: {text}", file=str(path)) for text in problems[:20])


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name)
    nowhere = not path.parts and not name.endswith("/")
    return nowhere or path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name


def _needed(name: str, description: Description) -> bool:
    if name.startswith("binaries/"):
        return name.startswith(f"{description.platform_folder}/")
    return not name.startswith(_LEFT_PACKED)


def _chunks(archive: ZipFile, member: ZipInfo, limit: int) -> Iterator[bytes]:
    with archive.open(member) as source:
        left = limit
        while chunk := source.read(1 << 20):
            left -= len(chunk)
            if left < 0:
                raise _TooLarge(f"'{member.filename}' exceeds the limit of {limit >> 20} MB")
            yield chunk
