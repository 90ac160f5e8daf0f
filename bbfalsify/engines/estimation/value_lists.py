"""Lists of values as users write them: FROM:TO:STEP or A,B,C.

values_of("nu=1:3:0.5")          ("nu", [1.0, 1.5, 2.0, 2.5, 3.0])
values_of("nu=1,2,6")            ("nu", [1.0, 2.0, 6.0])
"""

from __future__ import annotations

import itertools
import math
import re

from bbfalsify.core.errors import UserError

MOST = 10_000
"""Values in all; more are surely a typo."""


def values_of(text: str) -> tuple[str, list[float]]:
    """Read NAME=FROM:TO:STEP or NAME=A,B,C."""
    match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*(\S.*?)\s*", text)
    if match is None:
        raise UserError(f"write NAME=FROM:TO:STEP or NAME=A,B,C; found '{text}'.")
    return match.group(1), numbers_of(match.group(2))


def numbers_of(text: str) -> list[float]:
    """Read FROM:TO:STEP (both ends included) or A,B,C."""
    try:
        parts = [float(part) for part in re.split(r"[:,]", text)]
    except ValueError:
        raise UserError(f"write FROM:TO:STEP or A,B,C with numbers; found '{text}'.") from None
    if not all(math.isfinite(part) for part in parts):
        raise UserError(f"numbers must be finite; found '{text}'.")
    if ":" not in text:
        return parts
    if len(parts) != 3 or "," in text or parts[2] <= 0 or parts[1] < parts[0]:
        raise UserError(f"FROM:TO:STEP needs FROM <= TO and STEP > 0; found '{text}'.")
    low, high, step = parts
    count = math.floor((high - low) / step * (1 + 1e-12) + 1e-9) + 1
    if count > MOST:
        raise UserError(f"{count} values are too many (at most {MOST}); found '{text}'.")
    return [round(low + step * number, 12) for number in range(count)]


def combinations(text: str) -> list[dict[str, float]]:
    """Every combination of the values of one or several constants: "nu=1,2,6 mu=10:100:10"."""
    named = [values_of(part) for part in re.split(r"[;\s]+", text.strip()) if part]
    if math.prod(len(values) for _, values in named) > MOST:
        raise UserError(f"these are more than {MOST} combinations.")
    names = [name for name, _ in named]
    return [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*(values for _, values in named))]
