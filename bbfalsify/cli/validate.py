"""bbfalsify validate: find every mistake without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bbfalsify.cli.exits import Exit, report_problems
from bbfalsify.cli.options import AsJson, Quiet
from bbfalsify.cli.output import print_json, say

if TYPE_CHECKING:
    from bbfalsify.campaigns.plan import RunPlan
    from bbfalsify.core.errors import Problem


def validate(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Models, profiles, specifications or campaigns.")
    ],
    load: Annotated[
        bool,
        typer.Option("--load", help="Also load systems: this imports adapters, and starts programs to ask for ports."),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Check files and report all problems at once.  What a file is follows from its keys.

    Nothing is run: an adapter is read, not imported; a program is looked up, not started.  A note says what could not
    be checked for that reason.

    \b
    Example:  bbfalsify validate experiments/heater/campaign.yaml
    """
    from bbfalsify.core.errors import UserError

    problems: list[str] = []
    kinds: list[dict[str, Any]] = []
    for file in files:
        try:
            kind, summary, notes = check_file(file, load=load)
            kinds.append({"file": str(file), "kind": kind, "summary": summary, "notes": [str(n) for n in notes]})
            if not as_json and not quiet:
                for note in dict.fromkeys(map(str, notes)):
                    say(f"note: {note}")
                say(f"{file}: {kind}, {summary}: no problems")
        except UserError as error:
            problems += [str(p) for p in error.problems]
    if problems:
        return report_problems(problems, as_json=as_json)
    if as_json:
        print_json({"files": kinds})
    return Exit.NOTHING_FOUND


def check_file(file: Path, *, load: bool = False) -> tuple[str, str, list[Problem]]:
    """Return the kind of a file, a few words about it, and notes; raise UserError with all its problems."""
    from bbfalsify.core.errors import Problem, UserError
    from bbfalsify.modelling.formats.uppaal import is_uppaal
    from bbfalsify.modelling.formats.yaml_reader import VALUE_KEYS
    from bbfalsify.records.documents import read_yaml

    if is_uppaal(file):
        return "UPPAAL model", *_model(file)
    if file.suffix.lower() in (".fmu", ".dot"):
        return _system(file)
    keys = set(data) if isinstance(data := read_yaml(file).data, dict) else set()
    if keys & {"engine", "system"} and "requirements" in keys or "engine" in keys and keys & {"profile", "model"}:
        return "campaign", *_campaign(file, load=load)
    if "accepted" in keys:
        return "accepted failures", _acceptances(file), []
    if "requirements" in keys:
        return "specification", _specification(file), []
    if "ports" in keys:
        return "model with ports", _black_box(file), []
    if keys & {"inputs", *VALUE_KEYS}:
        return "profile", _profile(file), []
    if keys & {"automata", "model"}:
        return "model", *_model(file)
    if "base" in keys and keys & {"calls", "openapi"}:
        return "service", _service(file), []
    raise UserError(
        Problem(
            "cannot tell what this file is. A campaign has 'engine' and 'requirements', a specification "
            "'requirements', a profile 'automata' and 'inputs', a model 'automata', accepted failures 'accepted', "
            "a service 'base' and 'calls'.",
            file=str(file),
            line=1,
        )
    )


def _service(file: Path) -> str:
    from bbfalsify.systems.servers.http import load_http

    return f"{len(load_http(file).alphabet)} calls"


def _system(file: Path) -> tuple[str, str, list[Problem]]:
    """Describe a system that is data: loading it runs nothing."""
    from bbfalsify.systems import SymbolSystem, load_system
    from bbfalsify.systems.parameters import parameters_of

    system = load_system(str(file))
    if isinstance(system, SymbolSystem):
        return "machine", f"{len(system.alphabet)} input symbols", []
    ports = [
        f"{len(side)} {name}{'s' * (len(side) != 1)}"
        for side, name in ((system.inputs, "input"), (system.outputs, "output"))
    ]
    return "FMU", f"{', '.join(ports)}, {len(parameters_of(system))} parameters and start values", []


def _campaign(file: Path, *, load: bool) -> tuple[str, list[Problem]]:
    from bbfalsify.campaigns import load_campaign
    from bbfalsify.core.errors import Problem
    from bbfalsify.registry import ENGINES

    campaign = load_campaign(file, ENGINES, drawn_seed=0, declared_only=not load)
    runs = len(campaign.runs)
    notes = [Problem(note, file=str(file)) for run in campaign.runs for note in _long_formulas(run)]
    return f"{runs} run{'s' * (runs != 1)}", [*campaign.not_checked, *notes]


def _long_formulas(run: RunPlan) -> list[str]:
    """Notes on formulas that look further ahead than a use lasts."""
    from bbfalsify.logic.stl.requirement import Requirement, duration_notes

    horizon = getattr(run.engine, "horizon", None)
    return [] if horizon is None else duration_notes(run.stated(Requirement), horizon)


def _acceptances(file: Path) -> str:
    from bbfalsify.records.accepted import load_acceptances

    count = len(load_acceptances(file).entries)
    return f"{count} entr{'ies' if count != 1 else 'y'}"


def _specification(file: Path) -> str:
    from bbfalsify.campaigns.requirements.ltl import check_specification

    count = check_specification(file)
    return f"{count} requirement{'s' * (count != 1)}"


def _profile(file: Path) -> str:
    from bbfalsify.core.errors import UserError
    from bbfalsify.modelling import check_profile, load_profile

    profile = load_profile(file)
    problems = check_profile(profile)
    if problems:
        raise UserError(problems)
    told = [f"inputs {', '.join(i.name for i in profile.inputs)}"] if profile.inputs else []
    told += [f"parameters {', '.join(p.name for p in profile.parameters)}"] if profile.parameters else []
    told += [f"actions {', '.join(profile.network.actions)}"] if profile.has_actions else []
    return "; ".join(told)


def _black_box(file: Path) -> str:
    from bbfalsify.modelling.profiles.black_box import load_black_box

    box = load_black_box(file)
    if box.symbols:
        return f"symbols {', '.join(box.symbols)}"
    sides = (", ".join(port.name for port in side) or "none" for side in (box.inputs, box.outputs))
    return "inputs {}; outputs {}".format(*sides)


def _model(file: Path) -> tuple[str, list[Problem]]:
    from bbfalsify.modelling.formats.model_files import load_with_text

    network, text = load_with_text(file)
    edges = sum(len(p.edges) for p in network.processes)
    processes, queries = len(network.processes), len(text.queries)
    summary = f"{processes} process{'es' * (processes != 1)}, {edges} edge{'s' * (edges != 1)}"
    if queries:
        summary += f", {queries} quer{'ies' if queries != 1 else 'y'}"
    return summary, text.notes
