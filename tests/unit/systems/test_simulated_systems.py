"""Models played as black boxes: the same semantics as everywhere, driven from outside."""

import numpy as np
import pytest

from bbfalsify import Options, Requirement, falsify, load_profile, parse_stl
from bbfalsify.core.errors import UserError
from bbfalsify.core.query import Query, WordQuery
from bbfalsify.core.trace import Stimulus, sample_times
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.modelling.profiles.black_box import read_black_box
from bbfalsify.records.documents import parse_yaml
from bbfalsify.running import Driver, Execution
from bbfalsify.systems import SymbolSystem, System, load_system
from bbfalsify.systems.simulated import model_system
from bbfalsify.testing import check_system

HEATER = """
format_version: 1
name: heater
declarations: |
  double heat = 0.0;
  clock T;
automata:
  Heater:
    initial: Running
    locations:
      Running: {rates: {T: "(100*heat - T)/10"}}
ports:
  inputs:
    heat: {unit: "1"}
  outputs:
    T: {unit: degC}
"""

# A lamp of random power that fails at a random moment, uniform in 10 time units, whatever is done to its dimmer.
LAMP = """
format_version: 1
name: lamp
declarations: |
  int[0, 5] dimmer = 5;
  double power;
automata:
  Lamp:
    declarations: clock x;
    initial: Factory
    locations:
      Factory: {committed: true}
      Works: {invariant: "x <= 10"}
      Broken:
    edges:
      - {from: Factory, to: Works, update: "power = random_uniform(40, 60)"}
      - {from: Works, to: Broken}
ports:
  inputs:
    dimmer:
    unused: {variable: idle}
  outputs:
    light: {value: "Lamp.Works ? power * dimmer : 0"}
    broken: {value: Lamp.Broken}
""".replace("double power;", "double power, idle;")

TURNSTILE = """
format_version: 1
name: turnstile
declarations: |
  broadcast chan coin, push, click, stop, go, tick;
automata:
  Turnstile:
    initial: locked
    locations:
      locked:
      opening: {committed: true}
      refusing: {committed: true}
      open:
      passing: {committed: true}
    edges:
      - {from: locked, to: opening, sync: "coin?"}
      - {from: opening, to: open, sync: "click!"}
      - {from: locked, to: refusing, sync: "push?"}
      - {from: refusing, to: locked, sync: "stop!"}
      - {from: open, to: passing, sync: "push?"}
      - {from: passing, to: locked, sync: "go!"}
ports:
  symbols: [coin, push]
"""

CLOCK = """
  Clock:
    declarations: clock t;
    initial: Runs
    locations:
      Runs: {invariant: "t <= 1"}
    edges:
      - {from: Runs, to: Runs, guard: "t >= 1", update: "t = 0", sync: "tick!"}
ports:
  symbols: [coin, push]
  step: 0.75
"""


def system_of(text):
    return model_system(read_black_box(parse_yaml(text)))


def stimulus(times, **inputs):
    return Stimulus(np.asarray(times, float), {n: np.asarray(v, float) for n, v in inputs.items()})


def test_the_heater_as_a_model_is_the_heater():
    """Against the closed form of the shipped adapter, with switches between the samples of the grid."""
    times = sample_times(20.0, 0.5, np.array([3.3, 7.71, 12.0]))
    heat = (np.searchsorted([3.3, 7.71, 12.0], times, side="right") % 2).astype(float)
    asked = stimulus(times, heat=heat)
    model, adapter = system_of(HEATER), load_system("adapters/heater")
    assert (model.inputs, model.outputs) == (adapter.inputs, adapter.outputs)
    with model.open(0) as mine, adapter.open(0) as its:
        assert mine.execute(asked)["T"] == pytest.approx(its.execute(asked)["T"], abs=1e-9)


def lamp_signals(seed, grid, changes=(2.5, 5.0)):
    times = np.union1d(grid, changes)
    asked = stimulus(times, dimmer=5 - np.searchsorted(changes, times, side="right"), unused=np.zeros(len(times)))
    with system_of(LAMP).open(seed) as session:
        return times, asked, session.execute(asked)


