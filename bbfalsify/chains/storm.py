"""A second opinion by Storm (`pip install 'bbfalsify[storm]'`): the same chain, exported, and the same formula.

Storm runs in a process of its own, because it writes its log to stdout.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from importlib.util import find_spec

from bbfalsify.chains.chain import Chain
from bbfalsify.chains.prism import to_prism
from bbfalsify.core.errors import UserError
from bbfalsify.logic import csl

_SCRIPT = """
import json, sys
import stormpy
task = json.load(sys.stdin)
with open(task["file"], "w") as file:
    file.write(task["model"])
program = stormpy.parse_prism_program(task["file"], prism_compatibility=True)
properties = stormpy.parse_properties(task["query"], program)
model = stormpy.build_model(program, properties)
result = stormpy.model_checking(model, properties[0], environment=stormpy.environments.sound())
start = model.initial_states[0]
numeric = hasattr(result, "get_value")
found = result.get_value(start) if numeric else bool(result.get_truth_values_vector().get(start))
with open(task["answer"], "w") as file:
    json.dump(found, file)
"""


def storm_is_installed() -> bool:
    return find_spec("stormpy") is not None


def ask_storm(chain: Chain, query: str | csl.Formula) -> float | bool:
    """Return Storm's answer to a query: a number, or a truth value for a formula with a bound."""
    import tempfile
    from pathlib import Path

    if not storm_is_installed():
        raise UserError("Storm is not installed: pip install 'bbfalsify[storm]' (Linux and macOS).")
    labels: dict[str, str] = {}
    text = _written(csl.parse_csl(query) if isinstance(query, str) else query, labels)
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        task = {"model": to_prism(chain, labels), "query": text, "file": str(Path(folder, "chain.prism")),
                "answer": str(answer)}  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", _SCRIPT], input=json.dumps(task), capture_output=True, text=True, check=False
        )
        if not answer.exists():
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise UserError(f"Storm has no answer to '{text}': {said[-1] if said else 'it says nothing'}.")
        found: float | bool = json.loads(answer.read_text())
        return found


def _written(formula: csl.Formula, labels: dict[str, str]) -> str:
    """The formula in Storm's words; conditions become labels."""
    match formula:
        case csl.Condition(text):
            name = next((name for name, known in labels.items() if known == text), f"l{len(labels)}")
            labels[name] = text
            return f'"{name}"'
        case csl.Negation(operand):
            return f"!({_written(operand, labels)})"
        case csl.Junction(operator, left, right):
            return f"({_written(left, labels)}) {'&' if operator == 'and' else '|'} ({_written(right, labels)})"
        case csl.Probability(path, bound):
            return f"P{_bound(bound)} [ {_path(path, labels)} ]"
        case csl.LongRunShare(operand, bound):
            return f"S{_bound(bound)} [ {_written(operand, labels)} ]"
        case csl.Reward(name, kind, until, time, bound):
            if kind == "until" and until is not None and name in ("time", "cost"):
                word = f"T{_bound(bound)}" if name == "time" else f'R{{"cost"}}{_bound(bound)}'
                return f"{word} [ F {_written(until, labels)} ]"
            if name == "cost":
                inside = {"up to": f"C<={time!r}", "at": f"I={time!r}", "long run": "S"}[kind]
                return f'R{{"cost"}}{_bound(bound)} [ {inside} ]'
    raise UserError("Storm is asked about probabilities, times and the reward 'cost' only.")


def _bound(bound: csl.Bound | None) -> str:
    if bound is None:
        return "=?"
    if bound.low > -math.inf and bound.high < math.inf:
        raise UserError("Storm takes one bound, not an interval.")
    if bound.low > -math.inf:
        return f">{'' if bound.low_strict else '='}{bound.low!r}"
    return f"<{'' if bound.high_strict else '='}{bound.high!r}"


def _path(path: csl.Path, labels: dict[str, str]) -> str:
    low, high = path.low, path.high
    interval = "" if high == math.inf and low == 0 else f">={low!r}" if high == math.inf else f"[{low!r},{high!r}]"
    match path:
        case csl.Until(None, right):
            return f"F{interval} ({_written(right, labels)})"
        case csl.Until(left, right) if left is not None:
            return f"({_written(left, labels)}) U{interval} ({_written(right, labels)})"
        case csl.Globally(operand):
            return f"G{interval} ({_written(operand, labels)})"
    raise UserError("Storm is not asked about X here: it does not see which states are immediate.")
