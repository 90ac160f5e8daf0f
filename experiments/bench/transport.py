"""What it costs to talk to a black box in another process, beside the barest talk with the same program.

    python experiments/bench/transport.py [--steps 500] [--rounds 60] [--samples 1001]

bare     write the bytes of the request, read a line: no numbers are written or read, nothing is checked, no limits
echo     a program that sends back each line it reads
step     a program that answers each step with next to no work of its own: what our end costs
helper   the same with bbfalsify.systems.programs.serve as the program, which reads and writes JSON in Python
samples  whole signals, one message each, with the helper as the program
socket   a symbol to a server that sends back each line, through SocketSystem and its LineMapper; bare: send and receive
         over the same kind of connection to the same kind of server

Microseconds of CPU time of both processes together per round trip, the best of many short rounds taken in turn (ours,
bare, ours, …), so that both meet the same machine; beside it the wall time, which on a busy machine says little.
The target is 1.5 times the bare talk per step.  Symbols over sockets are below it (1.2 to 1.5 in CPU time), whole
signals far below it, per sample; single steps over pipes are not (1.6): what remains above it is one `poll`, without
which there would be no limits, and Python reading a number as JSON and checking it.  Another transport is one more row
in `main`.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import time
from typing import Protocol

import numpy as np

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import LineMapper, ProcessSystem, Server, SocketSystem
from bbfalsify.systems.programs import line_protocol as protocol

TARGET = 1.5
STEP = protocol.encode(1000, "step", {"inputs": {"u": 0.1234567890123}, "duration": 0.1})
ECHO = """
import os, sys
for line in iter(sys.stdin.buffer.readline, b""):
    os.write(1, line)
"""
QUICK = """
import os, sys
os.write(1, b'{"bbfalsify":1,"name":"box","inputs":{"u":"1"},"outputs":{"y":"1"},"capabilities":{"stepwise":true}}\\n')
for line in iter(sys.stdin.buffer.readline, b""):
    number = line[6 : line.index(b",")]
    os.write(1, b'{"id":%s,"outputs":{"y":0.1234567890123}}\\n' % number)
"""
TCP_ECHO = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as door:
    while True:
        line, _ = door.accept()
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with line:
            while data := line.recv(65536):
                line.sendall(data)
"""
BOX = """
from bbfalsify.systems.programs.serve import serve
if {stepwise}:
    serve(name="box", inputs={{"u": "1"}}, outputs={{"y": "1"}}, reset=lambda: {{"y": 0.0}},
          step=lambda inputs, duration: {{"y": inputs["u"]}})
else:
    serve(name="box", inputs={{"u": "1"}}, outputs={{"y": "1"}}, run=lambda times, inputs: {{"y": inputs["u"]}})
"""


class Partner(Protocol):
    """Somebody to go round trips with."""

    pid: int

    def __call__(self, count: int) -> None: ...

    def close(self) -> None: ...


class Bare:
    """The least that can be done to use a program that answers lines with lines."""

    def __init__(self, code: str, line: bytes) -> None:
        command = [sys.executable, "-c", code]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self._process.pid
        self._line = line
        if code != ECHO:
            self._process.stdout.readline()  # its hello

    def __call__(self, count: int) -> None:
        line, write, flush = self._line, self._process.stdin.write, self._process.stdin.flush
        read = self._process.stdout.readline
        for _ in range(count):
            write(line)
            flush()
            read()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Steps:
    """Our own stepping of a program that stays alive."""

    def __init__(self, code: str) -> None:
        self._system = ProcessSystem([sys.executable, "-c", code])
        self._session = self._system.open(0).__enter__()
        self._session.observe()
        self.pid = self._system.conversation.child.pid

    def __call__(self, count: int) -> None:
        step, inputs = self._session.step, {"u": 0.1234567890123}
        for _ in range(count):
            step(inputs, 0.1)

    def close(self) -> None:
        self._session.__exit__(None, None, None)
        self._system.close()


class Signals:
    """Whole signals in one message."""

    def __init__(self, stimulus: Stimulus) -> None:
        self._system = ProcessSystem([sys.executable, "-c", BOX.format(stepwise=False)])
        self._session = self._system.open(0).__enter__()
        self._stimulus = stimulus
        self.pid = self._system.conversation.child.pid

    def __call__(self, count: int) -> None:
        for _ in range(count):
            self._session.execute(self._stimulus)

    def close(self) -> None:
        self._session.__exit__(None, None, None)
        self._system.close()


