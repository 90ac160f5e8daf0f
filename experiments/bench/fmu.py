"""What an FMU costs: a reset beside a new instance, and a step of ours beside a bare loop of FMPy in the same process.

    python experiments/bench/fmu.py [--steps 2000] [--repeat 7]

Two FMUs are built: one of Python code (pythonfmu) and, where there is a C compiler, one of C code, in which next to
nothing happens, so that everything measured is overhead.  Needs `pip install '.[test]'`.  Best of some repetitions.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from arguments import whole_numbers

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import FmuSystem

PYTHON_MODEL = """
import math
from pythonfmu import Fmi2Causality, Fmi2Slave, Real

class Heater(Fmi2Slave):
    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.heat, self.T = 0.0, 0.0
        self.register_variable(Real("heat", causality=Fmi2Causality.input))
        self.register_variable(Real("T", causality=Fmi2Causality.output))

    def do_step(self, current_time, step_size):
        target = 100.0 * self.heat
        self.T = target + (self.T - target) * math.exp(-step_size / 10.0)
        return True
"""
C_MODEL = """
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "fmi2Functions.h"
typedef struct { double heat, T; } Model;
#define IGNORE(name, ...) fmi2Status name(__VA_ARGS__) { return fmi2OK; }
typedef fmi2Component C; typedef const fmi2ValueReference *R; typedef size_t N;
const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
C fmi2Instantiate(fmi2String n, fmi2Type t, fmi2String g, fmi2String r, const fmi2CallbackFunctions *f, fmi2Boolean v,
                  fmi2Boolean l) { return calloc(1, sizeof(Model)); }
void fmi2FreeInstance(C c) { free(c); }
fmi2Status fmi2Reset(C c) { memset(c, 0, sizeof(Model)); return fmi2OK; }
fmi2Status fmi2GetReal(C c, R r, N n, fmi2Real *v) {
    for (N i = 0; i < n; i++) v[i] = r[i] ? ((Model *)c)->T : ((Model *)c)->heat;
    return fmi2OK; }
fmi2Status fmi2SetReal(C c, R r, N n, const fmi2Real *v) {
    for (N i = 0; i < n; i++) if (!r[i]) ((Model *)c)->heat = v[i];
    return fmi2OK; }
fmi2Status fmi2DoStep(C c, fmi2Real t, fmi2Real h, fmi2Boolean b) {
    Model *m = c; double target = 100 * m->heat;
    m->T = target + (m->T - target) * exp(-h / 10);
    return fmi2OK; }
IGNORE(fmi2SetDebugLogging, C c, fmi2Boolean l, N n, const fmi2String k[])
IGNORE(fmi2SetupExperiment, C c, fmi2Boolean d, fmi2Real t, fmi2Real s, fmi2Boolean e, fmi2Real f)
IGNORE(fmi2EnterInitializationMode, C c)
IGNORE(fmi2ExitInitializationMode, C c)
IGNORE(fmi2Terminate, C c)
IGNORE(fmi2GetInteger, C c, R r, N n, fmi2Integer v[])
IGNORE(fmi2GetBoolean, C c, R r, N n, fmi2Boolean v[])
IGNORE(fmi2GetString, C c, R r, N n, fmi2String v[])
IGNORE(fmi2SetInteger, C c, R r, N n, const fmi2Integer v[])
IGNORE(fmi2SetBoolean, C c, R r, N n, const fmi2Boolean v[])
IGNORE(fmi2SetString, C c, R r, N n, const fmi2String v[])
IGNORE(fmi2GetFMUstate, C c, fmi2FMUstate *s)
IGNORE(fmi2SetFMUstate, C c, fmi2FMUstate s)
IGNORE(fmi2FreeFMUstate, C c, fmi2FMUstate *s)
IGNORE(fmi2SerializedFMUstateSize, C c, fmi2FMUstate s, N *n)
IGNORE(fmi2SerializeFMUstate, C c, fmi2FMUstate s, fmi2Byte b[], N n)
IGNORE(fmi2DeSerializeFMUstate, C c, const fmi2Byte b[], N n, fmi2FMUstate *s)
IGNORE(fmi2GetDirectionalDerivative, C c, R u, N n, R k, N m, const fmi2Real d[], fmi2Real e[])
IGNORE(fmi2SetRealInputDerivatives, C c, R r, N n, const fmi2Integer o[], const fmi2Real v[])
IGNORE(fmi2GetRealOutputDerivatives, C c, R r, N n, const fmi2Integer o[], fmi2Real v[])
IGNORE(fmi2CancelStep, C c)
IGNORE(fmi2GetStatus, C c, const fmi2StatusKind k, fmi2Status *v)
IGNORE(fmi2GetRealStatus, C c, const fmi2StatusKind k, fmi2Real *v)
IGNORE(fmi2GetIntegerStatus, C c, const fmi2StatusKind k, fmi2Integer *v)
IGNORE(fmi2GetBooleanStatus, C c, const fmi2StatusKind k, fmi2Boolean *v)
IGNORE(fmi2GetStringStatus, C c, const fmi2StatusKind k, fmi2String *v)
"""
C_DESCRIPTION = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="2.0" modelName="Heater" guid="1">
  <CoSimulation modelIdentifier="Heater" canHandleVariableCommunicationStepSize="true"/>
  <ModelVariables>
    <ScalarVariable name="heat" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="T" valueReference="1" causality="output"><Real/></ScalarVariable>
  </ModelVariables>
</fmiModelDescription>
"""


