"""The engines by name (`engine: {kind: …}`): what each may be told, who executes it, how its results are shown.

To add one, write

    its settings     a class of `core/settings.py`: one declaration for campaign keys, JSON Schema, options of the
                     command line, checks of the Python API and the tables of the manual
    its execution    a function that is given a plan and where to record it, and returns results
                     (`campaigns/execute.py`)
    a line           in `ENGINES` below; a package of your own names an `EngineKind` as an entry point of the group
                     `bbfalsify.engines` instead

and the campaign file, the JSON Schema, `validate`, `list engines`, run directories, `show`, `report` and `compare`
follow.  Results have a row per requirement, `id` and `outcome` among its keys; an engine whose results say more names
functions of its own that show it.  All are named as text ("module:function"), because looking at a campaign must not
import what it does not use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from bbfalsify.core.errors import Problem, UserError

ENTRY_POINTS = "bbfalsify.engines"


@dataclass(frozen=True)
class EngineKind:
    says: str
    """What it does, in a few words."""
    settings: str
    """The model of what stands under `engine:`."""
    run: str
    """(plan, recording) -> results; executes a plan."""
    needs: tuple[str, ...] = ("system", "profile", "requirements")
    """Sections of the campaign without which it cannot run."""
    ignores: tuple[str, ...] = ("model",)
    """Sections that mean nothing to it, and are refused rather than left unread."""
    about: str = "signals"
    """What its requirements speak about: signals over time, symbols, or states of a model."""
    shown: str = "bbfalsify.reporting.terminal.generic:result_lines"
    """(results, width, verbose) -> the lines and tables of a terminal."""
    finding: str = "bbfalsify.reporting.terminal.generic:finding_steps"
    """(row of `counterexamples`) -> (the row with all its steps, its lines), for looking at one finding."""
    page: str = "bbfalsify.reporting.html.generic:plain_page"
    """(directory, results) -> the values of the template, for the report."""
    template: str = "plain.html"
    found: str = "bbfalsify.reporting.compare:listed"
    """(results) -> its findings by what makes two of them the same, for comparing runs."""
    files: str | None = None
    """(results) -> None; writes pictures into the run directory, from what is recorded."""
    progress: str = "bbfalsify.cli.progress:RunProgress"
    """(progress, place, clock) -> a listener of the run's events."""
    compiling: str | None = None
    """(progress) -> None; says beforehand that something will be compiled."""

    def named(self, what: str) -> Any:
        """The function or model that a field names; None where it names none."""
        reference = getattr(self, what)
        if reference is None:
            return None
        module, _, name = reference.partition(":")
        return getattr(import_module(module), name)


ENGINES = {
    "falsify": EngineKind(
        "usage-aware falsification: find failures, rank them by how probable they are in use",
        "bbfalsify.engines.falsification.settings:FalsifySettings",
        "bbfalsify.campaigns.execute_falsify:run_falsify",
        shown="bbfalsify.reporting.terminal.falsify:falsification_lines",
        finding="bbfalsify.reporting.terminal.finding_steps:counterexample_steps",
        page="bbfalsify.reporting.html.falsified:falsified_page",
        template="falsified.html",
        files="bbfalsify.reporting.terminal.falsify:write_files",
        compiling="bbfalsify.cli.compile_notice:announce_compilation",
    ),
    "check": EngineKind(
        "black box checking: learn a system that answers symbols, model-check it, test it up to a bound",
        "bbfalsify.engines.checking.settings:CheckSettings",
        "bbfalsify.campaigns.execute_check:run_check",
        needs=("system",),
        ignores=("model", "on_failure", "early_stop", "store", "accepted"),
        about="symbols",
        shown="bbfalsify.reporting.terminal.check:check_lines",
        finding="bbfalsify.reporting.terminal.finding_steps:word_steps",
        page="bbfalsify.reporting.html.checked:checked_page",
        template="checked.html",
        found="bbfalsify.reporting.compare:one_each",
        files="bbfalsify.reporting.terminal.check:write_files",
        progress="bbfalsify.cli.progress:CheckProgress",
        compiling="bbfalsify.cli.compile_notice:announce_check_compilation",
    ),
    "reach": EngineKind(
        "randomized reachability: random walks to states of a model, with exact traces",
        "bbfalsify.engines.reachability.settings:ReachSettings",
        "bbfalsify.campaigns.execute_reach:run_reach",
        needs=("model",),
        ignores=(
            "system",
            "profile",
            "time_limit",
            "on_failure",
            "votes",
            "memory_limit",
            "early_stop",
            "store",
            "accepted",
        ),
        about="states",
        shown="bbfalsify.reporting.terminal.reach:reach_lines",
        finding="bbfalsify.reporting.terminal.finding_steps:trace_steps",
        page="bbfalsify.reporting.html.reached:reached_page",
        template="reached.html",
        found="bbfalsify.reporting.compare:one_each",
        progress="bbfalsify.cli.progress:ReachProgress",
        compiling="bbfalsify.cli.compile_notice:announce_reach_compilation",
    ),
}


def engine_names() -> list[str]:
    """Built-in ones first; those of other packages are named, not imported."""
    from importlib.metadata import entry_points

    return [*ENGINES, *sorted({e.name for e in entry_points(group=ENTRY_POINTS)} - set(ENGINES))]


def engine_kind(name: str) -> EngineKind:
    """The engine of that name, which must be one of `engine_names()`."""
    if name in ENGINES:
        return ENGINES[name]
    from importlib.metadata import entry_points

    [entry, *_] = entry_points(group=ENTRY_POINTS, name=name)
    try:
        kind = entry.load()
    except Exception as error:
        owner = entry.dist.name if entry.dist is not None else entry.value
        raise UserError(f"the engine '{name}' of the package '{owner}' cannot be loaded: {error}.") from None
    if not isinstance(kind, EngineKind):
        raise UserError(f"the entry point '{name}' ({entry.value}) is {type(kind).__name__}, not an EngineKind.")
    return kind


def kind_of(results: Any, *, file: str | None = None) -> EngineKind:
    """The engine that made these results; one whose package is not installed here is named."""
    if not isinstance(results, Mapping) or not isinstance(results.get("requirements"), list):
        raise UserError(Problem("not the results of a run.", file=file))
    name = results.get("engine", "falsify")
    if name not in engine_names():
        problem = f"these are results of the engine '{name}', which is not installed here."
        raise UserError(Problem(problem, file=file, allowed=tuple(engine_names())))
    return engine_kind(name)
