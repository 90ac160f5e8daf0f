"""`verify`: decide a query about all behaviours of a model, by zones, with random walks as a help.

    result = verify("fischer.yaml", "A[] not (P(1).cs && P(2).cs)")
    result.answer.verdict, result.answer.why, result.answer.effort

Portfolio: small models are decided at once.  What is not decided after a second is searched by random walks for some
seconds, which find deep states; then the exploration goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.reachability.endless_runs import STUCK
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.engines.verification.answer import HOLDS, UNDECIDED, VIOLATED, Answer, Effort
from bbfalsify.engines.verification.lasting import LastingVerification
from bbfalsify.engines.verification.searched import SearchVerification
from bbfalsify.engines.verification.settings import PORTFOLIO, SEARCHES, VerifySettings
from bbfalsify.engines.verification.states import StateVerification
from bbfalsify.logic.csl import is_csl
from bbfalsify.logic.reach_query import ExtremesQuery, LivenessQuery, ReachQuery, parse_asked
from bbfalsify.logic.uppaal_queries import Extremes, read_query
from bbfalsify.modelling import Network, load_network
from bbfalsify.modelling.language.receiver_choices import open_choices
from bbfalsify.running.execution import Execution
from bbfalsify.running.reach.reach import reach
from bbfalsify.running.reach.trace_files import trace_json
from bbfalsify.zones.explorer import Order
from bbfalsify.zones.zone_exploration import warm_up

BEFORE_WALKS_S = 1.0
"""Seconds of exploration before random walks."""

VerifiedQuery = ReachQuery | LivenessQuery
Watch = Callable[[Effort, float], None]
"""Told the figures so far, and the seconds."""


@dataclass(frozen=True, eq=False)
class Verification:
    """The answer to one query, with the exact trace."""

    network: Network
    query: VerifiedQuery
    answer: Answer
    seed: int
    seconds: float
    cpu_seconds: float

    @property
    def verdict(self) -> str:
        """holds, violated or undecided."""
        return self.answer.verdict

    @property
    def outcome(self) -> Outcome:
        """The outcome in the words of campaigns."""
        if self.verdict == UNDECIDED:
            return Outcome.INCONCLUSIVE
        if self.query.universal:
            return Outcome.NOT_FALSIFIED if self.verdict == HOLDS else Outcome.FALSIFIED
        return Outcome.REACHED if self.verdict == HOLDS else Outcome.NOT_REACHED

    @property
    def steps(self) -> list[dict[str, Any]]:
        """Steps of the trace, in words and numbers; none where there is none."""
        trace = self.answer.trace
        return [] if trace is None else trace_json(self.network, trace)["steps"]

    def in_words(self) -> str:
        """The answer as a sentence."""
        answer, text = self.answer, self.query.text
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
            f"{text}: {answer.verdict.upper()}{deadlock}, shown by {len(trace.steps)} steps and "
            f"{float(trace.time):g} time units{after}, found by {answer.found_by}; every step re-checked by the exact "
            f"interpreter{'' if answer.why is None else f' ({answer.why})'}"
        )


def is_verifiable(text: str) -> bool:
    """Tell whether a query stored in a file is for zones; what nobody can read is, so that somebody says so."""
    if is_csl(text):
        return False
    try:
        asked = read_query(text)
    except UserError:
        return True
    return not isinstance(asked, Extremes) and asked.command != "estimate"


def read_verifiable(text: str, network: Network, *, file: str | None = None, line: int | None = None) -> VerifiedQuery:
    """Parse a query that zones can decide, or raise a UserError that names another command."""
    asked, form = parse_asked(text, network, file=file, line=line), read_query(text, file=file, line=line)
    if isinstance(asked, ExtremesQuery):
        premise = f"{form.condition} imply " if isinstance(form, Extremes) and form.condition else ""
        word, expression, _ = asked.wanted[0]
        bound = f"A[] {premise}{expression} {'<=' if word == 'sup' else '>='} …"
        problem = f"query '{asked.text}': 'bbfalsify reach' looks for extreme values; verify proves a bound: {bound}"
        raise UserError(Problem(problem, file, line))
    return asked


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
    asked = read_verifiable(query, network)
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
    first = began + BEFORE_WALKS_S if walking else ends
    answer = work.run(go_on_until(first if ends is None or first is None else min(first, ends)))
    if answer.verdict == UNDECIDED and first != ends and (ends is None or time.monotonic() < ends):
        left = settings.walks if ends is None else min(settings.walks, ends - time.monotonic())
        found = _walked(network, asked, left, seed, execution, work.effort)
        answer = found if found is not None else work.run(go_on_until(ends))
    answer = _without_open_choices(network, answer)
    return Verification(network, asked, answer, seed, time.monotonic() - began, time.process_time() - used)


def _prepared(
    network: Network, query: VerifiedQuery, settings: VerifySettings, seed: int
) -> StateVerification | LastingVerification | SearchVerification:
    most_bytes = settings.memory * 1e6
    if settings.heuristic in SEARCHES:
        if isinstance(query, LivenessQuery):
            raise UserError(f"query '{query.text}': {settings.heuristic} looks for states; take bfs, dfs or rdfs.")
        given = {"method": settings.heuristic}
        chosen = {"width": settings.width} if settings.heuristic == "highway" else {"increment": settings.increment}
        return SearchVerification(network, query, most_bytes=most_bytes, seed=seed, settings={**given, **chosen})
    order = Order.BREADTH if settings.heuristic == PORTFOLIO else Order(settings.heuristic)
    if settings.trace == "fastest":
        order = Order.EARLIEST
    if isinstance(query, LivenessQuery):
        return LastingVerification(network, query, order=order, most_bytes=most_bytes, seed=seed)
    bits = settings.fallback == "bits" and settings.trace == "some"  # it goes deep: its traces are not the best
    return StateVerification(network, query, order=order, most_bytes=most_bytes, bits=bits, seed=seed)


def _walked(
    network: Network, query: VerifiedQuery, seconds: float, seed: int, execution: Execution, effort: Effort
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


def _without_open_choices(network: Network, answer: Answer) -> Answer:
    """Give up a verdict that rests on the absence of transitions where UPPAAL may have more of them."""
    choices, trace = open_choices(network), answer.trace
    if trace is not None:
        stuck = trace.deadlocked or (answer.ending is not None and answer.ending.kind == STUCK)
        choices = [c for c in choices if stuck and trace.end.locations[c.process] == c.location]
    if answer.verdict == UNDECIDED or not choices:
        return answer
    shown = "" if trace is None else f", by a deadlock after {len(trace.steps)} steps"
    why = f"{answer.verdict} with the transitions of this tool{shown}, but UPPAAL may have more: {choices[0].why}"
    return replace(answer, verdict=UNDECIDED, why=why, trace=None, ending=None)
