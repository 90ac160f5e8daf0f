"""Readers of foreign files as functions of bytes, and seeds for each: shipped files, small texts, records of real runs.

A reader may return, or raise a message for the user (`ALLOWED`); every other exception is a bug.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bbfalsify.core.errors import SystemFailure, UserError
from bbfalsify.core.trace import Stimulus
from bbfalsify.systems.failures import SessionFailure

ROOT = Path(__file__).parents[2]
Target = Callable[[bytes, Path], object]
"""Read these bytes; the folder is empty but for what the target itself leaves there."""

PROFILE = """format_version: 1
name: u
automata:
  U:
    declarations: clock x; int n = 3; double d = 0.5; const int N = 2; int a[2] = {1, 2};
    initial: S
    locations: {S: {invariant: x <= 2}, T: {urgent: true}}
    edges:
      - {from: S, to: S, action: up, guard: "x >= 1 && n < 5", update: "x = 0, n++"}
      - {from: S, to: T, action: down, guard: x >= 1, update: x = 0, weight: 3}
      - {from: T, to: S, action: back}
inputs:
  u: {actions: {up: 1, down: 0}, initial: 0, unit: "1"}
outputs: {y: {unit: degC}}
"""
UPPAAL = """<?xml version="1.0" encoding="utf-8"?>
<nta>
  <declaration>clock x; int[0,9] n = 1; broadcast chan c; const int N = 3; int f(int a) { return a + 1; }</declaration>
  <template><name>P</name><parameter>const int id</parameter><declaration>clock y;</declaration>
    <location id="id0"><name>A</name><label kind="invariant">y &lt;= 3 &amp;&amp; x' == 1</label></location>
    <location id="id1"><name>B</name><committed/></location>
    <branchpoint id="id2"/>
    <init ref="id0"/>
    <transition><source ref="id0"/><target ref="id1"/><label kind="select">i : int[0,1]</label>
      <label kind="guard">y &gt;= 1 &amp;&amp; n &lt; N</label><label kind="synchronisation">c!</label>
      <label kind="assignment">y = 0, n = f(n)</label></transition>
    <transition><source ref="id1"/><target ref="id2"/></transition>
    <transition><source ref="id2"/><target ref="id0"/><label kind="probability">3</label></transition>
  </template>
  <system>P1 = P(1); system P1;</system>
  <queries><query><formula>E&lt;&gt; P1.B &amp;&amp; n == 2</formula></query></queries>
</nta>
"""
XTA = """clock x; int n := 0; chan c;
const int N = 3;
process P(int[0,3] id) {
  clock y;
  state A { y <= 3 }, B;
  commit B;
  init A;
  trans A -> B { select i : int[0,2]; guard y >= 1, n < N; sync c!; assign y := 0, n++; }, B -> A { };
}
process Q() { state A; init A; trans A -> A { sync c?; }; }
P1 := P(1);
system P1, Q;
"""
DOT = """digraph m {
__start0 [label="" shape="none"];
s0 [shape="circle" label="s0"];
s0 -> s1 [label="coin/ok"];
"s0" -> s0 [label="push / no"];
s1 -> s0 [label="push/click"];
s1 -> s1 [label="coin/back"];
__start0 -> s0;
}
"""
HOA = """HOA: v1
name: "G(a -> F b)"
States: 2
Start: 0
AP: 2 "in == coin" "out == click"
acc-name: Buchi
Acceptance: 1 Inf(0)
Alias: @a 0 & !1
--BODY--
State: 0 {0}
[!0 | 1] 0
[@a] 1
State: 1
[1] 0
[!1] 1
--END--
"""
MONITOR = """initial: a
states: {a: {"in == coin": b, "true": a}, b: {"out == ok": a}}
bad: [b]
"""
ACCEPTED = (
    "format_version: 1\naccepted:\n  - {requirement: R1, actions: [on, off], reason: known, expires: 2026-12-31}\n"
)
STL = (
    "always[0:20](T <= 75)",
    "G[0,2.5](x > 1.5e3 -> F[0:1 ms] abs(y[0] - 2) < 0.1)",
    "not (a > 0 until[1:inf] b < 2) and (rise(c > 0) or historically[0:3](d == 1)) <-> e != 2",
)
LTL = (
    "G(in == request -> F out == grant)",
    "!(out == a U in =~ 'x.*') && (X out != b || F G true) <-> in == \"c d\"",
    "response(in == a, out == b)",
    "no_overflow(in == push, in == pop, 3)",
    "F out == ready ends with in == quit",
)
QUERIES = (
    "E<> U.S && n == 2",
    "A[] not deadlock",
    "E<> exists (i : int[0,1]) a[i] == 2 and x <= 3.5",
    "A[] n < 5 imply d > 0",
)
DESCRIPTION = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="3.0" modelName="Box" instantiationToken="t">
  <CoSimulation modelIdentifier="Box" canHandleVariableCommunicationStepSize="true" fixedInternalStepSize="0.1"/>
  <TypeDefinitions><Float64Type name="Speed" unit="km/h" min="0"/><EnumerationType name="M"><Item name="a" value="1"/>
  </EnumerationType></TypeDefinitions><DefaultExperiment stepSize="0.1"/>
  <ModelVariables>
    <UInt64 name="n" valueReference="9" causality="structuralParameter" variability="fixed" start="2"/>
    <Float32 name="v" valueReference="1" causality="output" declaredType="Speed"/>
    <Enumeration name="e" valueReference="5" causality="input" declaredType="M" start="1"/>
    <Int8 name="m" valueReference="2" causality="parameter" start="1 2 3 4 5 6"><Dimension start="3"/>
      <Dimension valueReference="9"/></Int8>
    <String name="s" valueReference="3" causality="parameter"><Start value="x"/></String>
  </ModelVariables>
</fmiModelDescription>
"""
HELLO = (
    '{"bbfalsify": 1, "name": "h", "inputs": {"u": "1"}, "outputs": {"y": "degC"}, "capabilities": {"stepwise": true},'
    ' "parameters": {"m": {"default": 1.0, "unit": "kg", "low": 0}}}'
)
TRACE = "time,x,T,mode\n0,1,20.5,on\n0.5,1.25,21,off\n1,0,-3e2,on\n2.25,7,75.5,off\n"
WALKS = "walk,time,x,T\n1,0,1,20.5\n1,0.5,1.25,21\n2,0,0,-3e2\n2,2.25,7,75.5\n"
LOG = "session,time,action\nmonday,0,\nmonday,1.2,up\nmonday,2.9,down\ntuesday,0,\ntuesday,1,down\ntuesday,4,\n"
OBSERVATIONS = '[["coin", "push"], ["ok", "click"]]\n[["push"], ["no"]]\n'
REFERENCES = ("house.fmu?outputs=room.T,speed:der(x)&step=0.01&set.mass=3.5", "plant.py:cart?set.m=1", "cmd:./x 'a b'")
STIMULUS = Stimulus(np.array([0.0, 1.0, 2.0]), {"u": np.zeros(3)})


