"""Estimate the probability of a counterexample by R passes of splitting along its word.

The event is "the run follows a1…ak and is first violated in step k".  A pass estimates the probability of following
the word (the timed cylinder) and gives traces that do; executing and judging them shows which are first violated in the
last step.  R independent passes give the interval.

The paper's numbers for the same word (`columns.py`) come with it if the executed traces are enough; the others need
more uses of the system and have to be asked for:

    D.6   from the same traces
    D.8   one more short use for every particle that a later level killed, up to that level (judging the survivors only
          would be biased); none if nothing is resampled, as with reset clocks
    D.9   from the same traces if they come from Algorithm 5, else from extra passes of Algorithm 5
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Answer, Ask, AskUses, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.baseline.failing_runs import failing_steps
from bbfalsify.engines.falsification.baseline.walk_uses import WalkUses, asked_at_once
from bbfalsify.engines.falsification.estimates import columns as equations
from bbfalsify.engines.falsification.estimates.columns import Counts
from bbfalsify.engines.falsification.estimates.conditional import METHOD as CONDITIONAL
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.estimates.evidence import Evidence
from bbfalsify.engines.falsification.estimates.exact import METHOD as EXACT
from bbfalsify.engines.falsification.estimates.exact import ExactWord, NotExact, exact_word
from bbfalsify.engines.falsification.estimates.genealogy import Split
from bbfalsify.engines.falsification.estimates.splitting import METHOD as SPLITTING
from bbfalsify.engines.falsification.estimates.splitting import importance_split
from bbfalsify.engines.falsification.finding import Finding, WordEstimate
from bbfalsify.engines.falsification.instants import violating_step, whole_moments
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk, supports_conditional
from bbfalsify.stats.intervals import splitting_estimate


@dataclass(frozen=True)
class PassPlan:
    """Number and kind of the passes of an estimation."""

    passes: int
    traces: int
    """Particles of each pass."""
    estimator: str = "auto"
    confidence: float = 0.95
    columns: Collection[str] = ()
    """The paper's equations that need more simulations: d8, d9."""
    quasi_random: bool = False
    fan: int = 0
    """Traces kept for pictures."""


def check_estimator(usage: Usage, estimator: str, *, quasi_random: bool = False) -> None:
    """Refuse an estimator that the profile does not allow."""
    reason = supports_conditional(usage.model)
    problem = None
    if estimator == "conditional" and reason is not None:
        problem = f"the conditional estimator does not support this profile: {reason}. Use estimator: splitting."
    elif quasi_random and reason is not None:
        problem = f"quasi_random needs the conditional estimator, which does not support this profile: {reason}."
    if problem is not None:
        raise UserError(Problem(problem, file=usage.profile.file))


def estimate(
    ask: Ask, usage: Usage, finding: Finding, plan: PassPlan, seeds: SeedTree, kind: str = "estimate"
) -> WordEstimate:
    """Estimate one finding; its queries and seeds are named after it, so no other finding changes its number."""
    name = f"{finding.requirement}/{finding.name}"
    return estimate_word(
        ask, usage, finding.actions, plan, seeds.child(name), requirement=finding.requirement, name=f"{kind}/{name}"
    )


def estimate_word(
    ask: Ask,
    usage: Usage,
    word: Sequence[str],
    plan: PassPlan,
    seeds: SeedTree,
    *,
    requirement: int = 0,
    name: str = "estimate/word",
    ask_uses: AskUses | None = None,
) -> WordEstimate:
    """Estimate any word of actions, not only a counterexample's key; at once where many uses can be asked for so."""
    confidence, even = plan.confidence, plan.quasi_random
    automatic = plan.estimator == "auto" and supports_conditional(usage.model) is None
    conditional = plan.estimator == "conditional" or automatic
    session = _Session(ask, usage, word, requirement, plan, ask_uses)
    split: Callable[..., Split] = importance_split
    method = SPLITTING
    if conditional:
        split = partial(conditional_split, quasi_random=even)
        method = f"{CONDITIONAL}, quasi-random" if even else CONDITIONAL
    counts = session.run(split, name, seeds.child("pass"), everybody="d8" in plan.columns, evidence=True)
    law = _exact_law(usage, word) if conditional else None
    # If steps do not agree, particles are resampled: no independent sample, so each pass keeps its own cylinder.
    exact = law is not None and law.steps_agree
    if law is not None and exact:
        counts = [replace(c, cylinders=law.cylinders) for c in counts]
    beside = {"d6": equations.d6(counts, method=method, confidence=confidence, exact=exact, even=even)}
    if "d8" in plan.columns:
        beside["d8"] = equations.d8(counts, method=method, confidence=confidence, exact=exact)
    if not conditional:
        beside |= equations.d9(counts, method=method, confidence=confidence)
    elif "d9" in plan.columns:
        own = session.run(importance_split, f"{name}/d9", seeds.child("d9"))
        beside |= equations.d9(own, method=SPLITTING, confidence=confidence)
    seen = equations.last_step(counts, exact=exact, even=even)
    if law is None:
        cylinder = Estimate(*seen.cylinder(confidence), confidence, method, seen.total_traces)
    else:
        value = law.cylinders[-1]
        cylinder = Estimate(value, value, value, confidence, EXACT, seen.total_traces)
    return WordEstimate(
        seen, splitting_estimate(seen, method=method, confidence=confidence), cylinder, beside, session.evidence
    )


