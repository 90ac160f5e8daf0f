"""A server that sends back words, and does at `bad` what its first argument says: hostile_server.py DEED PORT FOLDER"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

DEED, PORT, FOLDER = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
GREETING = b"200 hello\r\n"


def sleeper(**options):
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], **options)
    (FOLDER / "child").write_text(str(child.pid))


def misbehave(line):
    if DEED == "exits":
        os.write(2, b"error: no licence\n")
        os._exit(3)
    if DEED == "aborts":
        os.abort()
    if DEED == "crashes":
        ctypes.string_at(0)
    if DEED == "leaves_a_server_and_dies":
        sleeper(start_new_session=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if DEED == "hangs":
        time.sleep(600)
    if DEED == "half":
        line.sendall(b"250 ha")
        time.sleep(600)
    if DEED == "half_and_closes":
        line.sendall(b"250 ha")
        line.shutdown(socket.SHUT_RDWR)
    if DEED == "garbage":
        line.sendall(bytes(range(128, 256)) + b"\0\r\n")
    if DEED == "endless":
        with_no_end = b"x" * (1 << 20)
        while True:
            line.sendall(with_no_end)
    if DEED == "a_million_lines":
        line.sendall(b"250 step\r\n" * 1_000_000)
    if DEED == "floods_its_errors":
        for _ in range(50):
            os.write(2, b"nothing is well " * 65536)
        line.sendall(b"250 fine\r\n")
    if DEED == "eats_memory":
        hoard.append(bytearray(150 << 20))
        line.sendall(b"250 more\r\n")
    if DEED in HARMLESS:
        line.sendall(b"250 bad\r\n")


hoard = []
HARMLESS = ("none", "ignores_sigterm", "has_children", "starts_slowly")


def attend(line, number):
    if DEED == "drops_every_tenth" and number % 10 == 9:
        return
    line.sendall(GREETING)
    for request in line.makefile("rb"):
        word = request.strip()
        if word == b"bad":
            misbehave(line)
        else:
            line.sendall(b"250 %s\r\n" % word)
    if DEED == "finishes_slowly":  # it writes down what it has served after its client has gone
        busy = FOLDER / "mail" / "busy"
        busy.touch()
        time.sleep(0.05)
        busy.unlink()


def main():
    if DEED == "hangs_on_start":
        time.sleep(600)
    if DEED == "exits_on_start":
        sys.exit("no licence")
    if DEED == "starts_slowly":
        time.sleep(0.5)
    if DEED == "ignores_sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if DEED == "has_children":
        sleeper(start_new_session=True)
    with socket.create_server(("127.0.0.1", PORT), backlog=64) as door:
        number = 0
        while True:
            line, _ = door.accept()
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with line:
                try:
                    attend(line, number)
                except OSError:
                    pass
            number += 1


if __name__ == "__main__":
    main()
