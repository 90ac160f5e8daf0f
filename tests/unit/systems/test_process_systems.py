"""Programs that stay alive: what is said on the line, how systems are described, loaded and described again."""

import io
import json
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.core.errors import SystemFailure, UserError
from bbfalsify.core.query import WordQuery
from bbfalsify.core.redaction import Redactor
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.running import Driver
from bbfalsify.systems import (
    Capabilities,
    MalformedAnswer,
    Port,
    ProcessSymbolSystem,
    ProcessSystem,
    SessionFailure,
    SymbolSystem,
    System,
    load_system,
)
from bbfalsify.systems.programs import line_protocol as protocol
from bbfalsify.systems.programs import serve
from bbfalsify.systems.programs.launching import launch_and_rest, split_command
from bbfalsify.systems.programs.persistent import ProcessOptions
from bbfalsify.systems.references import resolve_reference

ROOT = Path(__file__).parent.parent.parent.parent
SERVE = Path(serve.__file__)
STIMULUS = Stimulus(np.array([0.0, 0.5, 2.0]), {"inflow": np.array([1.0, 3.0, 0.0])}, ((0.5, "open"),))


def write_program(folder, text):
    """A foreign program: a copy of serve.py beside it, and no bbfalsify in sight."""
    (folder / "serve.py").write_text(SERVE.read_text())
    file = folder / "program.py"
    file.write_text(textwrap.dedent(text))
    return [sys.executable, "-I", "-c", f"import sys, runpy; sys.path.insert(0, '{folder}'); runpy.run_path('{file}')"]


TANK = """
    import sys
    from serve import serve

    assert not any(name.startswith("bbfalsify") for name in sys.modules)
    level = 0.0

    def reset(seed):
        global level
        print("a print does no harm")
        level = float(seed)
        return {"level": level}

    def step(inputs, duration):
        global level
        if inputs["inflow"] > 100:
            raise ValueError("the tank has burst")
        level += inputs["inflow"] * duration
        return {"level": level}

    serve(name="tank", inputs={"inflow": "m3/s"}, outputs={"level": "m3"}, reset=reset, step=step)
"""


def test_step_by_step(tmp_path):
    tank = ProcessSystem(write_program(tmp_path, TANK))
    assert (tank.name, tank.inputs, tank.outputs) == ("tank", (Port("inflow", "m3/s"),), (Port("level", "m3"),))
    assert tank.capabilities == Capabilities(seedable=True, stepwise=True)
    assert isinstance(tank, System) and not isinstance(tank, SymbolSystem)
    for seed in (0, 5):
        with tank.open(seed) as session:
            assert session.execute(STIMULUS)["level"].tolist() == [seed, seed + 0.5, seed + 5.0]
        assert session.usage.cpu_seconds > 0 and session.usage.memory_mb > 1
    first = tank.conversation.child
    with tank.open(0) as session:
        session.step({"inflow": 2.0}, 1.0)
        assert session.observe() == {"level": 2.0}
    with pytest.raises(SessionFailure, match="^ValueError: the tank has burst$"), tank.open(0) as session:
        session.step({"inflow": 200.0}, 1.0)
    with tank.open(0) as session:
        session.execute(STIMULUS)
    assert tank.conversation.child is first, "an error that was reported costs no restart"
    tank.close()


def test_whole_signals_with_events_and_seed(tmp_path):
    command = write_program(
        tmp_path,
        """
        from serve import serve

        def run(times, inputs, seed, events):
            return {"n": [len(events), seed, inputs["inflow"][1]], "last": times}

        serve(name="echo", inputs={"inflow": None}, outputs={"n": None, "last": "s"}, run=run)
        """,
    )
    with ProcessSystem(command).open(2**63 + 7) as session:
        assert session.execute(STIMULUS) == {"n": [1, 7, 3.0], "last": [0.0, 0.5, 2.0]}
    session._conversation.close()