def _exact_law(usage: Usage, word: Sequence[str]) -> ExactWord | None:
    """Compute the probabilities of the word and its prefixes, if they do not have to be sampled."""
    try:
        return exact_word(usage.model, word)
    except NotExact:
        return None


class _Session:
    """Passes along one word, whose traces the system executes and judges."""

    def __init__(
        self, ask: Ask, usage: Usage, word: Sequence[str], requirement: int, plan: PassPlan, ask_uses: AskUses | None
    ) -> None:
        self.ask, self.usage, self.word, self.requirement, self.ask_uses = ask, usage, word, requirement, ask_uses
        self.passes, self.traces, self.fan = plan.passes, plan.traces, plan.fan
        self.evidence = Evidence()

    def run(
        self,
        split: Callable[..., Split],
        name: str,
        seeds: SeedTree,
        *,
        everybody: bool = False,
        evidence: bool = False,
    ) -> list[Counts]:
        """Make and count all passes."""
        counts = []
        for number in range(self.passes):
            made = split(self.usage.model, self.word, effort=self.traces, seeds=seeds.child(number))
            walks = self.usage.values.drawn(made.walks(), seeds.child(number))
            names = [f"{name}/{number}/{j}" for j in range(len(walks))]
            draw = evidence and number == 0 and self.fan > 0
            moments = seeds.child(number, "moment")
            whole, answers, last = self._judge(walks, names, moments, f"{name}/{number}", keep_traces=draw)
            if evidence:
                self.evidence.add(walks, answers, last == len(self.word), self.requirement, self.passes)
            if draw:
                self.evidence.keep_fan(names, whole, answers, last == len(self.word), self.requirement, self.fan)
            steps = [np.zeros(size, int) for size in made.family.sizes]
            if everybody:
                self._judge_killed(made, steps, f"{name}/{number}", moments)
            if made.complete:
                # Descendants decide about all their ancestors; whole traces come last and overrule the others.
                for level, rows in enumerate(made.family.lineage(len(self.word), np.arange(len(walks)))[1:]):
                    steps[level][rows] = last
            unknown = sum(not answer.judgements for answer in answers)
            counts.append(equations.count(made, steps, everybody=everybody, unknown=unknown))
        return counts

    def _judge_killed(self, made: Split, steps: list[np.ndarray], name: str, moments: SeedTree) -> None:
        """Execute every particle without descendants up to its last level, level by level."""
        for level in range(1, made.family.levels + (not made.complete)):
            rows = made.family.childless(level)
            walks = self.usage.values.drawn(made.family.walks(level, rows), moments.child("killed", level))
            names = [f"{name}/killed/{level}/{row}" for row in rows]
            _, _, seen = self._judge(walks, names, moments.child("killed", level))
            for k, at in enumerate(made.family.lineage(level, rows)[1:]):
                steps[k][at] = seen

    def _judge(
        self,
        walks: Sequence[Walk],
        names: Sequence[str],
        moments: SeedTree,
        prefix: str = "",
        *,
        keep_traces: bool = False,
    ) -> tuple[list[Walk], list[Answer], np.ndarray]:
        """Execute walks with their last moments complete: return walks, answers, violating steps.

        With a prefix the names are that and a number from 0 on, so all may be asked for at once.  The violating step is
        0 if the walk is not violated, or nobody knows; it is larger than the walk's number of steps if an action that
        follows at its last moment belongs to the key.
        """
        walks = whole_moments(self.usage.model, walks, moments)
        stops = [float(walk.times[-1]) for walk in walks]
        at_once = self.ask_uses if prefix and not keep_traces else None
        answers = asked_at_once(at_once, prefix, 0, WalkUses(self.usage, walks, stops))
        if answers is None:
            drafts = [self.usage.draft(walk, stop=stop) for walk, stop in zip(walks, stops, strict=True)]
            queries = [Query(n, d, keep_traces) for n, d in zip(names, drafts, strict=True)]
            answers = list(self.ask(queries)) if queries else []
        steps = np.zeros(len(walks), int)
        for j, (walk, answer) in enumerate(zip(walks, answers, strict=True)):
            for judgement in answer.judgements[self.requirement : self.requirement + 1]:
                if judgement.verdict is Verdict.VIOLATED:
                    steps[j] = min(len(walk.times), violating_step(walk.times, judgement.first_violation_time))
        failed = {j: int(steps[j]) for j, answer in enumerate(answers) if steps[j] > 1 and not answer.ok}
        for j, step in failing_steps(self.ask, self.usage, walks, names, failed).items():
            steps[j] = step
        return walks, answers, steps
