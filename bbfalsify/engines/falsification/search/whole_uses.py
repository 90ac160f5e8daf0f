"""Whole uses: a finding is always a whole use and the moment of its violation, however short its simulation was.

A search may end simulations early: those along words after the word, those of adaptive duration where the last
violation became certain.  A counterexample with such an input could never be FIXED, because its requirement stays open
to the end.  So what violates with a new key is executed once more, to the end of the use.
"""

from __future__ import annotations

from dataclasses import replace

from bbfalsify.core.query import Answer, Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.finding import Finding, query_name
from bbfalsify.engines.falsification.search.search import Run, findings_of
from bbfalsify.engines.falsification.search.walk_extension import to_the_end
from bbfalsify.engines.falsification.usage import MAX_STEPS, Usage


def whole_run(ask: Ask, usage: Usage, run: Run, seeds: SeedTree) -> Run:
    """Execute a run to the end of the use, where its input ends before.

    A simulation that failed has no more to show, and a walk of a profile that stands still cannot go on.
    """
    name = query_name(run.iteration)
    if not run.answer.ok or run.stimulus.duration >= usage.duration:
        return run
    walk = to_the_end(usage.model, run.walk, usage.duration, MAX_STEPS, seeds.child("whole", name))
    if walk.times[-1] < usage.duration:
        return run
    stimulus = usage.stimulus(walk)
    [answer] = ask([Query(f"{name}/whole", stimulus, seed_name=name)])
    return replace(run, walk=walk, stimulus=stimulus, answer=answer, choices=None)


def make_whole(ask: Ask, usage: Usage, finding: Finding, seeds: SeedTree) -> None:
    """Replace the input of a finding by that of the whole use, if it violates in the same step."""
    if finding.walk is None or finding.iteration is None:
        return
    seen = Run(finding.iteration, finding.walk, finding.stimulus, Answer(finding.simulation))
    run = whole_run(ask, usage, seen, seeds)
    for found in findings_of(usage, run):
        if (found.requirement, found.actions) == (finding.requirement, finding.actions):
            finding.word, finding.stimulus = found.word, found.stimulus
            finding.judgement, finding.walk, finding.choices = found.judgement, found.walk, None
