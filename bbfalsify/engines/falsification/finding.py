"""A counterexample as the engine knows it: what was found, whether it happened again, how probable it is.

One object per counterexample, filled in place while a run goes on, so that Ctrl-C keeps what is there: the search makes
it, the listener confirms it at once, the second judgement marks artefacts, the estimate and its place come last.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bbfalsify.core.choices import ChoiceSequence
from bbfalsify.core.confirmation import Confirmation, Reproduced
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus
from bbfalsify.engines.falsification.estimates.evidence import Evidence
from bbfalsify.kernel import Walk
from bbfalsify.stats.intervals import Passes

NOBODY = 1e-12
"""Nobody meets what is less probable: a word of fifty actions stands for others like it."""


@dataclass(frozen=True, eq=False)
class WordEstimate:
    """The estimates of a word."""

    passes: Passes
    probability: Estimate
    """Probability of following it and being first violated in its last step."""
    cylinder: Estimate
    """Probability of following the word at all, violated or not."""
    columns: dict[str, Estimate]
    """The paper's equations, by name: d6, d8, d9_set, d9_multiset, d9_traces."""
    evidence: Evidence = field(repr=False)
    """The traces that violate."""


@dataclass(eq=False)
class Finding:
    """A word that violated a requirement, cut after the action that ends the violating delay: its key."""

    requirement: int
    actions: tuple[str, ...]
    word: tuple[tuple[float, str], ...]
    """The whole walk, key first: time of each action, up to the first one after the stimulus."""
    stimulus: Stimulus
    judgement: Judgement
    simulation: SimulationStatus
    """OK, unless a failing simulation counts as a violation."""
    iteration: int | None
    """1-based number of the walk that found it; None for one that was known before the search."""
    known_as: str = ""
    """The name under which it was known before the search."""
    walk: Walk | None = field(default=None, repr=False)
    """The walk over the profile, if this run made it."""
    choices: ChoiceSequence | None = field(default=None, repr=False)
    """All choices of the run, if a guide asked for it."""
    shrunk_from: Finding | None = field(default=None, repr=False)
    """The longer finding of which this is the core."""
    refined: int = 0
    """Number of refinements of the sampling period before this judgement."""
    confirmation: Confirmation | None = field(default=None, repr=False)
    """None until it has been executed again."""
    artefact: bool = False
    """It holds at a tenth of the sampling period, and is listed only because the user chose the period."""
    exact_moments: bool = False
    """It is possible only at exact moments, so its probability is zero (`exact_moments.py`)."""
    estimate: WordEstimate | None = field(default=None, repr=False)
    """None until it has been estimated."""
    ordering: Passes | None = field(default=None, repr=False)
    """Further passes, which decide about its place among rows with similar probabilities (`ranking.py`)."""

    @property
    def name(self) -> str:
        """Unique among the findings of a requirement: queries and seeds are named after it."""
        if self.shrunk_from is not None:
            return f"{self.shrunk_from.name}/shrunk"
        return self.known_as or (f"{self.iteration}/finer/{self.refined}" if self.refined else str(self.iteration))

    @property
    def query(self) -> str:
        """The query whose seed the simulation had."""
        if self.shrunk_from is not None:
            return self.shrunk_from.query
        return f"known/{self.known_as}" if self.iteration is None else query_name(self.iteration)

    @property
    def status(self) -> Reproduced:
        return "flaky" if self.confirmation is None else self.confirmation.status

    @property
    def whole_judgement(self) -> Judgement:
        """The judgement found, with the robustness of the whole trace: the search may have stopped at the violation."""
        whole = None if self.confirmation is None or self.status != "confirmed" else self.confirmation.judgement
        return self.judgement if whole is None else replace(self.judgement, robustness=whole.robustness)

    @property
    def estimated(self) -> WordEstimate:
        """The estimate of a finding that has one."""
        assert self.estimate is not None
        return self.estimate

    @property
    def met(self) -> bool:
        """Whether a trace of the estimation violates."""
        return self.estimated.passes.total_hits > 0

    @property
    def may_be_met(self) -> bool:
        """Whether a trace of the estimation violates, and anybody ever follows its actions."""
        return self.met and self.estimated.probability.high >= NOBODY

    def probability(self, confidence: float) -> Estimate:
        """Its probability, or that nothing is known about it because the run was stopped."""
        if self.estimate is None:
            return Estimate(1.0, 0.0, 1.0, confidence, "not estimated", 0)
        return self.estimate.probability


def query_name(iteration: int) -> str:
    return f"search/{iteration}"
