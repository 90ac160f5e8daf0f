"""A counterexample as a ready pytest test: a few lines of Python, and a copy of the file beside them.

Paths in the test are relative to where it lies, so both can be committed; the system is named as in the run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.counterexample import SystemRecord, counterexample_from_json
from bbfalsify.records.json_files import read_json, write_atomically
from bbfalsify.records.word_counterexample import KIND, word_counterexample_from_json
from bbfalsify.running.reach.trace_files import is_trace_file

_TEST = Path(__file__).with_name("regression_test.txt")
_FAILURE = "the failure is there, and passes once the requirement holds"
_TRACE = "the model allows this trace, and passes once it does not"


class _Test(NamedTuple):
    title: str
    name: str
    fails: str
    """What makes it fail, and then pass."""
    imports: str
    made: Callable[[Path, str], str]
    """(folder of the test, name of the copy) -> the statements that make `result`."""


def write_test(file: str | Path, output: str | Path | None = None) -> tuple[Path, Path]:
    """The test and the copy that it reads; neither overwrites anything."""
    data = read_json(file)
    content = _content(data, Path(file))
    test = Path(output) if output is not None else Path(f"test_{content.name}.py")
    copy = test.with_suffix(".json")
    problems = [Problem("is there already; nothing was overwritten.", file=str(path))
                for path in (test, copy) if path.exists()]  # fmt: skip
    if not test.parent.is_dir():
        problems.append(Problem("there is no such folder.", file=str(test.parent)))
    if problems:
        raise UserError(problems)
    write_atomically(copy, Path(file).read_text(encoding="utf-8"))
    values = content._asdict() | {"title": _docstring(content.title), "made": content.made(test.parent, copy.name)}
    write_atomically(test, _TEST.read_text(encoding="utf-8").format(**values))
    return test, copy


def _content(data: Any, file: Path) -> _Test:
    if is_trace_file(data):
        return _of_trace(data)
    if isinstance(data, dict) and data.get("kind") == KIND:
        word = word_counterexample_from_json(data, file=str(file))
        about, symbols = word.requirement.text or word.requirement.formula, (*word.prefix, *word.loop)
        module, function = "bbfalsify.running.check.replay_word", "replay_word"
        return _of_system(word.requirement.id, about, symbols, word.system, module, function)
    found = counterexample_from_json(data, file=str(file))
    about = found.requirement.text or found.requirement.stl
    return _of_system(found.requirement.id, about, found.actions, found.system, "bbfalsify", "replay")


def _of_trace(data: dict[str, Any]) -> _Test:
    constants = f", {data['constants']!r}" if "constants" in data else ""
    example = data.get("example")

    def made(folder: Path, copy: str) -> str:
        model = f"named_model({example!r}{constants})[0]"
        if example is None:
            model = f"load_network(HERE / {_relative(data['model'], folder)!r}{constants})"
        return f"result = replay_trace(HERE / {copy!r}, {model})"

    load = (
        "from bbfalsify import load_network" if example is None else "from bbfalsify.examples.models import named_model"
    )
    name = _name(f"{data.get('requirement', 'trace')}_{Path(data['model']).stem if example is None else example}")
    imports = f"{load}\nfrom bbfalsify.running.reach.trace_files import replay_trace"
    return _Test(data["query"], name, _TRACE, imports, made)


def _of_system(id: str, about: str, word: Sequence[str], record: SystemRecord, module: str, function: str) -> _Test:
    def made(folder: Path, copy: str) -> str:
        system = f"load_system({record.reference!r}, base=HERE / {_relative(record.base, folder)!r})"
        return f"system = {system}\n    result = {function}(HERE / {copy!r}, system)"

    imports = f"from bbfalsify import load_system\nfrom {module} import {function}"
    return _Test(f"{id}: {about}", _name(f"{id}_{'_'.join(word)}"), _FAILURE, imports, made)


def _relative(path: str, folder: Path) -> str:
    return os.path.relpath(Path(path).resolve(), folder.resolve()).replace(os.sep, "/")


def _name(text: str) -> str:
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_").lower()[:60].rstrip("_") or "counterexample"


def _docstring(text: str) -> str:
    """One line that can stand between three quotes."""
    plain = " ".join(text.split()).replace("\\", "/").replace('"""', "'''")
    return plain + ("." if plain[-1:] in ('"', "") else "")
