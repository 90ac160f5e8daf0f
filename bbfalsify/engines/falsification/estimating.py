"""How probable a counterexample is: R passes of splitting along its word, every trace executed and judged.

The event is "the run follows a1…ak and is first violated in step k".  A pass estimates the probability of following
the word (the timed cylinder) and hands over traces that do; the system says which of them are first violated in the
last step.  R independent passes give the interval.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.accelerator import Finding
from bbfalsify.engines.falsification.conditional import METHOD as CONDITIONAL
from bbfalsify.engines.falsification.conditional import conditional_split
from bbfalsify.engines.falsification.evidence import Evidence
from bbfalsify.engines.falsification.splitting import METHOD as SPLITTING
from bbfalsify.engines.falsification.splitting import importance_split
from bbfalsify.engines.falsification.usage import Usage, violating_step
from bbfalsify.kernel import supports_conditional
from bbfalsify.stats.intervals import Passes, splitting_estimate


@dataclass(frozen=True, eq=False)
class Ranked:
    """A finding with its probability."""

    finding: Finding
    passes: Passes
    probability: Estimate
    cylinder: Estimate
    """Of following the word at all, violated or not."""
    evidence: Evidence = field(default_factory=Evidence, repr=False)
    """The traces that violate."""

    @property
    def order(self) -> tuple:
        """Most probable first; what was never met in the estimation comes last; ties by the shorter word."""
        met = self.passes.total_hits > 0
        return (not met, -self.probability.value, len(self.finding.actions), self.finding.actions)


def check_estimator(usage: Usage, estimator: str) -> None:
    """Refuse, before anything runs, an estimator that the profile does not allow."""
    if estimator == "conditional" and (reason := supports_conditional(usage.model)) is not None:
        raise UserError(
            Problem(
                f"the conditional estimator does not support this profile: {reason}. Use estimator: splitting.",
                file=usage.profile.file,
            )
        )


def estimate(
    ask: Ask,
    usage: Usage,
    finding: Finding,
    *,
    passes: int,
    traces: int,
    estimator: str,
    confidence: float,
    seeds: SeedTree,
) -> Ranked:
    """Estimate one finding; its queries and seeds are named after it, so no other finding changes its number."""
    name = f"{finding.requirement}/{finding.name}"
    conditional = estimator == "conditional" or (estimator == "auto" and supports_conditional(usage.model) is None)
    split, method = (conditional_split, CONDITIONAL) if conditional else (importance_split, SPLITTING)
    cylinders, hits, counts, evidence = [], [], [], Evidence()
    for number in range(passes):
        cylinder, walks = split(usage.model, finding.actions, effort=traces, seeds=seeds.child(name, "pass", number))
        stimuli = [usage.stimulus(walk, stop=float(walk.times[-1])) for walk in walks]
        names = [f"estimate/{name}/{number}/{j}" for j in range(len(walks))]
        answers = ask([Query(n, s) for n, s in zip(names, stimuli, strict=True)])
        violated = [
            any(
                judgement.verdict is Verdict.VIOLATED
                and violating_step(walk.times, judgement.first_violation_time) == len(finding.actions)
                for judgement in answer.judgements[finding.requirement : finding.requirement + 1]
            )
            for walk, answer in zip(walks, answers, strict=True)
        ]
        # Where failing counts as violating, nobody saw when: it was in the last step unless it fails without that, too.
        failed = [j for j, answer in enumerate(answers) if violated[j] and not answer.ok and len(finding.actions) > 1]
        shorter = [
            Query(f"{names[j]}/cut", usage.stimulus(walks[j], stop=float(walks[j].times[-2])), seed_name=names[j])
            for j in failed
        ]
        for j, answer in zip(failed, ask(shorter), strict=True):
            violated[j] = answer.ok
        cylinders.append(cylinder)
        hits.append(sum(violated))
        counts.append(len(walks))
        evidence.add(walks, answers, violated, finding.requirement, passes)
    seen = Passes(tuple(cylinders), tuple(hits), tuple(counts))
    value, low, high = seen.cylinder(confidence)
    return Ranked(
        finding,
        seen,
        splitting_estimate(seen, method=method, confidence=confidence),
        Estimate(value, low, high, confidence, method, seen.total_traces),
        evidence,
    )
