"""Settings of usage-aware falsification; this module imports nothing heavy, because `--help` reads it."""

from __future__ import annotations

from collections.abc import Iterator

from bbfalsify.core.settings import Settings, engine_name, setting
from bbfalsify.stats.rules import HALF_WIDTH, KINDS

COLUMNS = ("d6", "d8", "d9")
"""Equations of the paper that may be shown beside the probability; D.9 gives three estimates."""
_SEARCH, _ESTIMATION, _BASELINE = "Search", "Estimation", "Plain simulation"


class Options(Settings):
    """Search and estimation: all that the engine itself is told."""

    counterexamples: int = setting(
        "How many counterexamples to list for each requirement.", default=10, at_least=1, panel=_SEARCH
    )
    simulations: int = setting("Budget of the search.", default=2000, at_least=0, unit="simulations", panel=_SEARCH)
    passes: int = setting(
        "Independent passes of the estimation, the basis of the intervals.", default=10, at_least=1, panel=_ESTIMATION
    )
    traces: int = setting("Traces per pass and counterexample.", default=100, at_least=1, panel=_ESTIMATION)
    estimator: str = setting(
        "conditional uses exact step probabilities, splitting is the classical algorithm, auto is conditional where "
        "the profile allows it.",
        default="auto",
        choices=("auto", "conditional", "splitting"),
        panel=_ESTIMATION,
    )
    columns: tuple[str, ...] = setting(
        "Show the paper's equations D.6, D.8, D.9 beside the probability; d8 and d9 cost simulations.",
        default=(),
        choices=COLUMNS,
        metavar=",".join(COLUMNS),
        panel=_ESTIMATION,
    )
    quasi_random: bool = setting(
        "Sort the particles of the conditional estimator and spread delays evenly: less variance at about the same "
        "cost.",
        default=False,
        panel=_ESTIMATION,
    )
    search: str = setting(
        "probable goes on for the most probable counterexamples, first stops with the first ones.",
        default="probable",
        choices=("probable", "first"),
        panel=_SEARCH,
    )
    patience: int = setting(
        "A search for probable counterexamples with a full list ends when this many simulations brought nothing that "
        "adds 1 % to it.",
        default=200,
        at_least=0,
        unit="simulations",
        panel=_SEARCH,
    )
    plain_walks: float = setting(
        "Share of walks that follow the profile's own probabilities, in a search for probable counterexamples.",
        default=0.5,
        at_least=0,
        at_most=1,
        panel=_SEARCH,
    )
    delays: str = setting(
        "Where in a window the search puts an action: cycle takes eleven distributions in turn, two_points only the "
        "ends of the window.",
        default="cycle",
        choices=("cycle", "two_points"),
        panel=_SEARCH,
    )
    guiding: bool = setting(
        "In every second walk, prefer the actions after which the walk before came close to a violation.",
        default=False,
        panel=_SEARCH,
    )
    adaptive_duration: bool = setting(
        "Once something is found, search within the time it took; grow again when nothing comes.",
        default=False,
        panel=_SEARCH,
    )
    confidence: float = setting("Confidence of the intervals.", default=0.95, above=0, at_most=1, internal=True)
    sensitivity: bool = setting(
        "Tell which weights and rates of the profile decide the order of the list.", default=True, panel=_ESTIMATION
    )
    shrink: int = setting(
        "Simulations per counterexample to find out which of its actions matter; 0 switches it off.",
        default=200,
        at_least=0,
        unit="simulations",
        metavar="N",
        panel=_ESTIMATION,
    )
    fan: int = setting(
        "Traces per counterexample whose signals are kept for pictures; 0 keeps none.",
        default=40,
        at_least=0,
        option=False,
    )
    # Four rounds of the delay cycle, whatever the number of workers: results do not depend on it.
    batch: int = setting("Walks per batch.", default=44, at_least=1, option=False)

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if self.quasi_random and self.estimator == "splitting":
            yield "quasi_random", "needs the conditional estimator, and estimator is splitting."


class _Use(Settings):
    kind: str = engine_name("falsify")
    horizon: float = setting(
        "How long a use lasts; the simulation goes on as long as formulas look ahead of it.",
        at_least=0,
        unit="time units",
    )


class FalsifySettings(Options, _Use):
    """Everything that stands under `engine: {kind: falsify}`."""

    max_time: float | None = setting(
        "Wall-clock seconds of the search.", default=None, at_least=0, unit="s", absent="no limit", panel=_SEARCH
    )
    smc: str = setting(
        "Simulate plainly afterwards, to estimate the probability of any violation and the part of it that the list "
        "explains: sequence is a confidence sequence, clopper_pearson works as UPPAAL does, fixed is "
        "Chernoff–Hoeffding.",
        default="none",
        choices=("none", *KINDS),
        panel=_BASELINE,
    )
    smc_epsilon: float = setting(
        "Half width of the interval at which plain simulation stops.", default=HALF_WIDTH, above=0, panel=_BASELINE
    )
    smc_simulations: int = setting(
        "Budget of plain simulation.", default=20_000, at_least=0, unit="simulations", panel=_BASELINE
    )
    period: float | None = setting(
        "Sampling grid; events always keep their exact times.",
        default=None,
        above=0,
        unit="time units",
        absent="horizon/100",
    )
