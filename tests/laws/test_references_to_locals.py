"""Functions that take local variables by reference, drawn at random: kernel and reference interpreter compute what
Python does with lists for references."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.kernel import WalkStatus, accelerated_walks, compile_network
from bbfalsify.modelling import load_model
from tests.support.judging import judge_walk
from tests.support.oracle import Oracle

SIZE = 3


class Program:
    """Functions `f0`, `f1`, … of one int and one array by reference and one int by value, in C and in Python.

    In Python a variable is a list, and what is passed by reference a list with a first index.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.c: list[str] = []
        self.python: list[str] = ["def wrap(n): return n % 23"]
        self.loops = 0
        for number in range(3):
            self.function(number)

    def value(self) -> tuple[str, str]:
        """A number; array elements are looked up within bounds."""
        match self.rng.randrange(7):
            case 0:
                n = str(self.rng.randrange(4))
                return n, n
            case 1:
                return "v", "v[0][v[1]]"
            case 2:
                return "k", "k"
            case 3:
                i = self.rng.randrange(SIZE)
                return f"a[{i}]", f"a[0][a[1] + {i}]"
            case 4:
                return "l[(k + s) % 3]", "l[(k + s[0]) % 3]"
            case 5:
                return "r", "r"
        return "s", "s[0]"

    def place(self) -> tuple[str, str, str]:
        """An int that can be assigned: in C, in Python, and as a reference in Python."""
        match self.rng.randrange(4):
            case 0:
                return "v", "v[0][v[1]]", "v"
            case 1:
                return "a[k % 3]", "a[0][a[1] + k % 3]", "(a[0], a[1] + k % 3)"
            case 2:
                return "l[s % 3]", "l[s[0] % 3]", "(l, s[0] % 3)"
        return "s", "s[0]", "(s, 0)"

    def statements(self, number: int, depth: int, pad: str) -> tuple[list[str], list[str]]:
        c, python = [], []
        for _ in range(self.rng.randint(2, 3)):
            (one, other), (two, as_two) = self.value(), self.value()
            place, as_place, reference = self.place()
            kind = self.rng.choice((0, 2, 3, 4, 5, 5, 6) if depth else (0, 2, 2, 3))
            if kind == 0 or (kind < 4 and number == 0):
                c.append(f"{place} = ({one} + {two} * 2) % 23;")
                python.append(f"{pad}{as_place} = wrap({other} + {as_two} * 2)")
            elif kind < 4:
                called = self.rng.randrange(number)
                array, as_array = self.rng.choice([("a", "a"), ("l", "(l, 0)")])
                call = f"f{called}({place}, {array}, {one})", f"f{called}({reference}, {as_array}, {other})"
                if kind == 2:
                    c.append(f"r = {call[0]};")
                    python.append(f"{pad}r = {call[1]}")
                else:
                    c.append(f"if ({two} > 3 && {call[0]} > 5) r++;")
                    python.append(f"{pad}if {as_two} > 3 and {call[1]} > 5: r += 1")
            elif kind == 4:
                inner, as_inner = self.statements(number, depth - 1, pad + "  ")
                c += [f"if ({one} < {two}) {{", *inner, "}"]
                python += [f"{pad}if {other} < {as_two}:", *as_inner]
            elif kind == 5:
                self.loops += 1
                i = f"i{self.loops}"
                inner, as_inner = self.statements(number, depth - 1, pad + "  ")
                c += [f"for ({i} : int[0,2]) {{", *inner, "}"]
                python += [f"{pad}for {i} in range(3):", *as_inner]
            else:
                c.append(f"if ({one} == {two} + 1) return ({one} + r) % 23;")
                python.append(f"{pad}if {other} == {as_two} + 1: return wrap({other} + r)")
        return c, python

    def function(self, number: int) -> None:
        c, python = self.statements(number, 2, "  ")
        self.c += [
            f"int f{number}(int &v, int &a[3], int k) {{ int r, s = k, l[3] = {{1, k, 2}};", *c,
            "return (r + s + l[0] + l[1] + l[2]) % 23; }",
        ]  # fmt: skip
        self.python += [f"def f{number}(v, a, k):", "  r, s, l = 0, [k], [1, k, 2]", *python,
                        "  return wrap(r + s[0] + sum(l))"]  # fmt: skip

    def expected(self, start: int) -> list[int]:
        space: dict = {}
        exec("\n".join(self.python), space)  # noqa: S102  our own text
        n, array = [start], [start, 4, 7]
        result = space["f2"]((n, 0), (array, 0), start)
        return [result, n[0], *array]

    def model(self, start: int) -> str:
        begin = f"int n = {start}, l[3] = {{{start}, 4, 7}};"
        end = "out[1] = n; for (i : int[0,2]) out[i + 2] = l[i];"
        return "\n".join([
            "int out[5];", *self.c, f"void run() {{ {begin} out[0] = f2(n, l, {start}); {end} }}",
            "process P() { state A, B; commit A; init A; trans A -> B { assign run(); }; } system P;",
        ])  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_local_variables_by_reference(tmp_path: Path, seed: int) -> None:
    program = Program(seed)
    start = seed % 5
    file = tmp_path / "model.xta"
    file.write_text(program.model(start), encoding="utf-8")
    network = load_model(file)[0]
    walk = accelerated_walks(compile_network(network), np.zeros(1, np.uint64), 5, 1e9, 1).walk(0)
    assert walk.status == WalkStatus.STEP_LIMIT, walk.error
    judgement = judge_walk(Oracle(network), walk)
    assert judgement.problem is None and judgement.state is not None
    expected = program.expected(start)
    assert list(walk.integers[1][:5]) == expected
    assert list(judgement.state.integers[:5]) == expected
