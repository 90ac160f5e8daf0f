"""Estimate a word by the paper's equations, beside our own number (Paper D, equations D.6 to D.9).

For the word a1…an let C_k be the estimated probability of its first k actions (the timed cylinder of πk), S_k the
particles of level k, Γ the traces that follow the whole word, and Θ those first violated in step k:

    ours           C_n · |traces first violated in step n| / |Γ|
    D.6            C_n · |violating traces| / |Γ|
    D.8            Σ_k C_k · |particles of level k first violated in step k| / |S_k|
    D.9            Σ_k C_k · |Θ(Γ, k)| / |S_k|, where Θ is read as
      set            … the set of prefixes of length k (as D.7 defines it): common ancestors count once
      multiset       … one prefix per trace
      traces         … one prefix per trace, divided by |Γ| instead of |S_k| (as Example 6.1 computes)

D.8 is the probability that a run follows the word up to its first violation.  It needs a verdict on *every* particle,
also on those that later levels kill; the survivors alone are a biased sample of level k.  D.9 uses the survivors: its
value depends on the number of particles that Algorithm 5 keeps, so it is always computed from passes of Algorithm 5.
Only its set reading never exceeds D.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.estimate import Estimate
from bbfalsify.engines.falsification.estimates.genealogy import Split
from bbfalsify.stats.intervals import Passes, levels_estimate, splitting_estimate


@dataclass(frozen=True)
class Counts:
    """Counts of one pass along a word of n actions; tuples have one number per level 1…n."""

    cylinders: tuple[float, ...]
    particles: tuple[int, ...]
    traces: int
    """|Γ|; 0 if the pass was lost."""
    violating: tuple[int, ...]
    """Traces first violated in step k."""
    ancestors: tuple[int, ...]
    """Particles of level k with a descendant in Γ: distinct prefixes."""
    violating_ancestors: tuple[int, ...]
    violating_particles: tuple[int, ...] | None = None
    """Particles of level k first violated in step k; None if those without descendants were not judged."""
    unknown: int = 0
    """Traces without a verdict."""
    families: tuple[float, ...] = ()
    """Effective number of independent particles of level k; the last number is about Γ."""


def count(split: Split, steps: Sequence[np.ndarray], *, everybody: bool, unknown: int = 0) -> Counts:
    """Count one pass.  steps[k - 1][row] is the step in which that particle of level k was first violated (0: not).

    If only the traces were judged, the entries of particles without descendants in Γ are not used.
    """
    family, n = split.family, len(split.cylinders)
    lineage = family.lineage(n, np.arange(family.size))[1:] if split.complete else [np.zeros(0, int)] * n
    survivors = [np.unique(rows) for rows in lineage]
    seen = [*steps, *[np.zeros(0, int)] * (n - len(steps))]
    last = seen[-1][lineage[-1]]
    return Counts(
        cylinders=split.cylinders,
        particles=(*family.sizes, *[0] * (n - family.levels)),
        traces=len(lineage[-1]),
        violating=tuple(int(np.sum(last == k)) for k in range(1, n + 1)),
        ancestors=tuple(len(rows) for rows in survivors),
        violating_ancestors=tuple(int(np.sum(seen[k][rows] == k + 1)) for k, rows in enumerate(survivors)),
        violating_particles=tuple(int(np.sum(at == k)) for k, at in enumerate(seen, start=1)) if everybody else None,
        unknown=unknown,
        families=tuple(_worth(founders) for founders in family.founders()) + (0.0,) * (n - family.levels),
    )


def _worth(founders: np.ndarray) -> float:
    """Compute (Σ c)² / Σ c² for the numbers c of particles that descend from each particle of level 1.

    The particles of level 1 are independent; those with the same founder may share everything but the last delay.
    """
    return float(len(founders) ** 2 / np.sum(np.bincount(founders).astype(float) ** 2))


def last_step(passes: Sequence[Counts], *, exact: bool = False, even: bool = False) -> Passes:
    """Estimate the key's own event: follow the word and be first violated in its last step."""
    return _of_traces(passes, [c.violating[-1] for c in passes], exact=exact, even=even)


def d6(
    passes: Sequence[Counts], *, method: str, confidence: float, exact: bool = False, even: bool = False
) -> Estimate:
    """Estimate following the word and being violated somewhere in it."""
    seen = _of_traces(passes, [sum(c.violating) for c in passes], exact=exact, even=even)
    return splitting_estimate(seen, method=f"equation D.6, {method}", confidence=confidence)


def d8(passes: Sequence[Counts], *, method: str, confidence: float, exact: bool = False) -> Estimate:
    """Estimate following the word up to its first violation; needs passes with every particle judged."""
    levels = []
    for k in range(len(passes[0].cylinders)):
        hits = tuple(c.violating_particles[k] for c in passes if c.violating_particles is not None)
        levels.append(
            Passes(
                tuple(c.cylinders[k] for c in passes),
                hits,
                tuple(c.particles[k] for c in passes),
                exact=exact,
                families=tuple(c.families[k] for c in passes),
            )
        )
    return levels_estimate(levels, method=f"equation D.8, every particle judged, {method}", confidence=confidence)


def d9(passes: Sequence[Counts], *, method: str, confidence: float) -> dict[str, Estimate]:
    """Compute the three readings, each a sum over levels of share × fraction; the shares give the denominators.

    They are formulas about the survivors of a pass, not probabilities of an event: the interval is for the mean of more
    passes.
    """
    readings: dict[str, list[Passes]] = {"d9_set": [], "d9_multiset": [], "d9_traces": []}
    for k in range(len(passes[0].cylinders)):
        cylinders = [c.cylinders[k] for c in passes]
        traces = tuple(c.traces for c in passes)
        hits = tuple(c.violating[k] for c in passes)
        ancestors = tuple(c.ancestors[k] for c in passes)
        particles = [max(1, c.particles[k]) for c in passes]
        families = tuple(c.families[-1] for c in passes)
        readings["d9_set"].append(
            Passes(
                tuple(p * a / s for p, a, s in zip(cylinders, ancestors, particles, strict=True)),
                tuple(c.violating_ancestors[k] for c in passes),
                ancestors,
            )
        )
        readings["d9_multiset"].append(
            Passes(
                tuple(p * t / s for p, t, s in zip(cylinders, traces, particles, strict=True)),
                hits,
                traces,
                families=families,
            )
        )
        readings["d9_traces"].append(Passes(tuple(cylinders), hits, traces, families=families))
    names = {"d9_set": "set of prefixes", "d9_multiset": "multiset of prefixes", "d9_traces": "divided by |Γ|"}
    return {
        name: levels_estimate(
            levels, method=f"equation D.9 ({names[name]}), {method}", confidence=confidence, bound_unseen=False
        )
        for name, levels in readings.items()
    }


def _of_traces(passes: Sequence[Counts], hits: Sequence[int], *, exact: bool, even: bool) -> Passes:
    return Passes(
        tuple(c.cylinders[-1] for c in passes),
        tuple(hits),
        tuple(c.traces for c in passes),
        exact=exact,
        families=tuple(c.families[-1] for c in passes),
        even=even,
        unknown=tuple(c.unknown for c in passes),
    )
