"""The counterexamples of a run as in table D.3 of the paper, beside the exact cylinder probabilities printed there.

    python experiments/thermal_house/table.py runs/thermal_house-…

Every clock of the weather's guards is reset by every transition, so the exact probability of a word is a product.
Words are written short: + and - a small spell, P and N a large one, A another large one, e and c back to normal.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

STEPS = {
    "small_pos": ("+", 4 / 9),
    "small_neg": ("-", 4 / 9),
    "large_pos": ("P", 1 / 18),
    "large_neg": ("N", 1 / 18),
    "fade": ("e", 1.0),
    "calm": ("c", 4 / 5),
    "again": ("A", 1 / 5),
}
"""Each action with its letter and its exact probability."""
PUBLISHED = {
    # The rows of table D.3 that these actions can be read into; s is a small spell of either sign and its end.
    "NAAc": "1.7778e-03",
    "sNAAc": "7.9012e-04",
    "NAAA": "4.4444e-04",
    "sNAAA": "1.9753e-04",
    "sNAAAc": "1.5803e-04",
    "NAAAA": "8.8889e-05",
    "ssNAAA": "8.7791e-05",
    "NAAAAAc": "1.4222e-05",
    "ssNAAAAc": "1.4047e-05",
    "sssNAAAA": "7.8037e-06",
    "ssNAAAAA": "3.5117e-06",
}
HEADER = ("order", "exact cyl.", "published", "estimated", "TR", "probability [95 %]", "trans.", "walks", "word")


def letters(actions: list[str]) -> str:
    return "".join(STEPS[action][0] for action in actions)


def published(actions: list[str]) -> str:
    return PUBLISHED.get(re.sub(r"[+-]e", "s", letters(actions)), "")


def shortened(word: str, limit: int = 24) -> str:
    return word if len(word) <= limit else f"{word[:4]}…{word[5 - limit :]}"


def exact_cylinder(actions: list[str]) -> float:
    return math.prod(STEPS[action][1] for action in actions)


def interval(estimate: dict) -> str:
    return f"{estimate['value']:.3e} [{estimate['low']:.2e}, {estimate['high']:.2e}]"


def rows(results: dict) -> list[tuple[str, ...]]:
    """One row per counterexample, most probable first; `walks` counts since the discovery before."""
    found = results["counterexamples"]
    iterations = sorted(c["iteration"] for c in found)
    table = []
    for c in found:
        order = iterations.index(c["iteration"])
        cylinder = c["cylinder"]
        table.append(
            (
                str(order + 1),
                f"{exact_cylinder(c['actions']):.4e}",
                published(c["actions"]),
                "" if cylinder is None else f"{cylinder['value']:.4e}",
                f"{c['violating']}/{c['traces']}",
                interval(c["probability"]),
                str(c["transitions"]),
                str(c["iteration"] - (iterations[order - 1] if order else 0)),
                shortened(letters(c["actions"])),
            )
        )
    total = results["found_probability"]
    table.append(
        (
            "total",
            f"{sum(exact_cylinder(c['actions']) for c in found):.4e}",
            "",
            f"{sum(c['cylinder']['value'] for c in found if c['cylinder']):.4e}",
            "",
            "" if total is None else interval(total),
            "",
            str(max(iterations, default=0)),
            "",
        )
    )
    return table


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit("usage: table.py RUNDIR")
    results = json.loads((Path(arguments[0]) / "results.json").read_text(encoding="utf-8"))
    table = [HEADER, *rows(results)]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEADER))]
    for row in table:
        cells = [cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        print("  ".join([*cells, row[-1]]).rstrip())
    print(f"\n{results['simulations']} simulations in {results['seconds']:.1f} s, seed {results['seed']}")


if __name__ == "__main__":
    main(sys.argv[1:])
