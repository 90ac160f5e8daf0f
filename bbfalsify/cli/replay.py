"""bbfalsify replay: execute a counterexample again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson, Quiet, Verbose
from bbfalsify.cli.output import print_json, say
from bbfalsify.core.visible_text import visible
from bbfalsify.reporting.formatting import replay_command

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
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Execute a counterexample again: SAME (exit code 1), FIXED (0) or CHANGED (4).

    The file names a system, and replaying runs it.  Where the file was not written by you on this machine, the command
    shows that system and asks first.

    \b
    Example:  bbfalsify replay runs/heater-2026-01-31-1/counterexamples/001-on-on-on-off.json
    """
    from bbfalsify.records.json_files import read_json
    from bbfalsify.records.word_counterexample import KIND
    from bbfalsify.running.reach.trace_files import is_trace_file
    from bbfalsify.running.replay import replay as execute_again
    from bbfalsify.systems import System, load_system

    data = read_json(file)
    if is_trace_file(data):
        return _replay_trace(file, as_json=as_json)
    is_word = isinstance(data, dict) and data.get("kind") == KIND
    given = _named_by(file, is_word, trust, as_json) if system is None else load_system(system, base=Path())
    if is_word:
        return _replay_word(file, given, tries, as_json=as_json)
    result = execute_again(file, cast(System | None, given), tries=tries)
    if as_json:
        print_json(
            {
                "outcome": result.outcome.value,
                "requirement": result.counterexample.requirement.id,
                "actions": list(result.counterexample.actions),
                "reproduced": result.reproduced,
                "tries": result.tries,
                "explanation": result.explanation,
                "largest_difference": result.largest_difference,
                "seed": result.counterexample.seed.root,
                "file": str(file),
            }
        )
    else:
        record = result.counterexample.requirement
        say(f"{result.outcome.value.upper()}: {result.explanation} ({result.reproduced} of {result.tries})")
        say(f"{record.id}: {record.text or record.stl}")
        say(f"actions: {'·'.join(result.counterexample.actions)}")
        if result.largest_difference is not None:
            say(f"largest difference of an output to the recorded trace: {result.largest_difference:g}")
        say(f"seed: {result.counterexample.seed.root}")
        say(f"replay: {replay_command(file, system)}")
    return _EXITS[result.outcome.value]


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


def _replay_trace(file: Path, *, as_json: bool) -> int:
    """Follow a trace of `reach` again, on the model as it is now."""
    from bbfalsify.core.errors import Problem, UserError
    from bbfalsify.examples.models import named_model
    from bbfalsify.modelling import load_network
    from bbfalsify.records.json_files import read_json
    from bbfalsify.running.reach.trace_files import replay_trace

    data = read_json(file)
    key = "example" if "example" in data else "model"
    if not isinstance(data.get(key), str):
        raise UserError(Problem("not a complete trace file: it names neither a model nor an example.", str(file)))
    network = named_model(data[key])[0] if key == "example" else load_network(data[key])
    result = replay_trace(file, network)
    if as_json:
        print_json(
            {
                "outcome": result.outcome.value,
                "explanation": result.explanation,
                "query": data["query"],
                "seed": data["seed"],
                "file": str(file),
            }
        )
    else:
        say(f"{result.outcome.value.upper()}: {result.explanation}")
        say(data["query"])
        say(f"model: {data.get('model', data.get('example'))}")
        say(f"seed: {data['seed']}")
        say(f"replay: {replay_command(file)}")
    return _EXITS[result.outcome.value]


def _replay_word(file: Path, system: Any, tries: int | None, *, as_json: bool) -> int:
    from bbfalsify.running.check.replay_word import replay_word

    result = replay_word(file, system, tries=tries)
    found = result.counterexample
    if as_json:
        data = {
            "outcome": result.outcome.value,
            "requirement": found.requirement.id,
            "prefix": list(found.prefix),
            "loop": list(found.loop),
            "outputs": list(result.outputs),
            "reproduced": result.reproduced,
            "tries": result.tries,
            "explanation": result.explanation,
            "file": str(file),
        }
        print_json(data)
    else:
        loop = f", then {found.rounds} times: {' '.join(found.loop)}" if found.loop else ""
        say(f"{result.outcome.value.upper()}: {result.explanation} ({result.reproduced} of {result.tries})")
        say(f"{found.requirement.id}: {found.requirement.text or found.requirement.formula}")
        say(f"word: {' '.join(found.prefix)}{loop}")
        say(f"replay: {replay_command(file)}")
    return _EXITS[result.outcome.value]
