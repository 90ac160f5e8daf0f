"""How a list of counterexamples grew during the search, in one line.

    the search had 64 % of the list after 88 simulations, 90 % after 352, 99 % after 704 (of 930)

The parts are those of the list's probability, by the search's rough estimates.
"""

from __future__ import annotations

from collections.abc import Iterator

from bbfalsify.results.recorded import RequirementRow

MARKS = (0.5, 0.9, 0.99)


def convergence_lines(row: RequirementRow) -> Iterator[str]:
    """Nothing where the search did not look for probable ones, or found nothing."""
    if not row.convergence or row.convergence[-1][1] <= 0:
        return
    end, whole = row.convergence[-1]
    parts: list[str] = []
    last = -1
    for mark in MARKS:
        simulations, mass = next((n, m) for n, m in row.convergence if m >= mark * whole)
        if simulations != last:
            # Rounding up would call a list complete that is not.
            share = int(1000 * mass / whole) / 10
            parts.append(f"{share:.3g} % after {simulations}" + (" simulations" if not parts else ""))
        last = simulations
    yield f"the search had {', '.join(parts)} (of {end})".replace("%", "% of this", 1)