def test_how_densely_one_looks_changes_nothing():
    for seed in range(5):
        rough, _, few = lamp_signals(seed, np.arange(0, 12, 1.0))
        fine, _, many = lamp_signals(seed, np.arange(0, 12, 0.125))
        same = np.isin(fine, rough)
        for name in ("light", "broken"):
            assert few[name] == pytest.approx(many[name][same])


def test_step_by_step_is_the_same():
    times, asked, whole = lamp_signals(3, np.arange(0, 12, 0.5))
    with system_of(LAMP).open(3) as session:
        light = [session.observe()["light"]]
        for i, duration in enumerate(np.diff(times)):
            session.step({name: values[i] for name, values in asked.inputs.items()}, duration)
            light.append(session.observe()["light"])
    assert light == pytest.approx(whole["light"])
    assert len(set(np.round(light, 6))) >= 3, "dimmed twice, then broken"


def test_a_change_of_the_inputs_does_not_bend_the_law():
    """H0: the lamp breaks uniformly in [0, 10], also when everybody draws anew at 5.  400 lamps: those that break in
    [5, 7.5) are binomial(400, 1/4), within 100 ± 35 but for 1 in 15,000.  Drawing again with the old random number
    would leave none."""
    times = np.array([0.0, 5.0, 7.5, 10.0])
    system = system_of(LAMP)
    broken_between = 0
    for seed in range(400):
        with system.open(seed) as session:
            seen = session.execute(stimulus(times, dimmer=[5] * 4, unused=[0, 1, 1, 1]))["broken"]
        broken_between += int(seen[2] > seen[1])
        assert seen[3] == 1
    assert abs(broken_between - 100) <= 35


def test_symbols_are_answered_with_what_the_model_sends():
    system = system_of(TURNSTILE)
    assert isinstance(system, SymbolSystem) and not isinstance(system, System)
    with Driver(system, None, Execution(jobs=2)) as driver:
        words = [("coin", "push", "push"), ("push", "coin", "coin", "push"), ()]
        answers = driver.ask([WordQuery(f"w{i}", word) for i, word in enumerate(words)])
    assert [a.symbols for a in answers] == [("click", "go", "stop"), ("stop", "click", "-", "go"), ()]


def test_a_model_may_be_given_time_for_its_answer():
    with system_of(TURNSTILE.split("ports:")[0] + CLOCK).open(0) as session:
        answers = [session.step(symbol) for symbol in ("push", "coin", "push", "push")]
    assert answers == ["stop", "click+tick", "go+tick", "stop+tick"]


@pytest.mark.parametrize("text", [HEATER, LAMP, TURNSTILE], ids=["heater", "lamp", "turnstile"])
def test_the_doctor_finds_models_healthy(text, tmp_path):
    (tmp_path / "model.yaml").write_text(text)
    report = check_system(load_system("model.yaml", base=tmp_path))
    assert report.capabilities == dict.fromkeys(("seedable", "stepwise", "snapshot", "forkable"), True)


def test_a_session_continues_from_a_saved_moment_as_often_as_wanted():
    inputs = {"dimmer": 5.0, "unused": 0.0}
    with system_of(LAMP).open(11) as session:
        session.step(inputs, 1.0)
        saved, other = session.save(), session.fork()

        def broken_after(box):
            for moment in range(1, 100):
                box.step(inputs, 0.1)
                if box.observe()["broken"]:
                    return moment

        first = broken_after(session)
        session.restore(saved)
        assert broken_after(session) == broken_after(other) == first


STUCK = """
format_version: 1
name: stuck
declarations: |
  int[0, 3] go;
  clock t;
automata:
  Box:
    initial: Waits
    locations:
      Waits: {invariant: "t <= 5"}
      Spins: {urgent: true}
      Gone:
    edges:
      - {from: Waits, to: Gone, guard: "go == 1"}
      - {from: Waits, to: Spins, guard: "go == 2"}
      - {from: Spins, to: Spins}
ports:
  inputs: {go: }
  outputs: {t: }
"""