TURNSTILE = """
    from serve import serve

    locked = True

    def reset():
        global locked
        locked = True

    def step(symbol):
        global locked
        if symbol == "kick":
            raise RuntimeError("ouch")
        before, locked = locked, symbol == "push"
        return 17 if symbol == "number" else ("stop" if before else "go") if symbol == "push" else "click"

    serve(name="turnstile", alphabet=["coin", "push", "kick", "number"], reset=reset, step=step)
"""


def test_symbols_through_the_loop(tmp_path):
    turnstile = ProcessSymbolSystem(write_program(tmp_path, TURNSTILE))
    assert isinstance(turnstile, SymbolSystem)
    words = [("push", "coin", "push"), ("push",), ("coin", "kick", "push"), ("number",), ("push",)]
    with Driver(turnstile, None) as driver:
        answers = driver.ask([WordQuery(f"w{i}", word) for i, word in enumerate(words)])
    assert [a.symbols for a in answers] == [("stop", "click", "go"), ("stop",), ("click",), (), ("stop",)]
    assert [a.status.value for a in answers] == ["ok", "ok", "raised", "malformed", "ok"]
    assert answers[2].message == "answer 2: RuntimeError: ouch"
    assert all(a.cpu_seconds is not None for a in answers)


def test_a_command_as_reference(tmp_path):
    program = tmp_path / "sim ulator"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
    command = write_program(tmp_path, TANK)
    with pytest.raises(UserError, match="is not executable"):
        load_system("cmd:'./sim ulator' -V", base=tmp_path)
    program.chmod(0o755)
    (tmp_path / "go.py").write_text(command[-1])
    tank = load_system("cmd:'./sim ulator' -I go.py", base=tmp_path)
    assert isinstance(tank, ProcessSystem) and tank.name == "tank"
    turnstile = tmp_path / "turnstile"
    turnstile.mkdir()
    write_program(turnstile, TURNSTILE)
    assert isinstance(load_system(f"cmd:{sys.executable} program.py", base=turnstile), ProcessSymbolSystem)


def test_the_hash_of_a_command_is_that_of_the_files_it_names(tmp_path):
    (tmp_path / "model.py").write_text("1")
    one = resolve_reference("cmd:python3 model.py --fast", tmp_path).file_hash()
    (tmp_path / "model.py").write_text("2")
    two = resolve_reference("cmd:python3 model.py --fast", tmp_path).file_hash()
    assert one and two and one != two
    assert resolve_reference("cmd:python3 -c pass", tmp_path).file_hash() is None


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("cmd:", "the command of the program is empty"),
        ("cmd: './sim", "cannot be split into words: no closing quotation"),
        ("cmd:no-such-program-anywhere", "there is no program 'no-such-program-anywhere' in PATH"),
        ("cmd:./simulatr --fast", "Did you mean 'simulator'?"),
    ],
)
def test_commands_that_cannot_be_used(reference, said, tmp_path):
    (tmp_path / "simulator").touch(mode=0o755)
    with pytest.raises(UserError) as error:
        load_system(reference, base=tmp_path)
    assert said in str(error.value)


def test_a_program_that_says_no_hello():
    with pytest.raises(
        SystemFailure, match="'echo hello' could not be started: its hello did not come: .* exit code 0.*line protocol"
    ):
        load_system("cmd:echo hello")


def test_no_shell_is_involved(tmp_path):
    with pytest.raises(SystemFailure):
        load_system("cmd:echo $HOME ; touch spoiled", base=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert split_command("a 'b c' $HOME") == ("a", "b c", "$HOME")


def test_any_system_can_be_served():
    system = load_system(f"cmd:{sys.executable} -m bbfalsify.systems.programs.serve adapters/heater", base=ROOT)
    direct = load_system("adapters/heater", base=ROOT)
    assert (system.name, system.inputs, system.outputs) == (direct.name, direct.inputs, direct.outputs)
    rng = np.random.default_rng(5)
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.01, 1.0, 40))])
    stimulus = Stimulus(times, {"heat": rng.integers(0, 2, 41).astype(float)})
    with system.open(1) as session, direct.open(1) as other:
        answer = session.execute(stimulus)
        assert answer["T"] == list(other.execute(stimulus)["T"]), "every digit survives the journey"
    system.close()


