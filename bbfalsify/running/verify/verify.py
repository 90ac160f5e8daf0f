"""`verify`: decide a query about all behaviours of a model, by zones, with random walks as a help.

    result = verify("fischer.yaml", "A[] not (P(1).cs && P(2).cs)")
    result.answer.verdict, result.answer.why, result.answer.effort

Portfolio: small models are decided at once.  What is not decided after a second is searched by random walks for some
seconds, which find deep states; then the exploration goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.engines.verification.answer import EXACT, HOLDS, UNDECIDED, VIOLATED, Answer, Effort, Limit
from bbfalsify.engines.verification.extremes import ExtremesVerification
from bbfalsify.engines.verification.lasting import LastingVerification
from bbfalsify.engines.verification.searched import SearchVerification
from bbfalsify.engines.verification.settings import PORTFOLIO, SEARCHES, VerifySettings
from bbfalsify.engines.verification.states import StateVerification
from bbfalsify.logic.csl import is_csl
from bbfalsify.logic.reach_query import Asked, ExtremesQuery, LivenessQuery, parse_asked
from bbfalsify.logic.uppaal_queries import read_query
from bbfalsify.modelling import Network, load_network
from bbfalsify.running.execution import Execution
from bbfalsify.running.reach.reach import reach
from bbfalsify.running.reach.trace_files import trace_json
from bbfalsify.zones.explorer import Order
from bbfalsify.zones.zone_exploration import warm_up

BEFORE_WALKS_S = 1.0
"""Seconds of exploration before random walks."""

Watch = Callable[[Effort, float], None]
"""Told the figures so far, and the seconds."""


@dataclass(frozen=True, eq=False)
class Verification:
    """The answer to one query, with the exact trace."""

    network: Network
    query: Asked
    answer: Answer
    seed: int
    seconds: float
    cpu_seconds: float

    @property
    def verdict(self) -> str:
        """holds, violated or undecided; of `sup`, `inf` and `bounds` exact or undecided."""
        return self.answer.verdict

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The values of `sup`, `inf` and `bounds`."""
        return self.answer.limits

    @property
    def outcome(self) -> Outcome:
        """The outcome in the words of campaigns."""
        if self.verdict == UNDECIDED:
            return Outcome.INCONCLUSIVE
        if self.query.universal or self.verdict == EXACT:
            return Outcome.FALSIFIED if self.verdict == VIOLATED else Outcome.NOT_FALSIFIED
        return Outcome.REACHED if self.verdict == HOLDS else Outcome.NOT_REACHED

    @property
    def steps(self) -> list[dict[str, Any]]:
        """Steps of the trace, in words and numbers; none where there is none."""
        trace = self.answer.trace
        return [] if trace is None else trace_json(self.network, trace)["steps"]

    def in_words(self) -> str:
        """The answer as a sentence."""
        answer, text = self.answer, self.query.text
        if answer.limits:
            values = "; ".join(limit.in_words() for limit in answer.limits)
            states = f"{answer.effort.states:,} symbolic states explored"
            return f"{text}: {values} ({answer.verdict.upper()}: {states}{_traced(answer.limits)})"
        if answer.verdict == UNDECIDED:
            return f"{text}: UNDECIDED: {answer.why}"
        trace = answer.trace
        if trace is None and answer.why is not None:
            return f"{text}: {answer.verdict.upper()} ({answer.why})"
        if trace is None:
            what = "a proof about this model, not about any system that it describes"
            if answer.stopwatch is not None:
                what += f"; clocks that stop, as '{answer.stopwatch}', were over-approximated, which proofs allow"
            return f"{text}: {answer.verdict.upper()} (all {answer.effort.states:,} symbolic states explored: {what})"
        after = "" if answer.ending is None else f", {answer.ending.in_words()}"
        deadlock = " in a deadlock" if trace.deadlocked else ""
        return (
            f"{text}: {answer.verdict.upper()}{deadlock}, shown by {trace.extent}{after}, found by "
            f"{answer.found_by}; every step re-checked by the exact interpreter"
            f"{'' if answer.why is None else f' ({answer.why})'}"
        )


