"""Exit codes, and the one place where exceptions become messages.

0 nothing found · 1 a counterexample was found · 2 your input is wrong · 3 the system under test failed ·
4 inconclusive · 130 interrupted
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any

from bbfalsify.cli.options import Quiet, Verbose
from bbfalsify.cli.output import print_json, results, results_alone, say, say_block
from bbfalsify.core.errors import ExecutorLost, SystemFailure, UserError
from bbfalsify.core.verdict import FOUND, Outcome, StopReason

ARGUMENTS = "arguments_of_options"
"""The attribute of a command that makes its arguments from the options given (`engine_options.py`)."""


class Exit(IntEnum):
    NOTHING_FOUND = 0
    FOUND = 1
    WRONG_INPUT = 2
    SYSTEM_FAILED = 3
    INCONCLUSIVE = 4
    INTERRUPTED = 130


def exit_of_outcomes(outcomes: Iterable[str]) -> Exit:
    """The most important of several outcomes decides: found, then a failed system, then inconclusive."""
    seen = set(outcomes)
    if seen & FOUND:
        return Exit.FOUND
    if Outcome.ERROR in seen:
        return Exit.SYSTEM_FAILED
    if Outcome.INCONCLUSIVE in seen:
        return Exit.INCONCLUSIVE
    return Exit.NOTHING_FOUND


def exit_of_run(data: Mapping[str, Any]) -> Exit:
    """Return the exit code of a run, whatever its engine.

    Outcomes that were expected or accepted are no news; others are 1, or decide as they are.
    """
    from bbfalsify.results.run_result import RunResult

    result = RunResult.from_json(data)
    if result.stop_reason == StopReason.INTERRUPTED:
        return Exit.INTERRUPTED
    open_outcomes: list[str] = []
    for row in result.requirements:
        accepted = result.accepted(row.id)
        if accepted is not None:  # failures may be accepted: then nothing else is news
            if accepted < len(result.of(row.id)):
                return Exit.FOUND
        elif row.expected is None:
            open_outcomes.append(row.outcome)
        elif row.outcome != row.expected:
            return Exit.FOUND
    if not result.requirements or (open_outcomes and result.outcome == Outcome.ERROR):
        open_outcomes.append(result.outcome)
    return exit_of_outcomes(open_outcomes)


def boundary(command: Callable[..., int | None]) -> Callable[..., None]:
    """Run a command; turn what it returns into the exit code and what it raises into a message.

    It has -q and -v, like all commands, even if it does not ask for them.
    """
    read: Callable[[dict[str, Any]], dict[str, Any]] = getattr(command, ARGUMENTS, lambda options: options)
    signature = inspect.signature(command, eval_str=True)
    own = signature.parameters.values()
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=option)
        for name, option in (("quiet", Quiet), ("verbose", Verbose))
        if name not in signature.parameters
    ]

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        as_json, verbose = bool(options.get("as_json")), bool(options.get("verbose"))
        for parameter in more:
            options.pop(parameter.name, None)
        try:
            with results_alone():
                code = command(*arguments, **read(options)) or Exit.NOTHING_FOUND
                results().flush()
        except UserError as error:
            code = report_problems([str(p) for p in error.problems], as_json=as_json)
        except SystemFailure as error:
            _say(f"the system under test failed: {error}")
            code = Exit.SYSTEM_FAILED
            _say_json({"error": {"kind": "system", "message": str(error)}}, as_json)
        except ExecutorLost as error:
            _say(str(error))
            code = Exit.INCONCLUSIVE
            _say_json({"error": {"kind": "executor", "message": str(error)}}, as_json)
        except KeyboardInterrupt:
            _say("interrupted.")
            code = Exit.INTERRUPTED
            _say_json({"error": {"kind": "interrupted", "message": "interrupted"}}, as_json)
        except Exception as error:
            code = _unexpected(error, verbose=verbose, as_json=as_json)
        sys.exit(int(code))

    run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *more)}
    return run


def report_problems(problems: list[str], *, as_json: bool) -> Exit:
    for problem in problems:
        _say(problem)
    _say_json({"error": {"kind": "input", "message": "\n".join(problems), "problems": problems}}, as_json)
    return Exit.WRONG_INPUT


def _unexpected(error: Exception, *, verbose: bool, as_json: bool) -> int:
    import traceback

    message = f"{type(error).__name__}: {error}"
    if verbose:
        say_block(traceback.format_exc().rstrip(), error=True)
    place = _place_in_an_engine(error)
    if place is None:
        _say(f"bbfalsify itself failed ({message}). Please report it; run again with -v for the traceback.")
    else:
        _say(f"{place}: the engine failed ({message}); run again with -v for the traceback.")
    _say_json({"error": {"kind": "internal" if place is None else "engine", "message": message}}, as_json)
    # Not one of the documented codes of a result: nobody should take a bug of ours for an outcome.
    return 70


def _place_in_an_engine(error: Exception) -> str | None:
    """File and line in an engine of another package where the error comes from; None: from elsewhere."""
    import traceback
    from importlib.metadata import entry_points

    from bbfalsify.registry import ENTRY_POINTS

    engines = {entry.module.partition(".")[0] for entry in entry_points(group=ENTRY_POINTS)}
    frames = list(traceback.walk_tb(error.__traceback__))
    inside = [(f, line) for f, line in frames if str(f.f_globals.get("__name__")).partition(".")[0] in engines]
    frame, line = inside[-1] if inside else (None, 0)
    return None if frame is None else f"{frame.f_code.co_filename}:{line}"


def _say(text: str) -> None:
    say(text, error=True)


def _say_json(data: dict[str, Any], wanted: bool) -> None:
    if wanted:
        print_json(data)
