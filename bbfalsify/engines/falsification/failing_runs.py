"""Cut failing simulations: find the step in which a simulation that counts as a violation fails."""

from __future__ import annotations

from dataclasses import replace

from bbfalsify.core.query import Ask, Query
from bbfalsify.engines.falsification.finding import query_name
from bbfalsify.engines.falsification.instants import moment_ends, violating_step
from bbfalsify.engines.falsification.search import Run
from bbfalsify.engines.falsification.usage import Usage


def shortest_failing(ask: Ask, usage: Usage, run: Run) -> Run:
    """Cut the input of a failing simulation that counts as a violation after the step in which it fails.

    Nobody sees when a simulation fails, only that it did; the shortest prefix of whole moments that still fails ends
    with the step in whose delay it happened.  Found by halving: a failure does not go away when the input goes on.
    """
    if run.answer.ok or not run.answer.judgements:
        return run
    walk, stimulus, answer = run.walk, run.stimulus, run.answer
    cuts = moment_ends(walk.times[: violating_step(walk.times, stimulus.duration)]).tolist()
    passes, fails = -1, len(cuts) - 1
    name = query_name(run.iteration)
    while fails - passes > 1:
        middle = (passes + fails) // 2
        steps = cuts[middle]
        shorter = usage.stimulus(walk.prefix(steps), stop=min(float(walk.times[steps - 1]), stimulus.duration))
        [tried] = ask([Query(f"{name}/cut/{steps}", shorter, seed_name=name)])
        if tried.ok:
            passes = middle
        else:
            fails, stimulus, answer = middle, shorter, tried
    return replace(run, walk=walk.prefix(cuts[fails]), stimulus=stimulus, answer=answer, choices=None)
