"""Settings of usage-aware falsification; this module imports nothing heavy, because `--help` reads it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bbfalsify.core.settings import Settings, engine_name, setting
from bbfalsify.engines.falsification.guides.guide_table import guide_problem
from bbfalsify.stats.rules import HALF_WIDTH, KINDS

COLUMNS = ("d6", "d8", "d9")
"""Equations of the paper that may be shown beside the probability; D.9 gives three estimates."""
_search = partial(setting, panel="Search")
_estimation = partial(setting, panel="Estimation")
_baseline = partial(setting, panel="Plain simulation")


class Options(Settings):
    """Search and estimation: all that the engine itself is told."""

    counterexamples: int = _search("Counterexamples to list for each requirement.", default=10, at_least=1)
    simulations: int = _search(
        "Budget of the search: all that it executes, with confirmations and second judgements of what it finds.",
        default=2000, at_least=0, unit="simulations",
    )  # fmt: skip
    confirmations: int = _search(
        "Repetitions of each counterexample, all of which must violate at the same moment.",
        default=3, at_least=1, unit="simulations", metavar="N",
    )  # fmt: skip
    passes: int = _estimation(
        "Independent passes, the basis of the intervals; rows whose intervals overlap get a quarter as many again, "
        "which decide their order. 0 only finds: nothing is estimated or shrunk.",
        default=10,
        at_least=0,
    )
    traces: int = _estimation("Traces per pass and counterexample.", default=100, at_least=1)
    estimator: str = _estimation(
        "conditional uses exact step probabilities, splitting is the classical algorithm, auto is conditional where "
        "the profile allows it.", default="auto", choices=("auto", "conditional", "splitting"),
    )  # fmt: skip
    columns: tuple[str, ...] = _estimation(
        "Show the paper's equations D.6, D.8, D.9 beside the probability; d8 and d9 cost simulations.",
        default=(), choices=COLUMNS, metavar=",".join(COLUMNS),
    )  # fmt: skip
    quasi_random: bool = _estimation(
        "Sort the particles of the conditional estimator and spread delays evenly: less variance at about the same "
        "cost.", default=False,
    )  # fmt: skip
    search: str = _search(
        "probable goes on for the most probable counterexamples, first stops with the first ones.",
        default="probable", choices=("probable", "first"),
    )  # fmt: skip
    guide: str = _search(
        "Who proposes the next runs: accelerator and none learn nothing, outlier prefers in every second walk the "
        "actions after which the walk before came close to a violation, others learn from every simulation; auto is "
        "accelerator for a profile of automata, and the best one for signals and parameters.", default="auto",
    )  # fmt: skip
    proposals: int = _search(
        "Simulations between two updates of a guide: so many may run side by side.",
        default=1, at_least=1, unit="simulations",
    )  # fmt: skip
    patience: int = _search(
        "A search for probable counterexamples with a full list ends when this many simulations brought nothing that "
        "adds 1 % to it.", default=200, at_least=0, unit="simulations",
    )  # fmt: skip
    distinct_modes: int | None = _search(
        "Stop the search once the violations show this many failure modes, whether the list is full or not.",
        default=None, at_least=1, metavar="K", absent="the list decides",
    )  # fmt: skip
    plain_walks: float = _search(
        "Share of walks that follow the profile's own probabilities, in a search for probable counterexamples.",
        default=0.5, at_least=0, at_most=1,
    )  # fmt: skip
    delays: str = _search(
        "Where in a window the search puts an action: cycle takes eleven distributions in turn, two_points only the "
        "ends of the window.", default="cycle", choices=("cycle", "two_points"),
    )  # fmt: skip
    adaptive_duration: bool = _search(
        "Once something is found, search within the time it took; grow again when nothing comes.", default=False
    )
    confidence: float = setting("Confidence of the intervals.", default=0.95, above=0, at_most=1, internal=True)
    sensitivity: bool = _estimation(
        "Tell which weights and rates of the profile decide the order of the list.", default=True
    )
    shrink: int = _estimation(
        "Simulations per counterexample to find out which of its actions matter; 0 switches it off.",
        default=200, at_least=0, unit="simulations", metavar="N",
    )  # fmt: skip
    modes: bool = _estimation(
        "Name failure modes: patterns that violating uses share; costs three tenths of the estimates' simulations.",
        default=True,
    )
    mode_simulations: int | None = _estimation(
        "Fresh simulations per requirement that estimate the modes and the probability of any violation.",
        default=None, at_least=1, unit="simulations", metavar="N", absent="9 % of the estimates",
    )  # fmt: skip
    fan: int = setting(
        "Traces per counterexample whose signals are kept for pictures; 0 keeps none.",
        default=40, at_least=0, option=False,
    )  # fmt: skip
    # Four rounds of the delay cycle, whatever the number of workers: results do not depend on it.
    batch: int = setting("Walks per batch.", default=44, at_least=1, option=False)

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if (problem := guide_problem(self.guide)) is not None:
            yield "guide", f"names an {problem}"
        if self.quasi_random and self.estimator == "splitting":
            yield "quasi_random", "needs the conditional estimator, and estimator is splitting."


class _Use(Settings):
    kind: str = engine_name("falsify")
    horizon: float = setting(
        "How long a use lasts; the simulation goes on as long as formulas look ahead of it.",
        at_least=0, unit="time units",
    )  # fmt: skip


PLAIN_SIMULATION = ("smc", "smc_epsilon", "smc_relative", "smc_simulations")
"""Names of the settings of plain simulation beside the list."""


class FalsifySettings(Options, _Use):
    """Everything that stands under `engine: {kind: falsify}`."""

    max_time: float | None = _search(
        "Wall-clock seconds of the search.", default=None, at_least=0, unit="s", absent="no limit"
    )
    smc: str = _baseline(
        "Simulate plainly afterwards, to estimate the probability of any violation and the part of it that the list "
        "explains: sequence is a confidence sequence, clopper_pearson works as UPPAAL does, fixed is "
        "Chernoff–Hoeffding.", default="none", choices=("none", *KINDS),
    )  # fmt: skip
    smc_epsilon: float = _baseline("Half width at which plain simulation stops.", default=HALF_WIDTH, above=0)
    smc_relative: float | None = _baseline(
        "Half width as a share of the probability, instead of `smc_epsilon`; where plain simulation meets too few "
        "violations, importance sampling aims at it.", default=None, above=0, at_most=0.99, absent="0.1 of rare ones",
    )  # fmt: skip
    smc_simulations: int = _baseline("Budget of plain simulation.", default=20_000, at_least=0, unit="simulations")
    period: float | None = setting(
        "Sampling grid; events always keep their exact times.",
        default=None, above=0, unit="time units", absent="chosen and refined",
    )  # fmt: skip