def python_fmu(folder: Path) -> Path:
    (folder / "heater.py").write_text(PYTHON_MODEL)
    command = [sys.executable, "-m", "pythonfmu", "build", "-f", str(folder / "heater.py"), "-d", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "Heater.fmu"


def c_fmu(folder: Path) -> Path | None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    import fmpy

    headers = Path(fmpy.__file__).parent / "c-code"
    source, library, fmu = folder / "heater.c", folder / "Heater.so", folder / "CHeater.fmu"
    source.write_text(C_MODEL)
    command = [compiler, "-O2", "-shared", "-fPIC", f"-I{headers}", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    with zipfile.ZipFile(fmu, "w") as archive:
        archive.writestr("modelDescription.xml", C_DESCRIPTION)
        archive.write(library, "binaries/linux64/Heater.so")
    return fmu


def best(function: Callable[[], object], repeat: int, calls: int = 1) -> float:
    """The fastest of some repetitions, in seconds per call."""
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        for _ in range(calls):
            function()
        seconds.append((time.perf_counter() - started) / calls)
    return min(seconds)


def measure(title: str, fmu: Path, steps: int, repeat: int) -> None:
    system = FmuSystem(fmu)
    system.prepare()
    instances, start = system._instances, np.zeros(1)

    def new_instance() -> None:
        made = instances.new()
        made.begin(start)
        made.instance.terminate()
        made.instance.free()

    kept = instances.new()
    kept.begin(start)

    def reset() -> None:
        kept.instance.terminate()
        kept.instance.reset()
        kept.begin(start)

    new_s, reset_s = best(new_instance, repeat, 50), best(reset, repeat, 50)
    kept.instance.free()
    print(
        f"{title}: new instance {new_s * 1e6:.0f} us, reset {reset_s * 1e6:.0f} us: {new_s / reset_s:.1f} times cheaper"
    )

    times = np.linspace(0.0, 20.0, steps + 1)
    stimulus = Stimulus(times, {"heat": (np.arange(steps + 1) // 5 % 2).astype(float)})

    def ours() -> np.ndarray:
        with system.open(0) as session:
            return session.execute(stimulus)["T"]

    slave, variables = instances._library.fmpy, system.description.variables
    moments, heats = times.tolist(), stimulus.inputs["heat"].tolist()
    into, out = [variables["heat"].reference], [variables["T"].reference]

    def bare() -> list[float]:
        slave.instantiate()
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.setReal(into, [heats[0]])
        slave.exitInitializationMode()
        rows = slave.getReal(out)
        for i in range(steps):
            slave.setReal(into, [heats[i]])
            slave.doStep(moments[i], moments[i + 1] - moments[i])
            rows += slave.getReal(out)
        slave.terminate()
        slave.fmi2FreeInstance(slave.component)
        return rows

    assert np.array_equal(ours(), bare())
    for _ in range(8):  # past the first checks of the reset
        ours()
    our_s, bare_s = best(ours, repeat) / steps, best(bare, repeat) / steps
    print(
        f"{title}: one step {our_s * 1e6:.2f} us, in a bare FMPy loop {bare_s * 1e6:.2f} us: {our_s / bare_s:.2f} times"
    )
    system.close()


def main() -> None:
    arguments = whole_numbers(__doc__, steps=2000, repeat=7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure("FMU of Python code", python_fmu(folder), arguments.steps, arguments.repeat)
        fmu = c_fmu(folder)
        if fmu is None:
            print("FMU of C code: no C compiler here")
        else:
            measure("FMU of C code", fmu, arguments.steps, arguments.repeat)


if __name__ == "__main__":
    main()