@pytest.mark.parametrize(
    ("go", "said"),
    [
        ([0, 0, 1, 1], ""),
        ([0, 0, 0, 0], "the model is stuck in Box.Waits: no time can pass after 5"),
        ([0, 2, 2, 2], "the model is zeno: 40000 transitions brought time only to"),
        ([0, 9, 9, 9], "input 'go' takes whole numbers from 0 to 3, got 9"),
        ([0, 0.5, 0, 0], "input 'go' takes whole numbers from 0 to 3, got 0.5"),
    ],
)
def test_models_that_cannot_go_on(go, said):
    """Waiting for the outside is no failure, as long as the invariant holds."""
    with Driver(system_of(STUCK), lambda trace: ()) as driver:
        [answer] = driver.ask([Query("q", stimulus([0, 2, 4, 8], go=go), keep_trace=True)])
    assert answer.status is (SimulationStatus.RAISED if said else SimulationStatus.OK)
    assert said in answer.message


def test_a_model_is_falsified_like_the_adapter(tmp_path):
    """The same findings as with the shipped heater: their signals agree to rounding."""
    (tmp_path / "heater.yaml").write_text(HEATER)
    profile = load_profile("profiles/heater_user.yaml")
    requirement = Requirement("R1", "never above 75 degrees", parse_stl("always[0:20](T <= 75)"))
    options = Options(simulations=120, passes=2, traces=20)
    model, adapter = (
        falsify(box, profile, [requirement], horizon=20, options=options, seed=1, out=None)
        for box in (load_system("heater.yaml", base=tmp_path), load_system("adapters/heater"))
    )
    assert [c.actions for c in model.counterexamples] == [c.actions for c in adapter.counterexamples] != []
    for mine, its in zip(model.counterexamples, adapter.counterexamples, strict=True):
        assert mine.probability.value == pytest.approx(its.probability.value)


def test_every_mistake_of_the_ports_is_told():
    ports = """
ports:
  inputs:
    heat: {unit: degX}
    T:
    het:
  outputs:
    heat:
    warm: {value: "T >"}
    cold: {value: T, unt: degC}
"""
    with pytest.raises(UserError) as error:
        read_black_box(parse_yaml(HEATER.split("ports:")[0] + ports))
    said = str(error.value)
    assert len(error.value.problems) == 5 and said.count("<text>:") == 5
    for part in (
        "'T' cannot be set from outside",
        "unknown variable 'het' in ports",
        "'heat' is both an input and an output",
        "value of output 'warm'",
        "unknown key 'unt'",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("ports", "said"),
    [
        ("", "the key 'ports' is missing"),
        ("ports: {}", "'ports' needs 'outputs', or 'symbols'"),
        ("ports: {outputs: {}}", "'outputs' is empty"),
        ("ports: {symbols: []}", "'symbols' is empty"),
        ("ports: {symbols: [coin, coin]}", "the symbol 'coin' is there twice"),
        ("ports: {symbols: [coyn]}", "unknown channel 'coyn' in ports"),
        ("ports: {symbols: [old]}", "channel 'old' is a handshake"),
        ("ports: {symbols: [coin], step: -1}", "'step' must not be negative"),
        ("ports: {symbols: [coin], outputs: {n: }}", "both 'symbols' and 'outputs'"),
        ("ports: {inputs: {n: , m: {variable: n}}, outputs: {t: }}", "the variable 'n' is set by two inputs"),
    ],
)
def test_wrong_ports(ports, said):
    text = (
        "format_version: 1\nname: m\ndeclarations: 'broadcast chan coin; chan old; int n; clock t;'\n"
        "automata: {A: {initial: S, locations: {S: }}}\n" + ports
    )
    with pytest.raises(UserError) as error:
        read_black_box(parse_yaml(text))
    assert said in str(error.value) and len(error.value.problems) == 1


def test_a_profile_is_no_black_box():
    with pytest.raises(UserError, match="heater_user.yaml:.*the key 'ports' is missing"):
        load_system("profiles/heater_user.yaml")