def test_serving_what_cannot_be_served():
    done = subprocess.run(
        [sys.executable, "-m", "bbfalsify.systems.programs.serve", "no/such"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 1 and done.stdout == "" and "no system 'no/such'" in done.stderr
    with pytest.raises(TypeError, match="needs run, or reset and step"):
        serve.serve(name="x")


def test_a_conversation_word_by_word(tmp_path):
    """What the documentation promises, without any of our own reading code."""
    command = write_program(tmp_path, TANK)
    requests = [
        {"id": 7, "request": "reset", "seed": 1},
        {"id": 8, "request": "step", "inputs": {"inflow": 2}, "duration": 3},
        {"id": 9, "request": "dance"},
        {"id": 10, "request": "close"},
        {"id": 11, "request": "reset", "seed": 1},
    ]
    text = "".join(json.dumps(r) + "\n" for r in requests)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    hello, *answers = map(json.loads, io.StringIO(done.stdout))
    assert hello["bbfalsify"] == 1
    assert answers == [
        {"id": 7, "outputs": {"level": 1.0}},
        {"id": 8, "outputs": {"level": 7.0}},
        {"id": 9, "error": "ValueError: this program does not know the request 'dance'"},
        {"id": 10},
    ]
    assert done.stderr == "a print does no harm\n"


def test_declared_ports_need_no_start():
    system = ProcessSystem(
        "no-such-program", inputs={"u": "m"}, outputs=["y"], capabilities=Capabilities(seedable=True), name="later"
    )
    assert (system.name, system.inputs, system.outputs) == ("later", (Port("u", "m"),), (Port("y"),))
    assert system.capabilities.seedable
    assert ProcessSymbolSystem("x", alphabet=["a", "b"]).alphabet == ("a", "b")
    with pytest.raises(UserError, match="both the inputs and the outputs"):
        ProcessSystem("x", inputs=["u"])
    with pytest.raises(UserError, match="there is no program 'no-such-program' in PATH"), system.open(0):
        pass


def test_wrong_options_are_reported_together():
    with pytest.raises(UserError) as error:
        ProcessSystem("", memory_mb=-1, output_limit_mb=0)
    assert len(error.value.problems) == 3
    with pytest.raises(UserError) as error:
        ProcessSystem("x", start_limit_s=0, time_limit_s=-1, restart_every=0)
    assert len(error.value.problems) == 3


def test_a_system_can_be_pickled_while_its_program_runs(tmp_path):
    tank = ProcessSystem(write_program(tmp_path, TANK))
    with tank.open(0) as session:
        session.observe()
        copy = pickle.loads(pickle.dumps(tank))
        assert copy.inputs == tank.inputs and copy.conversation.child is None
    tank.close()


def test_restart_every(tmp_path):
    tank = ProcessSystem(write_program(tmp_path, TANK), restart_every=2)
    pids = []
    for _ in range(5):
        with tank.open(0) as session:
            session.observe()
            pids.append(tank.conversation.child.pid)
    tank.close()
    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]


def test_environment_and_folder(tmp_path):
    command = write_program(
        tmp_path,
        """
        import os
        from serve import serve
        word = os.environ["GREETING"] + os.path.basename(os.getcwd())
        serve(name=word, inputs={}, outputs={"y": None}, run=lambda times, inputs: {"y": times})
        """,
    )
    (tmp_path / "den").mkdir()
    assert ProcessSystem(command, environment={"GREETING": "hi "}, folder=tmp_path / "den").name == "hi den"


def test_a_secret_is_seen_by_the_program_and_nowhere_else(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("API_TOKEN", "s3cr3t-token")
    command = write_program(
        tmp_path,
        """
        import os, sys
        from serve import serve
        token = os.environ["API_TOKEN"]

        def run(times, inputs):
            os.write(2, b"connecting with s3cr3t")
            os.write(2, b"-token now\\n")
            if inputs["inflow"][0] == 2:
                raise ValueError(f"{token} was refused")
            if inputs["inflow"][0] == 3:
                os._exit(1)
            return {"y": [len(token)] * len(times)}

        serve(name="server", inputs={"inflow": None}, outputs={"y": None}, run=run)
        """,
    )
    system = ProcessSystem(command, secrets=["API_TOKEN"])
    said = []
    for deed in (1.0, 2.0, 3.0):
        try:
            with system.open(0) as session:
                assert session.execute(Stimulus(np.zeros(1), {"inflow": np.array([deed])})) == {"y": [12]}
        except SessionFailure as failure:
            said.append(str(failure))
    system.close()
    assert said[0] == "ValueError: *** was refused"
    assert said[1].endswith("its last output: connecting with *** now")
    log = capfd.readouterr().err
    assert "s3cr3t" not in log and log.count("connecting with *** now") == 3
    monkeypatch.delenv("API_TOKEN")
    with pytest.raises(UserError, match="'API_TOKEN', named as a secret, is not set"):
        _ = ProcessSystem(command, secrets=["API_TOKEN"]).inputs


def test_secrets_cut_in_two_are_found():
    redactor = Redactor(["abcdef", "abcd"])
    shown = b"".join(redactor.feed(piece) for piece in (b"x ab", b"cde", b"f y abcd", b" z ab"))
    assert shown + redactor.rest() == b"x *** y *** z ab"


def test_a_secret_that_is_too_short_is_refused(monkeypatch):
    monkeypatch.setenv("PIN", "123")
    with pytest.raises(UserError, match="the secret 'PIN' has fewer than 4 characters"):
        _ = ProcessSystem(["true"], secrets=["PIN"]).inputs


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{}", "speaks version None"),
        (b'{"bbfalsify": 1}', "'name' must be a text"),
        (b'{"bbfalsify": 1, "name": "x", "inputs": {"u": 3}, "outputs": ["y"]}', "'inputs' must map names to units"),
        (b'{"bbfalsify": 1, "name": "x", "alphabet": []}', "'alphabet' must be a list"),
        (b'{"bbfalsify": 1, "name": "x", "outputs": ["y"], "capabilities": {"fly": true}}', "'capabilities' may hold"),
        (b'{"bbfalsify": 1, "name": ""}', "'name'"),
    ],
)
def test_wrong_hellos(line, said):
    with pytest.raises(MalformedAnswer) as error:
        protocol.parse_hello(line)
    assert said in str(error.value)


def test_hellos():
    hello = protocol.parse_hello(b'{"bbfalsify": 1, "name": "x", "outputs": ["y"], "inputs": {"u": "m"}}')
    assert hello.runs and hello.outputs == (Port("y"),) and hello.inputs == (Port("u", "m"),)
    both = b'{"bbfalsify": 1, "name": "x", "outputs": ["y"], "capabilities": {"run": true, "stepwise": true}}'
    assert protocol.parse_hello(both).runs and protocol.parse_hello(both).capabilities.stepwise
    symbols = protocol.parse_hello(b'{"bbfalsify": 1, "name": "x", "alphabet": ["a"]}')
    assert symbols.alphabet == ("a",) and symbols.capabilities == Capabilities(stepwise=True)


def test_memory_and_folders_of_a_launch(tmp_path):
    launch, rest = launch_and_rest("x", {"folder": tmp_path / "gone", "restart_every": 2}, ProcessOptions)
    assert "no folder" in str(launch.problems()[0])
    assert rest == {"restart_every": 2}
    assert SimulationStatus.RAISED is SessionFailure.status
