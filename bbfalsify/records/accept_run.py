"""Write down the counterexamples of a run as accepted: the file that `running.accepted` reads.

What is in the file stays as it is, comments and all; new entries are added at its end.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.records.accepted import ACCEPTED, Acceptance, Acceptances, Failure, load_acceptances, read_acceptances
from bbfalsify.records.documents import parse_yaml
from bbfalsify.records.json_files import write_atomically
from bbfalsify.records.yaml_text import scalar

HEADER = """\
# Failures that are known and accepted.  With --accept (or accepted: in a campaign) a run that finds no others ends
# with exit code 0.
format_version: 1
accepted:
"""


def accept(
    file: str | Path,
    counterexamples: Iterable[Failure],
    *,
    modes: Iterable[Failure] = (),
    reason: str,
    expires: datetime.date | None = None,
    limit: bool = True,
    today: datetime.date | None = None,
) -> list[Acceptance]:
    """Add an entry for each counterexample that is not accepted yet, and for each of the `modes`; the new entries.

    With `limit`, an entry holds as long as the failure is not certainly more probable than its interval says now.
    """
    file = Path(file)
    if not reason.strip():
        raise UserError("a reason is needed: those who read the file next year were not there.")
    before = load_acceptances(file) if file.exists() else Acceptances(str(file), ())
    rows, named = list(counterexamples), list(modes)
    verdicts = before.judge([*rows, *named], today).verdicts

    def most(probability: Estimate | None) -> float | None:
        return None if probability is None or not limit or not probability.samples else _round_up(probability.high)

    everything = [
        *(Acceptance(f.requirement, tuple(f.actions), reason, False, most(f.probability), expires) for f in rows),
        *(
            Acceptance(f.requirement, (), reason, False, most(f.mode_probability), expires, mode=f.mode,
                       typical=next(iter(f.mode_words), ()))
            for f in named
        ),
    ]  # fmt: skip
    new = [entry for entry, verdict in zip(everything, verdicts, strict=True) if verdict != ACCEPTED]
    if new:
        old = file.read_text(encoding="utf-8") if file.exists() else HEADER
        _write(file, _extended(old, new), before, len(new))
    return new


def _extended(text: str, new: Sequence[Acceptance]) -> str:
    text = re.sub(r"^accepted:[ \t]*\[[ \t]*\][ \t]*$", "accepted:", text, flags=re.M)
    found = re.search(r"^accepted:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*([ \t]*)- ", text, flags=re.M)
    indent = found[1] if found else "  "
    return (text if text.endswith("\n") else text + "\n") + "".join(_entry_text(entry, indent) for entry in new)


def _write(file: Path, text: str, before: Acceptances, added: int) -> None:
    """Only what reads back as the old entries and the new ones."""
    try:
        entries = read_acceptances(parse_yaml(text, file=str(file))).entries
    except UserError:
        entries = ()
    if len(entries) != len(before.entries) + added or entries[: len(before.entries)] != before.entries:
        raise UserError(
            Problem("entries cannot be added at the end: write 'accepted:' last, one '- ' per entry.", file=str(file))
        )
    write_atomically(file, text)


def _entry_text(entry: Acceptance, indent: str) -> str:
    accepted = f"mode: {scalar(entry.mode)}" if entry.mode else f"actions: [{', '.join(map(scalar, entry.actions))}]"
    lines = [f"requirement: {scalar(entry.requirement)}", accepted]
    if entry.typical:
        lines.append(f"typical: [{', '.join(map(scalar, entry.typical))}]")
    if entry.max_probability is not None:
        lines.append(f"max_probability: {entry.max_probability:.2e}")
    lines.append(f"reason: {json.dumps(entry.reason, ensure_ascii=False)}")
    if entry.expires is not None:
        lines.append(f"expires: {entry.expires.isoformat()}")
    return f"{indent}- " + f"\n{indent}  ".join(lines) + "\n"


def _round_up(value: float) -> float:
    """Three digits, never below the value."""
    if not 0 < value < 1:
        return min(max(value, 0.0), 1.0)
    scale = 10.0 ** (2 - math.floor(math.log10(value)))
    return min(1.0, float(f"{math.ceil(value * scale * (1 - 1e-12)) / scale:.3g}"))
