"""Mealy machines (one output symbol per input symbol) and their DOT files.

    machine = read_dot("coffee.dot")
    machine.run(["coin", "button"])          # ("ok", "coffee")
    dot_text(machine)                        # the dialect of AALpy: s0 -> s1 [label="coin/ok"];

States, inputs and outputs are numbered, so that walks are table look-ups.  Machines are complete and deterministic:
every state answers every input, in one way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.foreign_files import read_text

MOST_PROBLEMS = 20
"""Further problems of one file are not reported."""

Word = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class MealyMachine:
    """`successor[s, i]` and `answer[s, i]`: the next state and the output for input i in state s."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    successor: np.ndarray
    answer: np.ndarray
    initial: int = 0
    states: tuple[str, ...] = ()
    name: str = "machine"

    def __post_init__(self) -> None:
        if not self.states:
            object.__setattr__(self, "states", tuple(f"s{i}" for i in range(len(self.successor))))

    def __len__(self) -> int:
        """The number of states."""
        return len(self.successor)

    def input_number(self, symbol: str) -> int:
        try:
            return self.inputs.index(symbol)
        except ValueError:
            raise UserError(unknown_name("input", symbol, self.inputs)) from None

    def run(self, word: Iterable[str]) -> Word:
        """The outputs along a word, from the initial state on."""
        state, outputs = self.initial, []
        for symbol in word:
            state, output = self.step(state, symbol)
            outputs.append(output)
        return tuple(outputs)

    def step(self, state: int, symbol: str) -> tuple[int, str]:
        """The next state and the output."""
        try:
            return self._steps[state][symbol]
        except KeyError:
            raise UserError(unknown_name("input", symbol, self.inputs)) from None

    @cached_property
    def _steps(self) -> list[dict[str, tuple[int, str]]]:
        """The tables by name: for single words, dictionaries are several times faster than arrays."""
        return [
            {symbol: (t, self.outputs[o]) for symbol, t, o in zip(self.inputs, targets, answers, strict=True)}
            for targets, answers in zip(self.successor.tolist(), self.answer.tolist(), strict=True)
        ]

    @classmethod
    def from_transitions(
        cls,
        transitions: Mapping[tuple[str, str], tuple[str, str]],
        initial: str,
        *,
        inputs: Sequence[str] | None = None,
        name: str = "machine",
    ) -> MealyMachine:
        """Make a machine from {(state, input): (next state, output)}; numbers follow the order, initial state first."""
        states = list(dict.fromkeys([initial, *(s for s, _ in transitions), *(s for s, _ in transitions.values())]))
        symbols = tuple(inputs) if inputs is not None else tuple(dict.fromkeys(i for _, i in transitions))
        outputs = tuple(dict.fromkeys(o for _, o in transitions.values()))
        missing = [(s, i) for s in states for i in symbols if (s, i) not in transitions]
        if missing or not symbols:
            shown = ", ".join(f"{s} on {i}" for s, i in missing[:5]) + (", …" if len(missing) > 5 else "")
            text = f"{len(missing)} transitions are missing ({shown})" if missing else "there is no transition"
            raise UserError(f"the machine '{name}' is not complete: {text}; every state must answer every input.")
        number, code = {s: k for k, s in enumerate(states)}, {o: k for k, o in enumerate(outputs)}
        shape = len(states), len(symbols)
        pairs = [transitions[s, i] for s in states for i in symbols]
        return cls(
            symbols,
            outputs,
            np.array([number[t] for t, _ in pairs], np.int32).reshape(shape),
            np.array([code[o] for _, o in pairs], np.int32).reshape(shape),
            0,
            tuple(states),
            name,
        )


