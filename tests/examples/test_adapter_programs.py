"""The programs of the manual, written to files and talked to as its pages say."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import ProcessSystem, load_system
from bbfalsify.systems.programs import serve
from bbfalsify.systems.programs.octave import octave_command
from tests.examples.documents import ROOT, blocks_of

PAGES = ("program", "octave", "model-as-system")
BLOCKS = [block for page in PAGES for block in blocks_of(ROOT / "docs" / "how-to" / f"{page}.md")]


@pytest.fixture
def desk(tmp_path):
    """The files of the pages, beside a copy of serve.py."""
    for block in BLOCKS:
        if block.marker.startswith("file: "):
            (tmp_path / block.marker.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
    shutil.copy(serve.__file__, tmp_path / "serve.py")
    return tmp_path


def test_the_conversation_is_one_that_happens(desk):
    (page,) = [block.text for block in BLOCKS if block.marker == "conversation"]
    spoken = [line.split(maxsplit=1) for line in page.splitlines()]
    requests = "".join(text + "\n" for who, text in spoken if who == "bbfalsify")
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(desk)!r}); import tank"]
    done = subprocess.run(command, input=requests, capture_output=True, text=True, timeout=60)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    expected = [json.loads(text) for who, text in spoken if who == "program"]
    assert answers[0]["capabilities"].pop("seedable") is False
    assert answers == expected, done.stderr
    assert [who for who, _ in spoken] == ["program", *["bbfalsify", "program"] * (len(answers) - 1)]


def test_the_tank_is_a_system(desk):
    tank = load_system(f"cmd:{sys.executable} tank.py", base=desk)
    with tank.open(0) as session:
        answer = session.execute(Stimulus(np.array([0.0, 1.0, 3.0]), {"inflow": np.array([2.0, 0.5, 0.0])}))
    tank.close()
    assert answer == {"level": [0.0, 2.0, 3.0]}


def test_the_boiler_is_a_system(desk):
    boiler = load_system("boiler.yaml", base=desk)
    whole = Stimulus(np.array([0.0, 10.0, 20.0]), {"heat": np.array([1.0, 1.0, 0.0])})
    answers = []
    for seed in range(30):
        with boiler.open(seed) as session:
            answers.append(session.execute(whole))
    working = [a["T"] for a in answers if not a["broken"].any()]
    assert 0 < len(working) < 30
    for temperatures in working:
        assert temperatures == pytest.approx(100 * (1 - np.exp([0.0, -1.0, -2.0])))


def test_the_filter_of_octave_is_a_system(desk):
    system = ProcessSystem(octave_command(desk / "serve_filter.m"))
    with system.open(0) as session:
        answer = session.execute(Stimulus(np.array([0.0, 1.0, 2.0]), {"u": np.array([1.0, 1.0, 1.0])}))
    system.close()
    assert answer["y"] == pytest.approx([0.1, 0.19, 0.271])


def test_the_helper_for_octave_has_a_manual():
    file = Path(serve.__file__).parent / "mfiles" / "bbfalsify_serve.m"
    assert "outputs = run(times, inputs)" in file.read_text()
