"""A guard for worker processes: native code in them cannot stop or kill the processes that started them.

An FMU is native code in a worker.  One that sends SIGSTOP to its parent would halt the whole run, and nothing that is
stopped can notice.  So before a library is loaded, Linux is asked (seccomp) to refuse signals from this process, and
from all that it starts, to its ancestors.  The filter cannot be taken off, and setuid programs lose their rights below
it; therefore only workers ask, which are the leaders of a session of their own.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_ARCHITECTURES = {
    "x86_64": (0xC000003E, (62, 234, 129, 297, 434), 200),
    "aarch64": (0xC00000B7, (129, 131, 138, 240, 434), 130),
}
"""Audit number; kill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo and pidfd_open, whose first argument is a process;
tkill, which takes a thread of any process, and which nothing has used for twenty years."""
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # the latter with EPERM
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def guard_ancestors() -> bool:
    """Refuse signals from this worker to its ancestors; False where that is not possible."""
    known = _ARCHITECTURES.get(os.uname().machine) if sys.platform == "linux" and sys.maxsize > 2**32 else None
    if known is None or os.getsid(0) != os.getpid():
        return False
    protected = {2**32 - 1}  # everybody
    for process in ancestors():
        protected |= {process, 2**32 - _group(process)}
    code = _filter(*known, sorted(protected))
    libc, program = ctypes.CDLL(None, use_errno=True), _Program(len(code) // 8, code)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0)


def ancestors() -> list[int]:
    """The parent, its parent and so on, as far as they can be seen."""
    found, process = [], os.getppid()
    while process > 0:
        found.append(process)
        try:
            with open(f"/proc/{process}/stat", "rb") as file:
                process = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            break
    return found


def _group(process: int) -> int:
    """The group of a process; the process itself where that cannot be seen."""
    try:
        return os.getpgid(process) or process
    except OSError:
        return process


def _filter(architecture: int, calls: tuple[int, ...], any_thread: int, protected: list[int]) -> bytes:
    """Return the filter as a program of the kernel's: eight bytes per instruction, jumps forward by a count."""
    refused = 1 + len(protected) + 1
    """Instructions of the last part: load the argument, compare it, allow."""
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _NUMBER),
    ]
    lines += [(_EQUAL, len(calls) - place + 1, 0, call) for place, call in enumerate(calls)]
    lines += [(_EQUAL, 1 + refused, 0, any_thread), (_RETURN, 0, 0, _ALLOW)]
    lines += [(_LOAD, 0, 0, _FIRST_ARGUMENT)]
    lines += [(_EQUAL, len(protected) - place, 0, process) for place, process in enumerate(protected)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