class Symbols:
    """Our own use of a server behind a socket."""

    def __init__(self, server: Server) -> None:
        mapper = LineMapper({"noop": "250 NOOP 0.1234567890123"})
        self._system = SocketSystem("echo", mapper, server=server, silence_s=5.0)
        self._system.prepare()
        self._session = self._system.open(0).__enter__()
        self.pid = server._process.pid

    def __call__(self, count: int) -> None:
        step = self._session.step
        for _ in range(count):
            step("noop")

    def close(self) -> None:
        self._session.__exit__(None, None, None)
        self._system.close()


class BareSocket:
    """The least that can be done to use such a server."""

    def __init__(self, server: Server) -> None:
        server.start()
        self._server, self.pid = server, server._process.pid
        self._line = socket.create_connection(("127.0.0.1", server.port))
        self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __call__(self, count: int) -> None:
        send, receive, line = self._line.sendall, self._line.recv, b"250 NOOP 0.1234567890123\r\n"
        for _ in range(count):
            send(line)
            receive(65536)

    def close(self) -> None:
        self._line.close()
        self._server.stop()


def socket_step() -> tuple[Partner, Partner]:
    command = [sys.executable, "-c", TCP_ECHO, "{port}"]
    return Symbols(Server(command)), BareSocket(Server(command))


def echo() -> tuple[Partner]:
    return (Bare(ECHO, STEP),)


def pipe_step(code: str) -> tuple[Partner, Partner]:
    return Steps(code), Bare(code, STEP)


def pipe_signal(samples: int) -> tuple[Partner, Partner]:
    rng = np.random.default_rng(1)
    stimulus = Stimulus(np.linspace(0.0, 20.0, samples), {"u": rng.normal(size=samples)})
    request = protocol.encode(1000, "run", protocol.whole_signal(stimulus, 0))
    return Signals(stimulus), Bare(BOX.format(stepwise=False), request)


def measure(partner: Partner, count: int) -> tuple[float, float]:
    """Microseconds per round trip: CPU time of both processes, wall time."""
    theirs = (~partner.pid << 3) | 2  # on Linux the CPU clock of another process
    started = time.process_time() + time.clock_gettime(theirs), time.perf_counter()
    partner(count)
    ended = time.process_time() + time.clock_gettime(theirs), time.perf_counter()
    cpu, wall = (1e6 * (after - before) / count for before, after in zip(started, ended, strict=True))
    return cpu, wall


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=500, help="round trips per round")
    options.add_argument("--rounds", type=int, default=60)
    options.add_argument("--samples", type=int, default=1001)
    chosen = options.parse_args()
    few = max(1, chosen.steps // 100)
    rows = {
        "pipe, echo": (echo, chosen.steps),
        "pipe, step": (lambda: pipe_step(QUICK), chosen.steps),
        "socket, symbol": (socket_step, chosen.steps),
        "pipe, helper": (lambda: pipe_step(BOX.format(stepwise=True)), chosen.steps),
        f"pipe, {chosen.samples} samples": (lambda: pipe_signal(chosen.samples), few),
    }
    print(f"{'microseconds':<20}{'CPU':>9}{'bare':>9}{'ratio':>7}   {'wall':>9}{'bare':>9}{'ratio':>7}")
    for name, (make, count) in rows.items():
        partners = make()
        try:
            rounds = [[measure(partner, count) for partner in partners] for _ in range(chosen.rounds)]
        finally:
            for partner in partners:
                partner.close()
        best = [[min(values) for values in zip(*column, strict=True)] for column in zip(*rounds, strict=True)]
        bare_cpu, bare_wall = best[-1]
        if len(best) == 1:
            echo_cpu = bare_cpu
            print(f"{name:<20}{'':>9}{bare_cpu:>9.1f}{'':>19}{bare_wall:>9.1f}")
            continue
        cpu, wall = best[0]
        shown = f"{cpu:>9.1f}{bare_cpu:>9.1f}{cpu / bare_cpu:>7.2f}   "
        print(f"{name:<20}{shown}{wall:>9.1f}{bare_wall:>9.1f}{wall / bare_wall:>7.2f}")
    print(f"target of the ratio per step: {TARGET}")
    print(f"a sample of a whole signal costs {cpu / chosen.samples / echo_cpu:.2f} times an echo")


if __name__ == "__main__":
    main()
