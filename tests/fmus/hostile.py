"""An FMU of FMI 2.0 that returns its input, unless `bad` is set: then it does in its fifth step what `deed` says."""

import ctypes
import math
import os
import signal
import subprocess
import time

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real
from pythonfmu.enums import Fmi2Status

remembered = [0]
hoard = []


class Hostile(Fmi2Slave):
    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.bad, self.u, self.y, self.deed, self.steps = 0.0, 0.0, 0.0, 0, 0
        for name in ("bad", "u"):
            self.register_variable(Real(name, causality=Fmi2Causality.input))
        self.register_variable(Integer("deed", causality=Fmi2Causality.parameter, variability=Fmi2Variability.tunable))
        self.register_variable(Real("y", causality=Fmi2Causality.output))

    def exit_initialization_mode(self):
        self.y = self.u
        if DEEDS[self.deed] == "hang_on_start" and self.bad:
            time.sleep(600)
        if DEEDS[self.deed] == "leak":
            self.y += remembered[0]

    def terminate(self):
        if DEEDS[self.deed] == "hang_on_close" and self.bad:
            time.sleep(600)

    def do_step(self, current_time, step_size):
        self.y, self.steps = self.u, self.steps + 1
        deed = DEEDS[self.deed]
        if not self.bad or self.steps != 5:
            return True
        if deed == "raise":
            raise ValueError("the pump is broken")
        if deed == "discard":
            self.log("no solution found", Fmi2Status.discard)
            return False
        if deed == "abort":
            os.abort()
        if deed == "segfault":
            ctypes.string_at(0)
        if deed == "hang":
            while True:
                time.sleep(0.01)
        if deed == "nan":
            self.y = math.nan
        if deed == "infinity":
            self.y = -math.inf
        if deed == "exit":
            os._exit(7)
        if deed == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if deed == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if deed == "stop_parent":
            os.kill(os.getppid(), signal.SIGSTOP)
        if deed == "stop_group":
            os.killpg(os.getpgid(os.getppid()), signal.SIGSTOP)
        if deed == "memory":
            hoard.append(bytearray(1 << 30))
        if deed == "children":
            for _ in range(3):
                subprocess.Popen(["sleep", "600"], start_new_session=True)
        if deed == "flood":
            for i in range(100_000):
                self.log(f"message {i} " + "x" * 100, Fmi2Status.warning)
        if deed == "leak":
            remembered[0] += 1
        return True


DEEDS = (
    "none", "raise", "discard", "abort", "segfault", "hang", "nan", "exit", "flood", "leak", "hang_on_start",
    "hang_on_close", "infinity", "kill", "memory", "children",
    "stop", "stop_parent", "stop_group",
)  # fmt: skip
