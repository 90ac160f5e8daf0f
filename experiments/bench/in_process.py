"""A campaign's system, profile and requirements in this very process: what studies of the search use for a driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bbfalsify import load_campaign
from bbfalsify.core.query import Answer, Query
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.running.judge import RequirementsJudge
from bbfalsify.systems import System
from bbfalsify.systems.parameters import open_session

EXPERIMENTS = Path(__file__).parent.parent


@dataclass
class Bench:
    usage: Usage
    system: System
    judge: RequirementsJudge
    requirements: int
    asked: int = 0

    def ask(self, queries: Sequence[Query]) -> list[Answer]:
        answers = []
        for query in queries:
            with open_session(self.system, 0, query.stimulus.parameters) as session:
                outputs = session.execute(query.stimulus)
            trace = Trace(query.stimulus.times, {**query.stimulus.inputs, **outputs}, query.stimulus.events)
            answers.append(
                Answer(SimulationStatus.OK, self.judge(trace, outliers=query.outliers, shortfalls=query.shortfalls))
            )
        self.asked += len(queries)
        return answers


def open_campaign(name: str, stl: str | None = None) -> Bench:
    """The campaign experiments/<name>/campaign.yaml, or the same with another requirement."""
    return open_plan(f"{name}/campaign.yaml", stl)


def open_plan(file: str, stl: str | None = None, *, only: str | None = None) -> Bench:
    """The first run of experiments/<file>, with another requirement, or with only one of its own."""
    plan = load_campaign(EXPERIMENTS / file).runs[0]
    requirements = [p.requirement for p in plan.requirements if only in (None, p.requirement.id)]
    if stl is not None:
        requirements = [Requirement("R1", "", parse_stl(stl))]
    duration = max(r.duration(plan.engine.horizon) for r in requirements)
    period = plan.engine.period or plan.system.capabilities.step_s or duration / 100
    usage = Usage(plan.profile, compile_network(plan.profile.network), duration, period)
    return Bench(usage, plan.system, RequirementsJudge(requirements), len(requirements))