def is_verifiable(text: str) -> bool:
    """Tell whether a query stored in a file is for zones; what nobody can read is, so that somebody says so."""
    if is_csl(text):
        return False
    try:
        asked = read_query(text)
    except UserError:
        return True
    return asked.command != "estimate"


def _traced(limits: Sequence[Limit]) -> str:
    """Say that the values are shown by runs."""
    return "; every value shown by a run, re-checked by the exact interpreter" if any(e.trace for e in limits) else ""


def verify(
    model: str | Path | Network,
    query: str,
    settings: VerifySettings = VerifySettings(),
    *,
    seed: int | None = None,
    execution: Execution = Execution(),
    watch: Watch = lambda effort, seconds: None,
    searched: int = 0,
    report: Callable[[int], None] = lambda depth: None,
) -> Verification:
    """Decide a query; the settings are explained by `bbfalsify.verify`.

    A deep random search with an increment reports each depth that it has searched; one that was interrupted there goes
    on from `searched`.
    """
    network = model if isinstance(model, Network) else load_network(model)
    asked = parse_asked(query, network)
    seed = draw_seed() if seed is None else seed
    work = _prepared(network, asked, settings, SeedTree(seed).child("verify").word())
    if isinstance(work, SearchVerification):
        work.searched, work.report = searched, report
    warm_up()  # compiling does not count
    began, used = time.monotonic(), time.process_time()
    ends = None if settings.timeout is None else began + settings.timeout

    def go_on_until(moment: float | None) -> Callable[[Effort], bool]:
        def go_on(effort: Effort) -> bool:
            watch(effort, time.monotonic() - began)
            return moment is None or time.monotonic() < moment

        return go_on

    walking = settings.heuristic == PORTFOLIO and settings.trace == "some" and settings.walks > 0
    walking = walking and not isinstance(asked, ExtremesQuery)
    first = began + BEFORE_WALKS_S if walking else ends
    answer = work.run(go_on_until(first if ends is None or first is None else min(first, ends)))
    if answer.verdict == UNDECIDED and first != ends and (ends is None or time.monotonic() < ends):
        left = settings.walks if ends is None else min(settings.walks, ends - time.monotonic())
        found = _walked(network, asked, left, seed, execution, work.effort)
        answer = found if found is not None else work.run(go_on_until(ends))
    return Verification(network, asked, answer, seed, time.monotonic() - began, time.process_time() - used)


def _prepared(
    network: Network, query: Asked, settings: VerifySettings, seed: int
) -> StateVerification | LastingVerification | SearchVerification | ExtremesVerification:
    most_bytes = settings.memory * 1e6
    if settings.heuristic in SEARCHES:
        if isinstance(query, LivenessQuery | ExtremesQuery):
            raise UserError(f"query '{query.text}': {settings.heuristic} looks for states; take bfs, dfs or rdfs.")
        given = {"method": settings.heuristic}
        chosen = {"width": settings.width} if settings.heuristic == "highway" else {"increment": settings.increment}
        return SearchVerification(network, query, most_bytes=most_bytes, seed=seed, settings={**given, **chosen})
    order = Order.BREADTH if settings.heuristic == PORTFOLIO else Order(settings.heuristic)
    if settings.trace == "fastest":
        order = Order.EARLIEST
    if isinstance(query, LivenessQuery):
        return LastingVerification(network, query, order=order, most_bytes=most_bytes, seed=seed)
    if isinstance(query, ExtremesQuery):
        return ExtremesVerification(network, query, order=order, most_bytes=most_bytes, seed=seed)
    bits = settings.fallback == "bits" and settings.trace == "some"  # it goes deep: its traces are not the best
    return StateVerification(network, query, order=order, most_bytes=most_bytes, bits=bits, seed=seed)


def _walked(
    network: Network, query: Asked, seconds: float, seed: int, execution: Execution, effort: Effort
) -> Answer | None:
    """The answer that random walks find, if they do."""
    found = reach(network, query.text, ReachSettings(timeout=seconds), seed=seed, execution=execution)
    best = found.found.best
    if best is None:
        return None
    return Answer(
        VIOLATED if query.universal else HOLDS, effort, trace=best.trace, ending=found.ending,
        found_by=f"random walks ({best.heuristic.value})",
    )  # fmt: skip
