"""A use for each failure mode that no listed counterexample shows, executed and confirmed like one.

The modes of common failures have rows, whose files show them.  A rare mode may be known only from what the search found
beside its list, or from fresh simulations: the shortest of these uses that violates again becomes its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bbfalsify.core.query import Query
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.modes.estimating import Modes
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.strata import owner_of
from bbfalsify.engines.falsification.modes.use import Use
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk
from bbfalsify.running.falsify.finding_listener import Scribe

MOST_TRIES = 3
"""Uses of a mode that are executed; a system that is random may pass."""


def show_modes(
    scribe: Scribe, usage: Usage, requirement: int, patterns: Sequence[Pattern], modes: Modes, uses: Sequence[Use]
) -> dict[Pattern, Finding]:
    """A confirmed violation of each mode without a row, chosen among known violating uses."""
    found = {}
    for mode in modes.modes:
        if not mode.rows:
            number = patterns.index(mode.pattern)
            own = [use for use in uses if owner_of(patterns, use) == number]
            shown = next(_violations(scribe, usage, requirement, number, own), None)
            if shown is not None:
                found[mode.pattern] = shown
    return found


def _violations(scribe: Scribe, usage: Usage, requirement: int, number: int, uses: Sequence[Use]) -> Iterator[Finding]:
    """Execute whole uses, those with few actions up to the violation first; yield those that violate again."""
    whole = [(use, use.walk) for use in uses if use.walk is not None and use.end >= usage.duration]
    whole.sort(key=lambda pair: (len(pair[0].word), pair[0].violated_at))
    for place, (_, walk) in enumerate(whole[:MOST_TRIES]):
        finding = _execute(scribe, usage, requirement, walk, f"mode/{requirement}/{number}/{place}")
        if finding is not None:
            scribe.confirm(finding)
            yield finding


def _execute(scribe: Scribe, usage: Usage, requirement: int, walk: Walk, name: str) -> Finding | None:
    stimulus, actions = usage.stimulus(walk), walk.actions(usage.model)
    [answer] = scribe.driver.ask([Query(f"known/{name}", stimulus)])
    if requirement not in answer.violated:
        return None
    judgement = answer.judgements[requirement]
    assert judgement.verdict is Verdict.VIOLATED
    key = actions[: violating_step(walk.times, judgement.first_violation_time)]
    word = tuple(zip(walk.times.tolist(), actions, strict=True))
    return Finding(requirement, key, word, stimulus, judgement, answer.status, None, name, walk=walk)
