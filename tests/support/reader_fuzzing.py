"""Seeded mutations of the files that we read, and the loop that gives them to their readers.

    python -m tests.support.reader_fuzzing RECORDS TARGET FIRST COUNT PLACE

prints one JSON line per failure.  The input of a number is a function of target and number alone.  PLACE is a file
that holds the number of the input in work, so that a crash of the whole process says where it happened.
"""

from __future__ import annotations

import json
import mmap
import random
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.support.reader_targets import ALLOWED, seeds, targets

SECONDS = 20.0
"""CPU time that one input may take; most take a millisecond."""
MEGABYTES = 500
"""Growth of the process while it reads one input."""
LONGEST = 400_000

_NASTY: tuple[bytes, ...] = (
    b"[" * 3000, b"[" * 100_000, b"(" * 1500, b"{" * 3000, b"not " * 1200, b"!" * 5000, b"-" * 3000, b"- " * 2000,
    b"9" * 5000, b"-" + b"9" * 5000, b"1e400", b"1e-400", b"1e999999999", b"1.5e-999999999", b"0x10", b"1_000",
    b"nan", b".inf", b"-inf", b"1e308", b"2147483648", b"9223372036854775808", b"-0", b"0.1", b"-1", b"99999999",
    b"2026-13-45", b"2026-01-31", b"2026-01-31T25:61:61", b"12:61", b"!!python/object:os.system x", b"!!binary x",
    b"!!set {a}", b"!!int x", b"!!null", b"&a [*a]", b"&x ", b"*x", b"<<: *x", b"? [a]\n: b", b"--- \n", b"...\n",
    b"%YAML 9\n", b"|2\n", b"\t", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x80", "\u202e".encode(),
    "\ud7ff".encode(), b"\r", b"\r\n", b"\x0c", b"\x85", b"\xe2\x80\xa8", b"\n\n\n", b" ", b"a" * 300, b"/" * 5000,
    b"../" * 20, b"/dev/null", b"x" * 70_000, b"'", b'"', b"`", b"\\", b"\\u0000", b"\\ud800", b"%s%n", b"{}",
    b"[]", b"null", b"true", b"~", b":", b"::", b"->", b"<->", b"#", b"//", b"/*", b"<!--", b"<![CDATA[", b"&amp;",
    b"&#0;", b"&lol;", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"<a>" * 2000, b"*", b"**", b"<<", b"%", b"1/0", b"1%0",
    b"int[5,1]", b"int[0,99999999] z;", b"int q[99999999];", b"a[99999999]", b"[1:0]", b"[0:1e400]", b"[0:inf]",
    b"[-1:1]", b"always", b"until", b"exists (i : int[0,99999999])", b"forall (i : int[0,1])",
    b"struct { int a; } s;", b"typedef int t;", b"void f() { f(); }", b"int f() { while (true) {} return 1; }",
    b"const int C = f();", b",", b";", b"=", b"==", b"?", b"&", b"|", b"@a", b"Alias: @a @a", b"AP: 99999999",
    b"States: " + b"9" * 30, b"Start: 0 & 1", b"=1+1", b"-1e9999", b"\x1b[31m", b"::error::", b"e", b"E", b".",
    b"0" * 400, b"1" + b"0" * 400,
)  # fmt: skip


def mutated(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """Change a text in one to four places."""
    data = seed
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        data = rng.choice(_CHANGES)(rng, data, others)[:LONGEST]
    return data


def _cut(rng: random.Random, data: bytes) -> tuple[int, int]:
    first = rng.randrange(len(data) + 1)
    return first, min(len(data), first + rng.choice((0, 1, 1, 2, 5, 20, 200)))


def _delete(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    first, last = _cut(rng, data)
    return data[:first] + data[last:]


def _repeat(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    first, last = _cut(rng, data)
    return data[:first] + data[first:last] * rng.choice((2, 3, 50, 2000)) + data[last:]


def _insert_nasty(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    first, last = _cut(rng, data)
    return data[:first] + rng.choice(_NASTY) + data[last if rng.random() < 0.5 else first :]


def _flip(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return (
        data[:at]
        + bytes([rng.randrange(256) if rng.random() < 0.3 else data[at] ^ 1 << rng.randrange(8)])
        + data[at + 1 :]
    )


def _replace_word(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Put something nasty, or a word from elsewhere, in the place of a whole word or number."""
    words = list(_words(data))
    if not words:
        return data
    first, last = rng.choice(words)
    other = rng.choice(others)
    elsewhere = list(_words(other))
    if elsewhere and rng.random() < 0.5:
        start, end = rng.choice(elsewhere)
        return data[:first] + other[start:end] + data[last:]
    return data[:first] + rng.choice(_NASTY) + data[last:]


def _words(data: bytes) -> Iterator[tuple[int, int]]:
    import re

    return ((found.start(), found.end()) for found in re.finditer(rb"[\w.]+", data))


def _move_line(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    line = lines[rng.randrange(len(lines))]
    if rng.random() < 0.5:
        lines.remove(line)
    lines.insert(rng.randrange(len(lines) + 1), b" " * rng.choice((0, 0, 1, 2, 4)) + line)
    return b"\n".join(lines)


def _splice(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


_CHANGES: tuple[Callable[[random.Random, bytes, Sequence[bytes]], bytes], ...] = (
    _delete, _repeat, _insert_nasty, _insert_nasty, _flip, _flip, _replace_word, _replace_word, _move_line, _splice,
)  # fmt: skip


def input_of(target: str, number: int, corpus: Sequence[bytes]) -> bytes:
    rng = random.Random(f"{target}/{number}")
    return mutated(rng, rng.choice(corpus), corpus)


class TooSlow(Exception):
    pass


def failures(
    target: str, numbers: range, records: Path | None, note: Callable[[int], None]
) -> Iterator[dict[str, Any]]:
    """Give the inputs of these numbers to a reader; yield those that it does not answer cleanly."""
    read, corpus = targets()[target], seeds(records)[target]

    def too_slow(*_: object) -> None:
        raise TooSlow(f"more than {SECONDS:g} s")

    signal.signal(signal.SIGPROF, too_slow)
    with tempfile.TemporaryDirectory(prefix="bbfalsify-fuzz-") as folder:
        for number in numbers:
            note(number)
            data = input_of(target, number, corpus)
            before = _peak_mb()
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                read(data, Path(folder))
                what = ""
            except ALLOWED:
                what = ""
            except BaseException as error:
                what = "".join(traceback.format_exception(error)[-6:])[-3000:]
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if (grown := _peak_mb() - before) > MEGABYTES:
                what = f"took {grown:.0f} MB {what}"
            if what:
                yield {"target": target, "number": number, "what": what, "input": data[:300].decode("latin-1")}


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(records: str, target: str, first: str, count: str, place: str) -> None:
    with open(place, "r+b") as file, mmap.mmap(file.fileno(), 8) as here:

        def note(number: int) -> None:
            here[:8] = number.to_bytes(8, "little")

        numbers = range(int(first), int(first) + int(count))
        for failure in failures(target, numbers, Path(records) if records != "-" else None, note):
            sys.stdout.write(json.dumps(failure) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
