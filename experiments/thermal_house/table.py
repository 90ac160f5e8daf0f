"""The counterexamples of a run as in table D.3 of the paper, beside the exact cylinder probabilities printed there.

    python experiments/thermal_house/table.py runs/thermal_house-…

Every clock of the weather's guards is reset by every transition, so the exact probability of a word is a product.
Words are written short: + and - a small spell, P and N a large one, A another large one, e and c back to normal.
TR is the share of the traces that violate in the last step; D.6 and D.9 (as Example 6.1 of the paper computes it) are
there where the campaign asks for them (`columns: [d6, d9]`).  `time` is that of the estimate, in seconds.

Below stands what plain simulation would need for the same: as many years as give an interval of the same relative
width for a single counterexample, and those of Chernoff–Hoeffding for the probability of any violation.
"""

from __future__ import annotations

import json
import math
import re
import sys
from datetime import datetime
from pathlib import Path

from bbfalsify.stats.sequential import chernoff_hoeffding_samples

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
EQUATIONS = {"d6": "D.6", "d9_traces": "D.9"}


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


def value(estimate: dict | None) -> str:
    return "" if estimate is None else f"{estimate['value']:.4e}"


def table(results: dict, seconds: dict[tuple[str, ...], float]) -> list[tuple[str, ...]]:
    """One row per counterexample, most probable first; `walks` counts since the discovery before."""
    found = results["counterexamples"]
    equations = [name for name in EQUATIONS if any(name in c.get("estimates", {}) for c in found)]
    iterations = sorted(c["iteration"] for c in found)
    header = ["order", "exact cyl.", "published", "estimated", "TR", "probability [95 %]"]
    rows = [(*header, *(EQUATIONS[name] for name in equations), "trans.", "walks", "time", "word")]
    for c in found:
        order = iterations.index(c["iteration"])
        time = seconds.get(tuple(c["actions"]))
        rows.append(
            (
                str(order + 1),
                f"{exact_cylinder(c['actions']):.4e}",
                published(c["actions"]),
                value(c["cylinder"]),
                f"{c['violating']}/{c['traces']}",
                interval(c["probability"]),
                *(value(c["estimates"].get(name)) for name in equations),
                str(c["transitions"]),
                str(c["iteration"] - (iterations[order - 1] if order else 0)),
                "" if time is None else f"{time:.1f}",
                shortened(letters(c["actions"])),
            )
        )
    total = results["found_probability"]
    rows.append(
        (
            "total",
            f"{sum(exact_cylinder(c['actions']) for c in found):.4e}",
            "",
            f"{sum(c['cylinder']['value'] for c in found if c['cylinder']):.4e}",
            "",
            "" if total is None else interval(total),
            *[""] * (len(equations) + 1),
            str(max(iterations, default=0)),
            f"{sum(seconds.values()):.1f}" if seconds else "",
            "",
        )
    )
    return rows


def stages(directory: Path) -> tuple[float, dict[tuple[str, ...], float]]:
    """Seconds of the search, and of the estimate of each counterexample; empty where nothing was recorded."""
    file = directory / "events.jsonl"
    if not file.exists():
        return math.nan, {}
    search, estimates, started, last = math.nan, {}, None, None
    for line in file.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        at = datetime.fromisoformat(event["time"])
        if event["event"] == "StageStarted":
            if event["stage"] == "estimating" and started is not None:
                search = (at - started).total_seconds()
            started = last = at
        elif event["event"] == "EstimateMade" and last is not None:
            estimates[tuple(event["actions"])] = (at - last).total_seconds()
            last = at
    return search, estimates


def plain_simulation(results: dict, year: float) -> list[str]:
    """What plain simulation would need: years, and seconds at what a year of the search took."""

    def line(years: float, what: str) -> str:
        seconds = round(years * year) if math.isfinite(year) else None
        clock = "" if seconds is None else f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return f"{years:15,.0f} years {clock:>12}  {what}"

    lines = [line(chernoff_hoeffding_samples(5e-3, 0.01), "any violation, ±0.005 with 99 % (table D.1)")]
    for c in results["counterexamples"]:
        estimate = c["probability"]
        if c["violating"]:
            width = (estimate["high"] - estimate["low"]) / 2 / estimate["value"]
            years = (1.96 / width) ** 2 * (1 - estimate["value"]) / estimate["value"]
            lines.append(line(years, f"{shortened(letters(c['actions']))} as narrow as above (±{width:.0%})"))
    return lines


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit("usage: table.py RUNDIR")
    directory = Path(arguments[0])
    results = json.loads((directory / "results.json").read_text(encoding="utf-8"))
    search, seconds = stages(directory)
    rows = table(results, seconds)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        print("  ".join([*cells, row[-1]]).rstrip())
    print(f"\n{results['simulations']} simulations in {results['seconds']:.1f} s, seed {results['seed']}")
    print("\nplain simulation would need")
    year = search / results["iterations"] if results.get("iterations") else math.nan
    print("\n".join(plain_simulation(results, year)))


if __name__ == "__main__":
    main(sys.argv[1:])
