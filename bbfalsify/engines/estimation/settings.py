"""Settings of `estimate`; this module imports nothing heavy, because `--help` reads it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from bbfalsify.core.settings import Settings, engine_name, setting

OF_WORDS = ("words", "conditional", "quasi_random")
"""Methods that sum over words of actions."""
RARE = ("splitting", "importance", *OF_WORDS)
METHODS = ("auto", "chain", "sequence", "okamoto", "clopper_pearson", "wilson", "bayes", "sprt", *RARE)
VARIANTS = ("fixed_effort", "adaptive", "restart")
_PRECISION = re.compile(r"\s*(relative)?[\s:=]*([0-9.eE+-]+)\s*\Z")


class EstimateSettings(Settings):
    """Everything that stands under `engine: {kind: estimate}`."""

    kind: str = engine_name("estimate")
    method: str = setting(
        "How: auto computes the Markov chain where there is one, else simulates with a confidence sequence, and goes "
        "on with a method for rare events where it meets none or too few.",
        default="auto",
        choices=METHODS,
    )
    precision: str | float = setting(
        "Wanted half width of an interval: a number, or `relative 0.1` for a share of the value.", default="0.005"
    )
    confidence: float = setting("Confidence of intervals and tests.", default=0.95, above=0, at_most=0.999999)
    runs: int | None = setting(
        "Most runs for each query, whatever the method; the number of runs of methods that fix it.",
        default=None,
        at_least=1,
        absent="as many as the precision needs, at most 10 million",
    )
    indifference: float = setting(
        "Half width of the region around a threshold in which sprt may answer either way.", default=0.01, above=0
    )
    score: str | None = setting(
        "For splitting and importance: an expression over the model that rises on the way to the goal, as `queue`.",
        default=None,
        absent="none",
    )
    splitting: str = setting(
        "For splitting: every level has as many runs, each pass chooses its own levels, or rising runs are repeated.",
        default="fixed_effort",
        choices=VARIANTS,
    )
    particles: int = setting(
        "For splitting: runs on each level; for importance: runs of each round of training.", default=1000, at_least=10
    )
    passes: int = setting("For splitting: independent repetitions, whose spread gives the interval.", default=20,
                          at_least=2)  # fmt: skip
    times: str | None = setting(
        "For models: answer each query at these bounds of time too, a curve: FROM:TO:STEP or A,B,C.",
        default=None,
        absent="no curve",
    )
    vary: str | None = setting(
        "For models: answer each query at other constants too, a table: NAME=FROM:TO:STEP or NAME=A,B,C; one or more.",
        default=None,
        absent="no table",
    )
    derivatives: bool = setting("For chains: by how much does each rate and weight change the answer?", default=False)
    storm: bool = setting("For chains: ask Storm for a second opinion (pip install 'bbfalsify[storm]').", default=False)
    steps: int = setting("Most steps of a run; one that needs more counts as either.", default=1_000_000, at_least=1)
    horizon: float | None = setting(
        "For a system with a profile: how long a use lasts.", default=None, at_least=0, unit="s", absent="for models"
    )
    period: float | None = setting(
        "For a system: distance of the samples.", default=None, above=0, unit="s", absent="fits formulas and system"
    )
    at_most: float | None = setting(
        "For a system: the probability of a violation that is allowed; decides holds or violated.",
        default=None,
        at_least=0,
        at_most=1,
        absent="only the number is asked for",
    )

    @property
    def about(self) -> str:
        """Subject of the requirements: a horizon belongs to a system that is used."""
        return "states" if self.horizon is None else "signals"

    @property
    def epsilon(self) -> float | None:
        return None if self._parsed[0] else self._parsed[1]

    @property
    def relative(self) -> float | None:
        return self._parsed[1] if self._parsed[0] else None

    @property
    def _parsed(self) -> tuple[bool, float]:
        match = _PRECISION.match(str(self.precision))
        try:
            return (bool(match and match.group(1)), float(match.group(2)) if match else math.nan)
        except ValueError:
            return False, math.nan

    def _unread(self) -> Iterator[tuple[str, str]]:
        """Values of a curve or a table that cannot be read."""
        from bbfalsify.core.errors import UserError
        from bbfalsify.engines.estimation.value_lists import combinations, numbers_of

        for name, text, read in (("times", self.times, numbers_of), ("vary", self.vary, combinations)):
            try:
                _ = text and read(text)
            except UserError as error:
                yield name, str(error)

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if not 0 < self._parsed[1] < 1:
            yield "precision", f"must be a number between 0 and 1, or 'relative 0.1'; found '{self.precision}'."
        elif self.relative is not None and self.method in ("okamoto", "clopper_pearson", "wilson", "bayes"):
            yield "precision", f"cannot be relative with {self.method}, which fixes the number of runs in advance."
        if self.horizon is None and self.method == "splitting" and self.score is None:
            yield "score", "is missing: splitting needs an expression that rises on the way to the goal."
        if self.horizon is not None and self.method == "chain":
            yield "method", "'chain' is for models; a system with a profile is simulated."
        if self.horizon is not None and self.method == "sprt" and self.at_most is None:
            yield "at_most", "is missing: sprt tests a bound."
        if self.horizon is None and self.method in OF_WORDS:
            yield "method", f"'{self.method}' is for a system with a profile: words are those of its actions."
        if self.horizon is not None and self.score is not None:
            yield "score", "is for models; of a system with a profile, robustness is the score."
        if self.horizon is not None and self.splitting == "restart":
            yield "splitting", "'restart' is for models; a system with a profile takes fixed_effort or adaptive."
        if self.horizon is not None:
            for name in ("times", "vary", "derivatives", "storm"):
                if getattr(self, name):
                    yield name, "is for models, not for a system with a profile."
        yield from self._unread()
        if self.horizon is None and self.at_most is not None:
            yield "at_most", "is for a system with a profile; a query of a model has its own bound."
