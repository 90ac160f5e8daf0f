"""Cut failing simulations: find the step in which a simulation that counts as a violation fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bbfalsify.core.query import Ask, Query
from bbfalsify.engines.falsification.finding import query_name
from bbfalsify.engines.falsification.instants import moment_ends, violating_step
from bbfalsify.engines.falsification.search.search import Run
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk


def shortest_failing(ask: Ask, usage: Usage, run: Run, *, most: int) -> Run | None:
    """Cut the input of a failing simulation that counts as a violation after the step in which it fails.

    Nobody sees when a simulation fails, only that it did; the shortest prefix of whole moments that still fails ends
    with the step in whose delay it happened.  Found by halving: a failure does not go away when the input goes on.
    None where more than `most` simulations would be needed: another step would be a wrong key.
    """
    if run.answer.ok or not run.answer.judgements:
        return run
    walk, stimulus, answer = run.walk, run.stimulus, run.answer
    cuts = moment_ends(walk.times[: violating_step(walk.times, stimulus.duration)]).tolist()
    passes, fails = -1, len(cuts) - 1
    name = query_name(run.iteration)
    if (len(cuts)).bit_length() > most and len(cuts) > 1:
        return None
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


def failing_steps(
    ask: Ask, usage: Usage, walks: Sequence[Walk], names: Sequence[str], failed: Mapping[int, int]
) -> dict[int, int]:
    """Find the steps in which simulations failed that count as violations: the last one without which none fails.

    `failed` has the last step that each may have failed in, by its place in `walks`.  The moment before the last is
    tried first, since that decides the key's event; then halving.
    """
    cuts = {j: moment_ends(walks[j].times[:end]) for j, end in failed.items()}
    passing, failing = dict.fromkeys(failed, -1), {j: len(cuts[j]) - 1 for j in failed}
    first = True
    while open_ := [j for j in failed if failing[j] - passing[j] > 1]:
        tried = [failing[j] - 1 if first else (failing[j] + passing[j]) // 2 for j in open_]
        ends = [int(cuts[j][k]) for j, k in zip(open_, tried, strict=True)]
        queries = [
            Query(
                f"{names[j]}/cut/{end}", usage.draft(walks[j], stop=float(walks[j].times[end - 1])), seed_name=names[j]
            )
            for j, end in zip(open_, ends, strict=True)
        ]
        for j, k, answer in zip(open_, tried, ask(queries), strict=True):
            (passing if answer.ok else failing)[j] = k
        first = False
    return {j: int(cuts[j][failing[j]]) for j in failed}
