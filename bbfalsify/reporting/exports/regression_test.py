"""A counterexample as a ready pytest test: a few lines of Python, and a copy of the file beside them.

Paths in the test are relative to where it lies, so both can be committed; the system is named as in the run.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.counterexample import SystemRecord, counterexample_from_json
from bbfalsify.records.json_files import read_json, write_atomically
from bbfalsify.records.word_counterexample import KIND, word_counterexample_from_json
from bbfalsify.running.reach.trace_files import is_trace_file

_SIGNALS = '''"""{title}

Written by `bbfalsify export`.  It fails as long as the failure is there, and passes once the requirement holds.
"""

from pathlib import Path

from bbfalsify import load_system
from {module} import {function}

HERE = Path(__file__).parent


def test_{name}():
    system = load_system({reference!r}, base=HERE / {base!r})
    result = {function}(HERE / {file!r}, system)
    assert result.outcome == "fixed", f"{{result.outcome.value}}: {{result.explanation}}"
'''

_MODEL = '''"""{title}

Written by `bbfalsify export`.  It fails as long as the model allows this trace, and passes once it does not.
"""

from pathlib import Path

{load_import}
from bbfalsify.running.reach.trace_files import replay_trace

HERE = Path(__file__).parent


def test_{name}():
    result = replay_trace(HERE / {file!r}, {load})
    assert result.outcome == "fixed", f"{{result.outcome.value}}: {{result.explanation}}"
'''


def write_test(file: str | Path, output: str | Path | None = None) -> tuple[Path, Path]:
    """The test and the copy that it reads; neither overwrites anything."""
    data = read_json(file)
    title, name, fill, template = _content(data, Path(file))
    test = Path(output) if output is not None else Path(f"test_{name}.py")
    copy = test.with_suffix(".json")
    problems = [Problem("is there already; nothing was overwritten.", file=str(path))
                for path in (test, copy) if path.exists()]  # fmt: skip
    if not test.parent.is_dir():
        problems.append(Problem("there is no such folder.", file=str(test.parent)))
    if problems:
        raise UserError(problems)
    values = {key: value(test.parent) if callable(value) else value for key, value in fill.items()}
    write_atomically(copy, Path(file).read_text(encoding="utf-8"))
    text = template.format(title=_docstring(title), name=name, file=copy.name, **values)
    write_atomically(test, text)
    return test, copy


def _content(data: Any, file: Path) -> tuple[str, str, dict[str, Any], str]:
    if is_trace_file(data):
        constants = f", {data['constants']!r}" if "constants" in data else ""
        if "example" in data:
            how = "from bbfalsify.examples.models import named_model", f"named_model({data['example']!r}{constants})[0]"
            fill: dict[str, Any] = {"load_import": how[0], "load": how[1]}
        else:
            fill = {
                "load_import": "from bbfalsify import load_network",
                "load": lambda folder: f"load_network(HERE / {_relative(data['model'], folder)!r}{constants})",
            }
        model = data["example"] if "example" in data else Path(data["model"]).stem
        return data["query"], _name(f"{data.get('requirement', 'trace')}_{model}"), fill, _MODEL
    if isinstance(data, dict) and data.get("kind") == KIND:
        word = word_counterexample_from_json(data, file=str(file))
        about = f"{word.requirement.id}: {word.requirement.text or word.requirement.formula}"
        name = _name(f"{word.requirement.id}_{'_'.join((*word.prefix, *word.loop))}")
        return about, name, _system(word.system, "bbfalsify.running.check.replay_word", "replay_word"), _SIGNALS
    found = counterexample_from_json(data, file=str(file))
    about = f"{found.requirement.id}: {found.requirement.text or found.requirement.stl}"
    name = _name(f"{found.requirement.id}_{'_'.join(found.actions)}")
    return about, name, _system(found.system, "bbfalsify", "replay"), _SIGNALS


def _system(record: SystemRecord, module: str, function: str) -> dict[str, Any]:
    return {
        "module": module,
        "function": function,
        "reference": record.reference,
        "base": lambda folder: _relative(record.base, folder),
    }


def _relative(path: str, folder: Path) -> str:
    return os.path.relpath(Path(path).resolve(), folder.resolve()).replace(os.sep, "/")


def _name(text: str) -> str:
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_").lower()[:60].rstrip("_") or "counterexample"


def _docstring(text: str) -> str:
    """One line that can stand between three quotes."""
    plain = " ".join(text.split()).replace("\\", "/").replace('"""', "'''")
    return plain + ("." if plain[-1:] in ('"', "") else "")