def _written(name: str, read: Callable[[Path], object]) -> Target:
    """A target that reads a file of this name."""

    def target(data: bytes, folder: Path) -> object:
        file = folder / name
        file.write_bytes(data)
        return read(file)

    return target


def _text(read: Callable[[str], object]) -> Target:
    """A target that reads a text; bytes that are none are not its business."""
    return lambda data, folder: read(data.decode("utf-8", "surrogateescape"))


def _campaign(data: bytes, folder: Path) -> object:
    """A campaign, with the shelves where shipped campaigns look for them."""
    for shelf in ("adapters", "profiles", "specs"):
        if not (folder / shelf).exists():
            (folder / shelf).symlink_to(ROOT / shelf)
    file = folder / "experiments" / "x" / "campaign.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return _validate(file)


def _validate(file: Path) -> object:
    from bbfalsify.cli.validate import check_file

    return check_file(file)


def _command(*arguments: str) -> None:
    """Run a whole command."""
    from bbfalsify.cli.main import main

    said, before = io.StringIO(), sys.argv
    sys.argv = ["bbfalsify", *arguments]
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main()
    except SystemExit as ended:
        assert ended.code in (0, 1), said.getvalue()
    finally:
        sys.argv = before


def _said(call: Callable[[], object]) -> object:
    """Call the function of a command; what it prints is encoded, as on a terminal."""
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(said):
        return call()


def _monitored(specification: str, file: Path) -> object:
    from bbfalsify.cli.monitor import monitor

    return _said(lambda: monitor(specification, file))


def _shown(file: Path) -> object:
    from bbfalsify.cli.show import show

    return _said(lambda: show(file))


def _reported(data: bytes, folder: Path) -> object:
    """As `report`, `compare` and `show -n` read the results of a run directory."""
    from bbfalsify.cli.compare import change_lines
    from bbfalsify.cli.show import show
    from bbfalsify.registry import ENGINES
    from bbfalsify.reporting.compare import compare_runs
    from bbfalsify.reporting.html.writing import report_html

    run = folder / "run"
    run.mkdir(exist_ok=True)
    (run / "manifest.json").write_text('{"format_version": 1, "seed": 1}', encoding="utf-8")
    (run / "results.json").write_bytes(data)
    for read in (
        lambda: _said(lambda: show(run, counterexample=1)),
        lambda: report_html(run, ENGINES),
        lambda: list(change_lines(compare_runs(run, run, ENGINES), everything=True)),
    ):
        with contextlib.suppress(ALLOWED):
            read()
    return None


