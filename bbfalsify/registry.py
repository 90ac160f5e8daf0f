"""The engines by name (`engine: {kind: …}`), above every room that they name.

To add one, write

    its settings     a class of `core/settings.py`: one declaration for campaign keys, JSON Schema, options of the
                     command line, checks of the Python API and the tables of the manual
    its execution    a function that is given a plan and where to record it, and returns results
                     (`campaigns/execute_check.py` is one)
    a line           in `ENGINES` below; a package of your own names an `EngineKind` as an entry point of the group
                     `bbfalsify.engines` instead, and is imported when a campaign or a result names it

and the campaign file, the JSON Schema, `validate`, `list engines`, run directories, `show`, `report` and `compare`
follow.  Results have a row per requirement, `id` and `outcome` among its keys; an engine whose results say more names
functions of its own that show it (`core/engine_kind.py` lists them).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bbfalsify.core.engine_kind import EngineKind as EngineKind  # engines of other packages import it from here
from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.settings import keys_of

ENTRY_POINTS = "bbfalsify.engines"


class Registry:
    """Built-in engines, and those of other packages; see `core.engine_kind.Engines`."""

    def __init__(self, built_in: dict[str, EngineKind]) -> None:
        self.built_in = built_in

    def names(self) -> list[str]:
        """Name the built-in engines first; those of other packages are not imported."""
        from importlib.metadata import entry_points

        return [*self.built_in, *sorted({e.name for e in entry_points(group=ENTRY_POINTS)} - set(self.built_in))]

    def kind(self, name: str) -> EngineKind:
        if name in self.built_in:
            return self.built_in[name]
        from importlib.metadata import entry_points

        [entry, *_] = entry_points(group=ENTRY_POINTS, name=name)
        try:
            kind = entry.load()
        except Exception as error:
            owner = entry.dist.name if entry.dist is not None else entry.value
            end = "" if str(error).endswith((".", "?")) else "."
            raise UserError(f"the engine '{name}' of the package '{owner}' cannot be loaded: {error}{end}") from None
        if not isinstance(kind, EngineKind):
            raise UserError(f"the entry point '{name}' ({entry.value}) is {type(kind).__name__}, not an EngineKind.")
        if problems := _problems_of(name, kind):
            raise UserError(problems)
        return kind

    def of(self, results: Mapping[str, Any], *, file: str | None = None) -> EngineKind:
        if not isinstance(results, Mapping) or not isinstance(results.get("requirements"), list):
            raise UserError(Problem("not the results of a run.", file=file))
        name = results.get("engine", "falsify")
        if name not in self.built_in and name not in self.names():
            problem = f"these are results of the engine '{name}', which is not installed here."
            raise UserError(Problem(problem, file=file, allowed=tuple(self.names())))
        return self.kind(name)


def _problems_of(name: str, kind: EngineKind) -> list[Problem]:
    """Find mistakes in the declaration of an engine of another package."""
    from bbfalsify.campaigns.schema import CAMPAIGN_SECTIONS

    problems = [
        unknown_name("section", section, CAMPAIGN_SECTIONS, where=f"in needs or ignores of the engine '{name}'")
        for section in (*kind.needs, *kind.ignores)
        if section not in CAMPAIGN_SECTIONS
    ]
    if "kind" not in keys_of(kind.named("settings")):
        says = f"the settings of the engine '{name}' ({kind.settings}) lack kind: str = engine_name(\"{name}\")."
        problems.append(Problem(says))
    return problems


_ABOUT_MODELS: dict[str, Any] = {
    "needs": ("model",),
    "ignores": (
        "system", "profile", "signals", "parameters", "time_limit", "on_failure", "votes", "memory_limit", "early_stop",
        "store", "accepted",
    ),
    "about": "states",
    "finding": "bbfalsify.reporting.terminal.finding_steps:trace_steps",
    "template": "reached.html",
    "found": "bbfalsify.reporting.compare:one_each",
}  # fmt: skip

ENGINES = Registry(
    {
        "falsify": EngineKind(
            "usage-aware falsification: find failures, rank them by how probable they are in use",
            "bbfalsify.engines.falsification.settings:FalsifySettings",
            "bbfalsify.campaigns.execute_falsify:run_falsify",
            shown="bbfalsify.reporting.terminal.falsify:falsification_lines",
            finding="bbfalsify.reporting.terminal.finding_steps:counterexample_steps",
            page="bbfalsify.reporting.html.falsified:falsified_page",
            template="falsified.html",
            files="bbfalsify.reporting.terminal.falsify:write_files",
            compiling="bbfalsify.running.warm_up:kernel_notice",
        ),
        "check": EngineKind(
            "black box checking: learn a system that answers symbols, model-check it, test it up to a bound",
            "bbfalsify.engines.checking.settings:CheckSettings",
            "bbfalsify.campaigns.execute_check:run_check",
            needs=("system",),
            ignores=("signals", "parameters", "model", "constants", "on_failure", "early_stop", "store", "accepted"),
            about="symbols",
            shown="bbfalsify.reporting.terminal.check:check_lines",
            finding="bbfalsify.reporting.terminal.finding_steps:word_steps",
            page="bbfalsify.reporting.html.checked:checked_page",
            template="checked.html",
            found="bbfalsify.reporting.compare:one_each",
            files="bbfalsify.reporting.terminal.check:write_files",
            progress="bbfalsify.reporting.terminal.progress_lines:CheckProgress",
            compiling="bbfalsify.running.warm_up:tests_notice",
        ),
        "reach": EngineKind(
            "randomized reachability: random walks to states of a model, with exact traces",
            "bbfalsify.engines.reachability.settings:ReachSettings",
            "bbfalsify.campaigns.execute_queries:run_reach",
            shown="bbfalsify.reporting.terminal.reach:reach_lines",
            page="bbfalsify.reporting.html.reached:reached_page",
            progress="bbfalsify.reporting.terminal.progress_lines:ReachProgress",
            compiling="bbfalsify.running.warm_up:walks_notice",
            **_ABOUT_MODELS,
        ),
        "estimate": EngineKind(
            "probabilities and expectations: Markov chains exactly, models and systems in use by simulation",
            "bbfalsify.engines.estimation.settings:EstimateSettings",
            "bbfalsify.campaigns.execute_queries:run_estimate",
            needs=(),
            ignores=("store", "accepted"),
            about="states",
            query="bbfalsify.engines.estimation.questions:read_question",
            stored="bbfalsify.engines.estimation.questions:is_estimate",
            shown="bbfalsify.reporting.terminal.estimate:estimate_lines",
            page="bbfalsify.reporting.html.estimated:estimated_page",
            progress="bbfalsify.reporting.terminal.progress_lines:EstimateProgress",
            compiling="bbfalsify.running.warm_up:estimate_notice",
        ),
        "verify": EngineKind(
            "verification: all states of a timed model as zones; holds, violated with an exact trace, or undecided",
            "bbfalsify.engines.verification.settings:VerifySettings",
            "bbfalsify.campaigns.execute_queries:run_verify",
            query="bbfalsify.logic.reach_query:parse_asked",
            stored="bbfalsify.running.verify.verify:is_verifiable",
            shown="bbfalsify.reporting.terminal.verify:verify_lines",
            page="bbfalsify.reporting.html.verified:verified_page",
            progress="bbfalsify.reporting.terminal.progress_lines:VerifyProgress",
            compiling="bbfalsify.running.warm_up:zones_notice",
            **_ABOUT_MODELS,
        ),
    }
)
