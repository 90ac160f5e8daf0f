"""The judge that workers carry: all requirements of a run applied to one trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Judgement

if TYPE_CHECKING:
    from bbfalsify.logic import Requirement


class RequirementsJudge:
    """`judge(trace)` gives one judgement per requirement, in their order."""

    def __init__(self, requirements: Sequence[Requirement]) -> None:
        self.requirements = tuple(requirements)

    def __call__(self, trace: Trace) -> tuple[Judgement, ...]:
        from bbfalsify.logic.monitor import judge

        return tuple(judge(r.formula, trace.times, trace.signals, time=r.time) for r in self.requirements)

    def warm_up(self) -> None:
        """Compile before the first trace; done once before workers are forked, they all inherit the result."""
        names = {name for requirement in self.requirements for name in requirement.formula.signals}
        self(Trace(np.array([0.0, 1.0]), {name: np.zeros(2) for name in names}))