def _followed(file: Path) -> object:
    """As `replay` reads the trace of a model, which it follows."""
    from bbfalsify.cli.replay import replay
    from bbfalsify.records.json_files import read_json
    from bbfalsify.running.reach.trace_files import is_trace_file

    return _said(lambda: replay(file)) if is_trace_file(read_json(file)) else None


def _dot(file: Path) -> object:
    from bbfalsify.automata.mealy import dot_text, parse_dot, read_dot

    machine = read_dot(file)
    written = dot_text(machine)
    assert dot_text(parse_dot(written, name=machine.name)) == written, "written and read again it is another machine"
    return machine


def _network(name: str) -> Target:
    from bbfalsify.modelling import load_network

    return _written(name, load_network)


def _profile(file: Path) -> object:
    from bbfalsify.modelling import check_profile, load_profile

    profile = load_profile(file)
    return check_profile(profile)


def _stl(text: str) -> object:
    from bbfalsify.logic import Requirement, parse_stl

    requirement = Requirement("R1", "", parse_stl(text))
    formula = requirement.formula
    parse_stl(str(formula))
    return requirement


def _ltl(text: str) -> object:
    from bbfalsify.logic.ltl.properties import ltl, ltlf

    return (ltlf if " ends with " in text else ltl)(text)


def _hoa(file: Path) -> object:
    from bbfalsify.logic.ltl.hoa import hoa

    return hoa(file)


def _monitor(file: Path) -> object:
    from bbfalsify.logic.ltl.monitors import monitor

    return monitor(file)


def _query(text: str) -> object:
    from bbfalsify.logic.reach_query import parse_query
    from bbfalsify.logic.uppaal_queries import read_query

    with contextlib.suppress(UserError):
        read_query(text)
    return parse_query(text, _small_network())


@cache
def _small_network() -> Any:
    import tempfile

    from bbfalsify.modelling import load_network

    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(PROFILE)
        file.flush()
        return load_network(file.name)


def _description(data: bytes, folder: Path) -> object:
    from bbfalsify.systems.fmu.description import read_description
    from bbfalsify.systems.fmu.fmu_settings import FmuSettings

    settings = FmuSettings(read_description(data, "box.fmu"), "box.fmu")
    inputs, outputs = settings.inputs(None), settings.outputs(None)
    settings.period(None)
    settings.finish(inputs, outputs)
    return settings.parameters(inputs.values())


def _hello(data: bytes, folder: Path) -> object:
    from bbfalsify.systems.programs.line_protocol import parse_hello

    return parse_hello(data)


def _outputs(form: str) -> Target:
    from bbfalsify.systems.interface import Port
    from bbfalsify.systems.output_checks import check_outputs
    from bbfalsify.systems.signal_files import read_outputs

    ports = (Port("y"),)
    return lambda data, folder: check_outputs(ports, STIMULUS.times, read_outputs(form, data, ports, STIMULUS, None))


def _reference(text: str) -> object:
    from bbfalsify.systems.references import resolve_reference

    return resolve_reference(text, Path("/nonexistent"))


def _log(file: Path) -> object:
    from bbfalsify.fitting import read_logs

    return read_logs([file])


def _observations(file: Path) -> object:
    from bbfalsify.records.observations import read_log

    return read_log(file)


def _counterexample(file: Path) -> object:
    """As `replay` reads it, up to the moment where it would run something."""
    from bbfalsify.records.counterexample import Counterexample
    from bbfalsify.records.json_files import read_json
    from bbfalsify.records.word_counterexample import KIND, WordCounterexample
    from bbfalsify.running.reach.trace_files import is_trace_file
    from bbfalsify.running.replay import is_foreign, recorded_place

    data = read_json(file)
    if is_trace_file(data):
        return None
    is_word = isinstance(data, dict) and data.get("kind") == KIND
    found: Any = (WordCounterexample if is_word else Counterexample).read(file)
    return is_foreign(found.system, recorded_place(found.system, file))


def _events(file: Path) -> object:
    from bbfalsify.records.event_log import read_events

    return list(read_events(file))


def targets() -> dict[str, Target]:
    return {
        "campaign": _campaign,
        "profile": _written("x.yaml", _profile),
        "specification": _written("x.yaml", _validate),
        "accepted": _written("x.yaml", _validate),
        "uppaal": _network("x.xml"),
        "xta": _network("x.xta"),
        "stl": _text(_stl),
        "ltl": _text(_ltl),
        "hoa": _written("x.hoa", _hoa),
        "monitor": _written("x.yaml", _monitor),
        "query": _text(_query),
        "dot": _written("x.dot", _dot),
        "description": _description,
        "hello": _hello,
        "output_csv": _outputs("csv"),
        "output_json": _outputs("json"),
        "reference": _text(_reference),
        "trace": _written("x.csv", lambda file: _monitored("always[0:1](T <= 75)", file)),
        "formula": _text(lambda text: _monitored(text, _trace_file())),
        "log": _written("x.csv", _log),
        "observations": _written("x.jsonl", _observations),
        "counterexample": _written("x.json", _counterexample),
        "trace_file": _written("x.json", _followed),
        "results": _written("results.json", _shown),
        "report": _reported,
        "events": _written("events.jsonl", _events),
    }


