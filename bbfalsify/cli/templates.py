"""The beginnings that `bbfalsify new` writes.  Each works as it is (an FMU must be put in); NAME is the name given."""

from __future__ import annotations

README = """# NAME

What the system is, where it comes from, how to install and start it.

| port | unit | meaning |
| --- | --- | --- |
| input … | | |
| output … | | |
"""

FUNCTION = '''"""NAME as a black box: one call runs it once, from reset to the end."""

from bbfalsify.systems import system


# Name every input and output, with its unit ("1" for a pure number; `bbfalsify list units` shows all).
@system(inputs={"u": "1"}, outputs={"y": "1"})
def NAME(stimulus):
    """Called in a worker process for each simulation; keep no state between calls."""
    y, outputs = 0.0, []
    times, u = stimulus.times, stimulus.inputs["u"]
    # u[i] holds from times[i] to times[i + 1]; the distances vary, because actions come at their exact times.
    for i in range(len(times)):
        outputs.append(y)
        duration = times[i + 1] - times[i] if i + 1 < len(times) else 0.0
        y += (u[i] - y) * min(1.0, duration)  # replace this by your simulator
    # Every declared output, one finite number per sample.
    return {"y": outputs}
'''

STEPWISE = '''"""NAME as a black box that advances step by step."""

from bbfalsify.systems import Capabilities, Port, StepwiseSession


class Session(StepwiseSession):
    """One use, from reset on."""

    def __init__(self):
        self.y = 0.0  # connect, load, reset: whatever brings the system into its initial state

    def observe(self):
        """The outputs now."""
        return {"y": self.y}

    def step(self, inputs, duration_s):
        """Hold the inputs for so many seconds."""
        self.y += (inputs["u"] - self.y) * min(1.0, duration_s)  # replace this by your system

    def __exit__(self, *exception):
        """Release the system, whatever happened."""


class Adapter:
    name = "NAME"
    inputs = (Port("u", "1"),)
    outputs = (Port("y", "1"),)
    capabilities = Capabilities(stepwise=True)  # declare only what is true; `bbfalsify doctor` looks

    def prepare(self):
        """Once per worker process: load libraries, start what is slow to start."""

    def open(self, seed):
        return Session()

    def close(self):
        """Once per worker process, at its end."""
'''

SYMBOLS = '''"""NAME as a black box that answers each input symbol with an output symbol."""

from bbfalsify.systems import Capabilities


class Session:
    """One use, from reset on."""

    def __init__(self):
        self.open = False  # bring the system into its initial state

    def step(self, symbol):
        """Give the symbol to the system; map what it answers to a short word, one of few."""
        passes, self.open = self.open and symbol == "push", symbol == "coin"  # replace this by your system
        return "go" if passes else "stop" if symbol == "push" else "click"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        """Release the system, whatever happened."""


class Adapter:
    name = "NAME"
    alphabet = ("coin", "push")
    capabilities = Capabilities(stepwise=True)

    def open(self, seed):
        return Session()
'''

SERVER = '''"""NAME as a black box: a server on a loopback port, started by this adapter, one per worker."""

import sys

from bbfalsify.systems import LineMapper, Server, SocketSystem

# Replace this by the command of your server; {port} and {folder} are filled in.
COMMAND = [sys.executable, "-c", """
import socketserver, sys

class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"220 ready\\\\r\\\\n")
        for line in self.rfile:
            self.wfile.write(b"221 bye\\\\r\\\\n" if line.startswith(b"QUIT") else b"250 ok\\\\r\\\\n")
            if line.startswith(b"QUIT"):
                return

socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[1])), Echo).serve_forever()
""", "{port}"]

# One symbol is one request and one reply; {id} is a name that no other session has.
REQUESTS = {"hello": "HELLO {id}", "noop": "NOOP", "quit": "QUIT"}

Adapter = SocketSystem(
    "NAME",
    # The output is the code of the reply; banner: the server speaks first; closing: it hangs up after these.
    LineMapper(REQUESTS, reply=r"(\\d{3})", banner=True, closing={"quit"}),
    server=Server(COMMAND),
    reset="reconnect",  # or "restart", or a function that resets
    silence_s=1.0,
)
'''

PROCESS = '''"""NAME as a black box: a program that stays alive and speaks the line protocol, one process per worker."""

import sys

from bbfalsify.systems import ProcessSystem

# Replace this by the command of your program; serve.py shows the other end of the line in Python.
COMMAND = [sys.executable, "-c", """
from bbfalsify.systems.programs.serve import serve

def run(times, inputs):
    level, levels = 0.0, []
    for now, later, inflow in zip(times, [*times[1:], times[-1]], inputs["inflow"]):
        levels.append(level)
        level += inflow * (later - now)
    return {"level": levels}

serve(name="NAME", inputs={"inflow": "m3/s"}, outputs={"level": "m3"}, run=run)
"""]

system = ProcessSystem(
    COMMAND,
    name="NAME",
    inputs={"inflow": "m3/s"},  # left out, they are asked from the program, which takes one more start
    outputs={"level": "m3"},
    start_limit_s=60,  # until it says hello
    time_limit_s=30,  # for one answer
)
'''

PROGRAM = '''"""NAME as a black box: a program that is started for each simulation, with files in and out."""

import sys

from bbfalsify.systems import ProgramSystem

# Replace this by the command of your program.  {input} is a file with the columns time and inflow, {output} the file
# to write, with a column for each output; without them standard input and standard output are used.
COMMAND = [sys.executable, "-c", """
import csv, sys

rows = list(csv.DictReader(open(sys.argv[1])))
level, last = 0.0, rows[0]
with open(sys.argv[2], "w") as file:
    print("time,level", file=file)
    for row in rows:
        level += float(last["inflow"]) * (float(row["time"]) - float(last["time"]))
        print(row["time"], level, sep=",", file=file)
        last = row
""", "{input}", "{output}"]

system = ProgramSystem(
    COMMAND,
    name="NAME",
    inputs={"inflow": "m3/s"},
    outputs={"level": "m3"},
    time_limit_s=30,  # for one run
)
'''

FMU = '''"""NAME as a black box: the FMU that lies beside this file.  Needs pip install 'bbfalsify[fmi]'."""

from pathlib import Path

from bbfalsify.systems import FmuSystem

# Copy your FMU here.  Inputs, outputs and units come from its description; say what you want otherwise:
Adapter = FmuSystem(
    Path(__file__).parent / "NAME.fmu",
    name="NAME",
    # inputs={"switch": "heat"},      # port: variable, or a list of names; inputs and tunable parameters
    # outputs=["T"],                  # any variables
    # start_values={"power": 80.0},   # set before every simulation
    # step=0.1,                       # only if it must run on a grid
)
'''

ADAPTERS = {
    "function": FUNCTION,
    "stepwise": STEPWISE,
    "process": PROCESS,
    "program": PROGRAM,
    "fmu": FMU,
    "symbols": SYMBOLS,
    "server": SERVER,
}
