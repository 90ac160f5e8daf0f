"""Small networks the kernel's tests share, written in the modelling language."""

from __future__ import annotations

import textwrap

from bbfalsify.kernel import CompiledModel, compile_network
from bbfalsify.modelling import parse_network


def one(declarations: str, locations: dict[str, str], edges: list[str], globals_: str = "") -> str:
    """A network of one automaton P; the first location is the initial one."""
    return several({"P": (declarations, locations, edges)}, globals_)


def several(automata: dict[str, tuple[str, dict[str, str], list[str]]], globals_: str = "") -> str:
    lines = ["format_version: 1", "name: test", "declarations: |"]
    lines += [f"  {g}" for g in (globals_ or "// none").split("\n")]
    lines.append("automata:")
    for name, (declarations, locations, edges) in automata.items():
        lines += [f"  {name}:", "    declarations: |", *(f"      {d}" for d in (declarations or "// none").split("\n"))]
        lines += [f"    initial: {next(iter(locations))}", "    locations:"]
        lines += [f"      {location}: {{{body}}}" for location, body in locations.items()]
        lines += ["    edges:", *(f"      - {{{e}}}" for e in edges)] if edges else ["    edges: []"]
    lines.append(f"system: [{', '.join(automata)}]")
    return "\n".join(lines) + "\n"


def model(text: str, **options: float) -> CompiledModel:
    return compile_network(parse_network(textwrap.dedent(text)), **options)


HEATER = one(
    "clock x;",
    {"S": 'invariant: "x <= 5"'},
    [
        'from: S, to: S, action: off, guard: "x >= 3", update: "x = 0"',
        'from: S, to: S, action: on, guard: "x >= 4", update: "x = 0"',
    ],
)

GAP = one(
    "clock x;",
    {"S": 'invariant: "x <= 5"', "A": "", "B": ""},
    ['from: S, to: A, action: a, guard: "x < 1"', 'from: S, to: B, action: b, guard: "x >= 4"'],
)

FISCHER = several(
    {
        f"P{i}": (
            "clock x;",
            {"A": "", "req": 'invariant: "x <= 2"', "wait": "", "cs": ""},
            [
                'from: A, to: req, action: try, guard: "id == 0", update: "x = 0"',
                f'from: req, to: wait, action: set, update: "x = 0, id = {i}"',
                f'from: wait, to: cs, action: enter, guard: "x > 2 && id == {i}"',
                'from: wait, to: req, action: retry, guard: "id == 0", update: "x = 0"',
                'from: cs, to: A, action: leave, update: "id = 0"',
            ],
        )
        for i in range(1, 5)
    },
    "int[0,4] id;",
)

# a stopwatch with a rate from data, a handshake, a broadcast, functions, arrays, branches and random draws
MIXED = several(
    {
        "Worker": (
            "clock work; clock x;",
            {
                "Idle": 'invariant: "x <= 4"',
                "Busy": 'invariant: "work <= 6 && x <= 20", rates: {work: "speed"}',
                "Held": 'invariant: "x <= 3", rates: {work: "0"}',
            },
            [
                'from: Idle, to: Busy, sync: "start!", update: "work = 0, x = 0"',
                'from: Busy, to: Held, action: pause, guard: "work >= 1 && x < 5 || work > 4", update: "x = 0"',
                'from: Held, to: Busy, action: resume, update: "x = 0, speed = next(speed)"',
                'from: Busy, to: Idle, sync: "done!", guard: "work >= 3", update: "x = 0, count[turn] += 1"',
            ],
        ),
        "Boss": (
            "clock y;",
            {"Ready": "", "Watching": 'invariant: "y <= 40"'},
            [
                'from: Ready, to: Watching, sync: "start?", update: "y = 0, turn = (turn + 1) % 3"',
                'from: Watching, to: Ready, sync: "done?", guard: "y != 7"',
                'from: Watching, to: Watching, action: nudge, guard: "y >= 2", update: "speed = 1, y = random(2)"',
            ],
        ),
        "Clerk": (
            "clock z;",
            {"L": 'invariant: "z <= 9"', "M": "urgent: true"},
            [
                'from: L, to: M, sync: "done?", guard: "z > 1"',
                'from: L, to: L, action: tick, guard: "z >= 5", update: "z = 0"',
                'from: M, action: file, branches: [{to: L, weight: 1, update: "z = 0"}, '
                '{to: L, weight: 2, update: "z = 1"}]',
            ],
        ),
    },
    "broadcast chan done;\nchan start;\nint[1,3] speed = 1;\nint[0,2] turn;\nint[0,1000] count[3];\n"
    "int next(int s) {\n  int r = s;\n  while (r > 2) { r = r - 3; }\n  return r + 1;\n}",
)

COOLING = one(
    "clock T; clock x;",
    {"S": 'invariant: "x <= 30", rates: {T: "-T / 10"}'},
    ['from: S, to: S, action: heat, guard: "T <= 50", update: "T = 100, x = 0"'],
)

# v' = −v²/100: no closed form that the kernel looks for, so it is integrated; v(t) = v0/(1 + v0·t/100)
BRAKING = one(
    "clock v; clock x;",
    {"S": 'invariant: "x <= 30", rates: {v: "-v * v / 100"}'},
    ['from: S, to: S, action: push, guard: "v <= 10", update: "v = 20, x = 0"'],
)