@cache
def _trace_file() -> Path:
    import tempfile

    file = Path(tempfile.gettempdir()) / f"bbfalsify-reader-trace-{os.getpid()}.csv"
    file.write_text(TRACE, encoding="utf-8")
    return file


def seeds(records: Path | None = None) -> dict[str, list[bytes]]:
    """Texts that each reader accepts; `records` holds files of real runs (see `make_records`)."""
    campaigns = [*ROOT.glob("experiments/*/*.yaml"), *ROOT.glob("bbfalsify/examples/*/campaign.yaml")]
    found: dict[str, list[Any]] = {
        "campaign": campaigns,
        "profile": [PROFILE, *ROOT.glob("profiles/*.yaml")],
        "specification": [*ROOT.glob("specs/*.yaml")],
        "accepted": [ACCEPTED],
        "uppaal": [UPPAAL, *ROOT.glob("profiles/*.xml")],
        "xta": [XTA],
        "stl": list(STL),
        "ltl": list(LTL),
        "hoa": [HOA],
        "monitor": [MONITOR],
        "query": list(QUERIES),
        "dot": [DOT],
        "description": [DESCRIPTION],
        "hello": [HELLO],
        "output_csv": ["time,y\n0,1.5\n1,2\n2,-3e1\n"],
        "output_json": ['{"times": [0, 1, 2], "outputs": {"y": [1.5, 2, -3e1]}}'],
        "reference": list(REFERENCES),
        "trace": [TRACE, WALKS],
        "formula": list(STL),
        "log": [LOG, ROOT / "profiles/heater_log.csv"],
        "observations": [OBSERVATIONS],
    }
    if records is not None:
        for kind in ("counterexample", "trace_file", "results", "events"):
            found[kind] = sorted((records / kind).glob("*"))
        found["report"] = found["results"]
    return {name: [_bytes(one) for one in many] for name, many in found.items()}


def _bytes(seed: str | Path) -> bytes:
    return seed.read_bytes() if isinstance(seed, Path) else seed.encode()


SYSTEM = """from bbfalsify.systems import system
@system(inputs=["u"], outputs=["y"])
def box(stimulus):
    return {"y": stimulus.inputs["u"]}
"""
_SMALL = "--horizon 3 --period 0.5 --simulations 20 --counterexamples 1 --passes 2 --traces 2".split()


def _unsealed(data: bytes) -> bytes:
    """Records without checksums, so that mutations reach what is behind them."""
    return re.sub(rb',\s*"(crc|checksum)": ?"[^"]*"', b"", data)


def make_records(folder: Path) -> None:
    """Run each engine once on something tiny, and sort the files that it writes by kind."""
    (folder / "box.py").write_text(SYSTEM, encoding="utf-8")
    (folder / "user.yaml").write_text(PROFILE, encoding="utf-8")
    (folder / "machine.dot").write_text(DOT, encoding="utf-8")
    out = ("--seed", "1", "--out", str(folder / "runs"), "-q")
    system, user, machine = (str(folder / name) for name in ("box.py", "user.yaml", "machine.dot"))
    for command in (
        ("falsify", "--system", system, "--profile", user, "--require", "always[0:3](y <= 0.5)", *_SMALL),
        ("check", "--system", machine, "--require", "G(in == coin -> X out == click)", "--max-states", "3"),
        ("reach", "--example", "fischer:2", "--query", "E<> P(1).cs"),
        ("verify", "--example", "fischer:2", "--query", "E<> P(2).cs"),
        ("estimate", "--example", "hubble", "--query", "P=? [ !sleep U[0,2.7] sleep ]", "--set", "nu=6"),
    ):
        _command(*command, *out)
    for number, run in enumerate(sorted((folder / "runs").iterdir())):
        kept = [("results", run / "results.json"), ("events", run / "events.jsonl")]
        for file in run.glob("counterexamples/*.json"):
            kept.append(("trace_file" if "fischer" in run.name else "counterexample", file))
        for kind, file in kept:
            (folder / kind).mkdir(exist_ok=True)
            (folder / kind / f"{number}-{file.name}").write_bytes(_unsealed(file.read_bytes()))


ALLOWED = (UserError, SystemFailure, SessionFailure)
"""Exceptions that are messages."""
