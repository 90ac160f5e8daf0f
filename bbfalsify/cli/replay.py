"""bbfalsify replay: execute a counterexample again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson
from bbfalsify.cli.output import print_json, say
from bbfalsify.core.visible_text import visible
from bbfalsify.reporting.formatting import replay_command

Told = tuple[str, dict[str, Any], list[str]]
"""An outcome, the facts about it, and what is shown below it."""
_EXITS = {"same": Exit.FOUND, "fixed": Exit.NOTHING_FOUND, "changed": Exit.INCONCLUSIVE}


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A counterexample file of a run directory.")],
    system: Annotated[
        str | None, typer.Option("--system", help="Replay on this system instead of the one the file names.")
    ] = None,
    tries: Annotated[
        int | None, typer.Option("--tries", min=1, help="Repetitions.", show_default="3, flaky ones 10")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the system of a file that was not written here, without a question.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Execute a counterexample again: SAME, FIXED or CHANGED. Exit codes 1, 0 and 4.

    The file names a system, and replaying runs it.  Where the file was not written by you on this machine, the command
    shows that system and asks first.

    \b
    Example:  bbfalsify replay runs/heater-2026-01-31-1/counterexamples/001-on-on-on-off.json
    """
    from bbfalsify.records.json_files import read_json
    from bbfalsify.records.word_counterexample import KIND
    from bbfalsify.running.reach.trace_files import is_trace_file
    from bbfalsify.systems import load_system

    data = read_json(file)
    if is_trace_file(data):
        outcome, facts, lines = _trace(file, data)
    else:
        is_word = isinstance(data, dict) and data.get("kind") == KIND
        given = _named_by(file, is_word, trust, as_json) if system is None else load_system(system, base=Path())
        outcome, facts, lines = (_word if is_word else _signals)(file, given, tries)
    if as_json:
        print_json({"outcome": outcome, **facts, "file": str(file)})
    else:
        again = f" ({facts['reproduced']} of {facts['tries']})" if "tries" in facts else ""
        for line in (f"{outcome.upper()}: {facts['explanation']}{again}", *lines):
            say(line)
        say(f"replay: {replay_command(file, system)}")
    return _EXITS[outcome]


def _named_by(file: Path, is_word: bool, trust: bool, as_json: bool) -> Any:
    """Load the system that the file names; ask first where somebody else has named it."""
    import sys

    from bbfalsify.core.errors import Problem, UserError
    from bbfalsify.records.counterexample import Counterexample
    from bbfalsify.records.word_counterexample import WordCounterexample
    from bbfalsify.running.replay import is_foreign, recorded_place
    from bbfalsify.systems import load_system

    record = (WordCounterexample.read(file) if is_word else Counterexample.read(file)).system
    place = recorded_place(record, file)
    if not trust and is_foreign(record, place):
        what = f"this file was not written here, and replaying it runs the system '{record.reference}' in '{place}'"
        if as_json or not sys.stdin.isatty():
            advice = "Look at that system, then add --trust; or name another one with --system."
            raise UserError(Problem(f"{what}. {advice}", file=str(file)))
        if not typer.confirm(visible(f"{file}: {what}. Run it?"), err=True):
            raise UserError(Problem("not replayed.", file=str(file)))
    return load_system(record.reference, base=place)


def _signals(file: Path, system: Any, tries: int | None) -> Told:
    from bbfalsify.running.replay import replay as execute_again

    result = execute_again(file, system, tries=tries)
    found, difference = result.counterexample, result.largest_difference
    facts = {
        "requirement": found.requirement.id,
        "actions": list(found.actions),
        "reproduced": result.reproduced,
        "tries": result.tries,
        "explanation": result.explanation,
        "largest_difference": difference,
        "seed": found.seed.root,
    }
    lines = [
        f"{found.requirement.id}: {found.requirement.text or found.requirement.stl}",
        *([f"actions: {'·'.join(found.actions)}"] if found.actions else []),
        *([] if difference is None else [f"largest difference of an output to the recorded trace: {difference:g}"]),
        f"seed: {found.seed.root}",
    ]
    return result.outcome.value, facts, lines


def _trace(file: Path, data: dict[str, Any]) -> Told:
    """Follow a trace of `reach` again, on the model as it is now."""
    from bbfalsify.core.errors import Problem, UserError
    from bbfalsify.examples.models import named_model
    from bbfalsify.modelling import load_network
    from bbfalsify.running.reach.trace_files import replay_trace

    key = "example" if "example" in data else "model"
    wrong = [f"'{name}'" for name in (key, "query", "seed") if not isinstance(data.get(name), str | int)]
    constants = data.get("constants")
    if constants is not None and not isinstance(constants, dict):
        wrong.append("'constants'")
    if wrong:
        raise UserError(Problem(f"not a complete trace file: it lacks or spoils {', '.join(wrong)}.", str(file)))
    name = str(data[key])
    network = named_model(name, constants)[0] if key == "example" else load_network(name, constants)
    result = replay_trace(file, network)
    facts = {"explanation": result.explanation, "query": data["query"], "seed": data["seed"]}
    model = f"model: {data.get('model', data.get('example'))}"
    return result.outcome.value, facts, [data["query"], model, f"seed: {data['seed']}"]


def _word(file: Path, system: Any, tries: int | None) -> Told:
    from bbfalsify.running.check.replay_word import replay_word

    result = replay_word(file, system, tries=tries)
    found = result.counterexample
    facts = {
        "requirement": found.requirement.id,
        "prefix": list(found.prefix),
        "loop": list(found.loop),
        "outputs": list(result.outputs),
        "reproduced": result.reproduced,
        "tries": result.tries,
        "explanation": result.explanation,
    }
    loop = f", then {found.rounds} times: {' '.join(found.loop)}" if found.loop else ""
    requirement = f"{found.requirement.id}: {found.requirement.text or found.requirement.formula}"
    return result.outcome.value, facts, [requirement, f"word: {' '.join(found.prefix)}{loop}"]