_NAME = r'(?:"(?:[^"\\]|\\.)*"|[\w.]+)'
_EDGE = re.compile(rf"({_NAME})\s*->\s*({_NAME})\s*(?:\[(.*)\])?\s*;?$")
_LABEL = re.compile(r'\blabel\s*=\s*("(?:[^"\\]|\\.)*"|[^\s,\]]+)')
_HEADER = re.compile(rf"(?:strict\s+)?digraph\s*(?:{_NAME})?\s*\{{?$")
_NODE = re.compile(rf"{_NAME}\s*(?:\[.*\])?\s*;?$")
_ESCAPES = {"\n": "\\n", "\r": "\\r"}
_START = re.compile(r"_*start\w*$")


def read_dot(path: str | Path) -> MealyMachine:
    """Read DOT: one edge `a -> b [label="input/output"];` per transition, `__start0 -> a;` for the start."""
    return parse_dot(read_text(path), file=str(path), name=Path(path).stem)


def parse_dot(text: str, *, file: str | None = None, name: str = "machine") -> MealyMachine:
    transitions: dict[tuple[str, str], tuple[str, str]] = {}
    seen_at: dict[tuple[str, str], int] = {}
    starts: list[str] = []
    problems: list[Problem] = []

    def wrong(line: int, message: str) -> None:
        problems.append(Problem(message, file=file, line=line))

    for line, content in enumerate(text.split("\n"), start=1):
        content = content.strip()
        if not content or content in "{}" or content.startswith(("//", "#")):
            continue
        edge = _EDGE.match(content)
        if edge is None:
            if not (_HEADER.match(content) or _NODE.match(content)):
                wrong(line, f"neither a state nor a transition: '{content[:60]}'.")
            continue
        source, target = _unquote(edge[1]), _unquote(edge[2])
        if _START.match(source):
            starts.append(target)
            continue
        label = _LABEL.search(edge[3] or "")
        symbols = [s.strip(" \t") for s in _unquote(label[1]).split("/", 1)] if label else []
        if len(symbols) != 2 or not all(symbols):
            wrong(line, 'a transition needs label="input/output".')
            continue
        key = source, symbols[0]
        if key in transitions and transitions[key] != (target, symbols[1]):
            wrong(line, f"'{source}' already answers '{symbols[0]}' in another way, in line {seen_at[key]}.")
        transitions[key], seen_at[key] = (target, symbols[1]), line
    if len(starts) > 1:
        problems.append(Problem(f"several initial states: {', '.join(starts)}.", file=file))
    if not starts and not transitions:
        problems.append(Problem("there is no transition in this file.", file=file))
    if problems:
        raise UserError(problems[:MOST_PROBLEMS])
    # Without a start edge the first state of the file is the initial one, as in other tools.
    initial = starts[0] if starts else next(iter(transitions))[0]
    try:
        return MealyMachine.from_transitions(transitions, initial, name=name)
    except UserError as error:
        raise UserError([Problem(p.message, file=file) for p in error.problems]) from None


def dot_text(machine: MealyMachine) -> str:
    """Write the machine as DOT, readable by AALpy, Graphviz and `read_dot`."""
    lines = [f"digraph {_quote(machine.name)} {{", '__start0 [label="" shape="none"];']
    lines += [f"{_quote(s)} [label={_quote(s)}];" for s in machine.states]
    for s, source in enumerate(machine.states):
        for i, symbol in enumerate(machine.inputs):
            target = machine.states[machine.successor[s, i]]
            label = _quote(f"{symbol}/{machine.outputs[machine.answer[s, i]]}")
            lines.append(f"{_quote(source)} -> {_quote(target)} [label={label}];")
    return "\n".join([*lines, f"__start0 -> {_quote(machine.states[machine.initial])};", "}", ""])


def _quote(name: str) -> str:
    """Quote a name; a line break inside is written as \\n, for DOT is read line by line."""
    if re.fullmatch(r"[A-Za-z_]\w*", name):
        return name
    return '"' + re.sub(r'[\\"\n\r]', lambda found: _ESCAPES.get(found[0], "\\" + found[0]), name) + '"'


def _unquote(name: str) -> str:
    if not name.startswith('"'):
        return name
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "r": "\r"}.get(found[1], found[1]), name[1:-1])
