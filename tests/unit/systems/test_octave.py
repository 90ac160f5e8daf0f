"""Octave as a black box, with the real Octave (apt-get install octave); without it these tests fail and say so."""

import numpy as np

from bbfalsify.core.query import Query, WordQuery
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.running import Driver, WorkerPool
from bbfalsify.systems import Capabilities, Port, ProcessSymbolSystem, ProcessSystem, ProgramSystem
from bbfalsify.systems.programs.octave import FUNCTIONS, matlab_command, octave_command

STIMULUS = Stimulus(np.array([0.0, 0.5, 2.0]), {"u": np.array([1.0, 3.0, 0.0])}, ((0.5, "open"), (1.0, "shut")))

SIGNALS = """
description = struct('name', 'box', 'inputs', struct('u', 'm'), 'outputs', struct('y', '', 'z', 'm'));
description.capabilities.seedable = true;
function outputs = plant(times, inputs, request)
  outputs.y = cumsum(inputs.u) / 3;
  outputs.z = times + request.seed + 10 * numel(request.events.names);
  switch inputs.u(1)
    case 2
      shown = 'a forgotten semicolon'
    case 3
      error('the pump is broken: "%s"', 'E7');
    case 4
      outputs.y(2) = NaN;
    case 5
      outputs.y(2) = -Inf;
    case 6
      outputs.y = outputs.y(1:2);
    case 7
      outputs.y = outputs.y * 1i;
    case 8
      while true, end
    case 9
      exit(4);
  end
end
bbfalsify_serve(description, @plant);
"""


def serving(folder, text):
    (folder / "serving.m").write_text(text)
    return octave_command(folder / "serving.m")


def judge(trace):
    return (Judgement(Verdict.SATISFIED, 1.0),)


def test_whole_signals_and_all_that_can_happen_to_them(tmp_path):
    system = ProcessSystem(serving(tmp_path, SIGNALS), time_limit_s=2.0, folder=tmp_path)
    assert (system.inputs, system.outputs) == ((Port("u", "m"),), (Port("y"), Port("z", "m")))
    assert system.capabilities == Capabilities(seedable=True)
    queries = []
    for deed in range(1, 10):
        inputs = {"u": np.array([float(deed), 3.0, 0.0])}
        queries.append(Query(f"q{deed}", Stimulus(STIMULUS.times, inputs, STIMULUS.events), keep_trace=True))
    log = tmp_path / "log"
    with WorkerPool(system, judge, log=log) as pool:
        answers = list(pool.answers([*queries, queries[0]]))
    statuses = "ok ok raised malformed malformed malformed raised timed_out died ok"
    assert [a.status.value for a in answers] == statuses.split()
    assert answers[0].trace.signals["y"].tolist() == [1 / 3, 4 / 3, 4 / 3], "every digit survives the journey"
    seed = answers[0].trace.signals["z"][0] - 20
    assert seed == int(seed) > 2**32
    assert answers[2].message.startswith('the pump is broken: "E7" (plant:')
    assert "got nan at time 0.5" in answers[3].message and "got -inf at time 0.5" in answers[4].message
    assert "'y': expected 3 numbers (one per sample), got 2" in answers[5].message
    assert 'the output "y" is not made of real numbers' in answers[6].message
    assert "exit code 4" in answers[8].message
    assert "a forgotten semicolon" in log.read_text()
    assert not (tmp_path / "octave-workspace").exists(), "an Octave that is told to end leaves no dump"


def test_long_signals(tmp_path):
    """Longer than any buffer on the way."""
    system = ProcessSystem(serving(tmp_path, SIGNALS))
    values = np.random.default_rng(1).normal(size=30_000)
    with system.open(0) as session:
        answer = session.execute(Stimulus(np.arange(30_000.0), {"u": values}))
    system.close()
    assert np.allclose(answer["y"], np.cumsum(values) / 3, rtol=1e-12, atol=1e-12)


STEPS = """
description = struct('name', 'tank', 'inputs', struct('inflow', 'm3/s'), 'outputs', struct('level', 'm3'));
function [state, outputs] = start(seed)
  state = seed;
  outputs.level = state;
end
function [state, outputs] = advance(state, inputs, duration)
  state = state + inputs.inflow * duration;
  outputs.level = state;
end
bbfalsify_serve(description, struct('reset', @start, 'step', @advance));
"""


def test_step_by_step(tmp_path):
    system = ProcessSystem(serving(tmp_path, STEPS))
    assert system.capabilities == Capabilities(stepwise=True)
    with system.open(2) as session:
        answer = session.execute(Stimulus(STIMULUS.times, {"inflow": STIMULUS.inputs["u"]}))
    system.close()
    assert answer["level"].tolist() == [2.0, 2.5, 7.0]


SYMBOLS = """
description = struct('name', 'turnstile');
description.alphabet = {'coin', 'push'};
function state = start(seed)
  state = 'locked';
end
function [state, symbol] = advance(state, symbol)
  if strcmp(symbol, 'coin')
    state = 'open';
    symbol = 'click';
  else
    if strcmp(state, 'open'), symbol = 'go'; else, symbol = 'stop'; end
    state = 'locked';
  end
end
bbfalsify_serve(description, struct('reset', @start, 'step', @advance));
"""


def test_symbols(tmp_path):
    system = ProcessSymbolSystem(serving(tmp_path, SYMBOLS))
    assert system.alphabet == ("coin", "push")
    with Driver(system, None) as driver:
        answers = driver.ask([WordQuery("a", ("push", "coin", "push")), WordQuery("b", ("push",))])
    assert [a.symbols for a in answers] == [("stop", "click", "go"), ("stop",)]


def test_one_octave_per_simulation(tmp_path):
    (tmp_path / "double_it.m").write_text(
        "function double_it(source, target)\n"
        "  table = dlmread(source, ',', 1, 0);\n"
        "  file = fopen(target, 'w');\n"
        "  fprintf(file, 'time,y\\n');\n"
        "  fprintf(file, '%.17g,%.17g\\n', [table(:, 1), 2 * table(:, 2)]');\n"
        "  fclose(file);\n"
        "end\n"
    )
    command = ["octave-cli", "--quiet", "--norc", "--path", "{here}", "--eval", "double_it('{input}', '{output}')"]
    system = ProgramSystem(command, folder=tmp_path, inputs=["u"], outputs=["y"])
    with system.open(0) as session:
        assert list(session.execute(STIMULUS)["y"]) == [2.0, 6.0, 0.0]


def test_the_command_for_matlab(tmp_path):
    program, option, statement = matlab_command(tmp_path / "it's" / "serve_house.m")
    assert (program, option) == ("matlab", "-batch")
    assert statement == f"addpath('{FUNCTIONS}', '{tmp_path}/it''s'); serve_house"
