"""The header for C: a compiled program is a system like any other."""

import json
import re
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import Port, ProcessSystem, SessionFailure
from bbfalsify.systems.parameters import open_session
from bbfalsify.testing.systems import check_system
from tests.unit.systems.test_process_systems import ROOT

FOLDER = files("bbfalsify.examples") / "c"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"]

ECHO = """
#include "bbfalsify.h"

static const char *reset(unsigned long long seed, double *outputs) {
    printf("a print of the simulator\\n");
    outputs[0] = (double)seed;
    outputs[1] = 0.0;
    return NULL;
}

static const char *step(const double *inputs, double duration, double *outputs) {
    outputs[0] = inputs[0];
    outputs[1] = inputs[1] / duration;
    return inputs[0] > 99 ? "too \\"much\\"\\n" : NULL;
}

int main(void) {
    static const bbf_port inputs[] = {{"\xc3\xa4\xf0\x9f\x98\x80", NULL}, {"in \\"2\\"", "m"}};
    static const bbf_port outputs[] = {{"first", "1"}, {"second", NULL}};
    bbf_system echo = {"echo", inputs, 2, outputs, 2, reset, step, 1};
    return bbf_serve(&echo);
}
"""
"""Names with quotes, umlauts and signs beyond 16 bits; several ports, prints, a seed, errors, numbers that overflow."""


def compiled(folder, source, *options):
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed (tests/install_programs.sh)"
    subprocess.run([compiler, *STRICT, *options, f"-I{FOLDER}", "-o", folder / "program", source, "-lm"], check=True)
    return folder / "program"


@pytest.fixture(scope="module")
def tank(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("tank"), FOLDER / "tank.c")


@pytest.fixture(scope="module")
def watched_tank(tmp_path_factory):
    """With the address and the undefined-behaviour sanitizer."""
    options = "-fsanitize=address,undefined", "-fno-sanitize-recover=all"
    return compiled(tmp_path_factory.mktemp("watched"), FOLDER / "tank.c", *options)


@pytest.fixture
def echo(tmp_path):
    (tmp_path / "echo.c").write_bytes(ECHO.encode("latin-1"))
    return compiled(tmp_path, tmp_path / "echo.c")


def test_the_tank_is_fit_for_use(tank):
    box = ProcessSystem([str(tank)])
    try:
        assert (box.name, box.inputs, box.outputs) == ("tank", (Port("inflow", "m3/s"),), (Port("level", "m3"),))
        check_system(box)
    finally:
        box.close()


def test_the_conversation_of_the_manual_happens_in_c(tank):
    """Every answer is that of the manual, but for the words of the error."""
    page = (ROOT / "docs/how-to/program.md").read_text()
    said = re.findall(r"^(program|bbfalsify) +(\{.*\})$", page, re.MULTILINE)
    asked = "".join(line + "\n" for who, line in said if who == "bbfalsify")
    told = subprocess.run([tank], input=asked, capture_output=True, text=True, timeout=30, check=True).stdout
    answers = [json.loads(line) for line in told.splitlines()][1:]
    wanted = [json.loads(line) for who, line in said if who == "program"][1:]
    assert [a.get("outputs") for a in answers] == [w.get("outputs") for w in wanted]
    assert [a["id"] for a in answers] == [w["id"] for w in wanted] and len(wanted) == 5
    assert [a.get("error") for a in answers] == [None, None, None, "the tank is empty", None]


def without_comments(code):
    return re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL).split()


def test_the_manual_shows_the_tank_that_is_shipped():
    shown = re.search(r"```c\n(.*?)```", (ROOT / "docs/how-to/program.md").read_text(), re.DOTALL)[1]
    assert without_comments(shown) == without_comments((FOLDER / "tank.c").read_text())


def test_names_seeds_prints_and_errors(echo):
    box = ProcessSystem([str(echo)])
    first, second = "ä😀", 'in "2"'
    assert [port.name for port in box.inputs] == [first, second] and box.capabilities.seedable
    try:
        times, seed = np.array([0.0, 0.5, 2.0]), 2**53 - 1
        inputs = {first: np.array([0.1, 1e-300, 0.0]), second: np.array([1.0, 3.0, 0.0])}
        with open_session(box, seed, {}) as session:
            outputs = session.execute(Stimulus(times, inputs))
        assert list(outputs["first"]) == [seed, 0.1, 1e-300] and list(outputs["second"]) == [0.0, 2.0, 2.0]
        for values, message in (((100.0, 1.0), 'too "much"'), ((0.0, 1e308), "output 'second' is not finite")):
            held = {name: np.full(3, value) for name, value in zip((first, second), values, strict=True)}
            with open_session(box, 0, {}) as session, pytest.raises(SessionFailure, match=re.escape(message)):
                session.execute(Stimulus(times, held))
    finally:
        box.close()


DAMAGED = (
    "{", "[]", "\\", '{"id":1', '{"id":1}', '{"id":1,"request":"run","times":[0',
    '{"id":1,"request":"run","times":[0,]}', '{"id":1,"request":"step","inputs":[3]}', '{"id":1,"request":"\\u00',
)  # fmt: skip


@pytest.mark.parametrize("line", DAMAGED)
def test_damaged_requests_neither_crash_nor_hang(watched_tank, line):
    ended = subprocess.run([watched_tank], input=line + "\n", capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode in (0, 1) and "runtime error" not in ended.stderr and "Sanitizer" not in ended.stderr
