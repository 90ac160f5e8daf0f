"""Servers behind sockets: mappers, resets, and servers that misbehave; every server here is real."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.query import WordQuery
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.running import Driver, Execution
from bbfalsify.systems.servers import BytesMapper, LineMapper, SocketSystem
from bbfalsify.systems.servers.connections import Closed, Connection, Silence, Tls
from bbfalsify.systems.servers.server import Server, ServerFailed, free_port
from tests.unit.systems import servers_for_tests as servers

WORDS = {"hello": "HELLO", "name": "I am {id}", "quit": "QUIT"}

ECHO_SERVER = """
import socket, sys
from pathlib import Path
folder, port = Path(sys.argv[1]), int(sys.argv[2])
count = 0
with socket.create_server(("127.0.0.1", port)) as door:
    while True:
        line, _ = door.accept()
        with line, line.makefile("rwb") as stream:
            for request in stream:
                word = request.strip().decode()
                if word == "die":
                    sys.exit(1)
                if word == "count":
                    count += 1
                    word = str(count)
                stream.write(f"{word}\\r\\n".encode())
                stream.flush()
"""


def mapper(**more):
    return LineMapper(WORDS, **{"banner": True, "reply": r"(\d+ ?\w*)", "closing": {"quit"}} | more)


def box(port, *, silence_s=10.0, **more):
    return SocketSystem("box", mapper(**more), port=port, silence_s=silence_s)


def play(system, *word):
    with system.open(0) as session:
        return tuple(session.step(symbol) for symbol in word)


def echo_system(tmp_path, **more):
    file = tmp_path / "server.py"
    file.write_text(ECHO_SERVER)
    server = Server([sys.executable, str(file), "{folder}", "{port}"])
    requests = LineMapper({"count": "count", "die": "die", "hello": "hello"}, reply=r"\w+")
    return SocketSystem("echo", requests, server=server, silence_s=10.0, **more)


def test_a_conversation_and_its_end():
    with servers.listening(servers.polite) as port:
        assert play(box(port), "hello", "quit", "hello") == ("250 HELLO", "221 bye", "closed")


def test_every_session_has_a_name_of_its_own():
    with servers.listening(servers.polite) as port:
        system = box(port, reply=r"am (\w+)")
        names = {play(system, "name") for _ in range(5)}
    assert len(names) == 5


def test_a_reply_in_pieces_and_of_several_lines():
    with servers.listening(servers.in_pieces) as port:
        assert play(box(port), "hello", "hello") == ("250 last", "250 last")


@pytest.mark.parametrize(
    ("behaviour", "outputs"),
    [
        (servers.silent, ("silence", "silence")),
        (servers.hangs_up, ("closed", "closed")),
        (servers.floods, ("flood", "flood")),
    ],
)
def test_silence_hanging_up_and_floods_are_outputs(behaviour, outputs):
    with servers.listening(behaviour) as port:
        seen = play(box(port, silence_s=0.3 if behaviour is servers.silent else 10.0), "hello", "hello")
    assert seen[0] == outputs[0]
    assert behaviour is servers.floods or seen == outputs


def test_garbage_is_an_output_and_nothing_breaks():
    with servers.listening(servers.garbage) as port:
        first, second = play(box(port), "hello", "hello")
    assert first == second and len(first) <= 80


def test_a_server_that_does_not_greet_fails_the_word_not_the_run():
    with servers.listening(servers.mute) as port, Driver(box(port, silence_s=0.1), None) as driver:
        [answer] = driver.ask([WordQuery("w", ("hello",))])
    assert answer.status is SimulationStatus.RAISED
    assert "the server says nothing before the first symbol" in answer.message


def test_a_server_that_drops_connections_is_seen_doing_so():
    with servers.listening(servers.drops_every_third) as port, Driver(box(port), None) as driver:
        answers = driver.ask([WordQuery(f"w{i}", ("hello",)) for i in range(6)])
    assert [a.ok for a in answers] == [True, True, False] * 2
    assert "closed the connection" in answers[2].message


def test_nobody_listens():
    system = SocketSystem("box", mapper(), port=free_port(), connect_s=0.05)
    with pytest.raises(ConnectionRefusedError):
        play(system, "hello")


def test_descriptors_stay_flat():
    with servers.listening(servers.polite) as port:
        system = box(port)
        play(system, "hello")
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(100):
            play(system, "hello", "quit")
            play(system, "hello")
        # The server's own ends of the last connections may still be closing.
        deadline = time.monotonic() + 5.0
        while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(os.listdir("/proc/self/fd")) <= before


def test_reconnecting_keeps_what_the_server_remembers_and_restarting_does_not(tmp_path):
    for reset, counts in (("reconnect", ["1", "2", "3"]), ("restart", ["1", "1", "1"])):
        with Driver(echo_system(tmp_path, reset=reset), None) as driver:
            answers = driver.ask([WordQuery(f"w{i}", ("count",)) for i in range(3)])
        assert [a.symbols for a in answers] == [(c,) for c in counts]


def test_a_function_resets(tmp_path):
    calls = []
    system = echo_system(tmp_path, reset=lambda: calls.append(1))
    try:
        assert play(system, "hello") == play(system, "hello") == ("hello",)
    finally:
        system.close()
    assert len(calls) == 2


def test_a_server_that_died_is_started_again(tmp_path):
    with Driver(echo_system(tmp_path), None) as driver:
        words = [("count", "die", "count"), ("count",), ("die",), ("count",)]
        answers = driver.ask([WordQuery(f"w{i}", word) for i, word in enumerate(words)])
    assert [a.status.value for a in answers] == ["died", "ok", "died", "ok"]
    assert [a.symbols for a in answers] == [("1",), ("1",), (), ("1",)]
    assert answers[2].message == "answer 1: the server is gone: the process ended itself with exit code 1"


def test_each_worker_has_its_own_server(tmp_path):
    with Driver(echo_system(tmp_path), None, Execution(jobs=2)) as driver:
        answers = driver.ask([WordQuery(f"w{i}", ("count",) * 20) for i in range(8)])
    last = sorted(int(a.symbols[-1]) for a in answers)
    assert sum(n == 20 for n in last) == 2, "two servers, each starts counting at one"


def test_nothing_is_left_of_a_server(tmp_path):
    system = echo_system(tmp_path)
    system.prepare()
    process, folder = system.server._process, system.server.folder
    assert folder.is_dir() and system.server.running
    system.close()
    assert process.poll() is not None and not folder.exists()


def test_what_a_server_has_started_goes_with_it(tmp_path):
    """A child in a session of its own, which killing the server's group does not reach."""
    note = tmp_path / "child"
    file = tmp_path / "server.py"
    file.write_text(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n" + ECHO_SERVER
    )
    server = Server([sys.executable, str(file), "{folder}", "{port}"])
    server.start()
    child = Path(f"/proc/{note.read_text()}/stat")
    assert child.exists()
    server.stop()
    deadline = time.monotonic() + 5.0
    while child.exists() and child.read_text().split()[2] != "Z" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not child.exists() or child.read_text().split()[2] == "Z"


def test_a_server_that_cannot_start_says_why(tmp_path):
    with pytest.raises(ServerFailed, match="there is no program 'no-such-server'"):
        Server(["no-such-server"]).start()
    with pytest.raises(ServerFailed, match="ended at once; it said: no licence"):
        Server([sys.executable, "-c", "import sys; sys.exit('no licence')"]).start()
    with pytest.raises(ServerFailed, match="did not listen on port"):
        Server([sys.executable, "-c", "import time; time.sleep(60)"], start_s=0.2).start()


def test_a_port_taken_by_somebody_else_is_not_ours(tmp_path, monkeypatch):
    """The first port offered is in use: the server ends at once, and the second try gets another one."""
    with servers.listening(servers.polite) as taken:
        offers = iter([taken, free_port()])
        monkeypatch.setattr("bbfalsify.systems.servers.server.free_port", lambda: next(offers))
        system = echo_system(tmp_path)
        try:
            assert play(system, "hello") == ("hello",)
        finally:
            system.close()


def test_wrong_settings():
    with pytest.raises(UserError, match="either the server to start or the port"):
        SocketSystem("box", mapper())
    with pytest.raises(UserError, match="only a server that is started here"):
        SocketSystem("box", mapper(), port=1, reset="restart")
    with pytest.raises(UserError, match="reset must be reconnect, restart, a command .* or a function, found 'reboot'"):
        SocketSystem("box", mapper(), port=1, reset="reboot")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder


def test_tls(certificate):
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")

    def secretive(line, number):
        with context.wrap_socket(line, server_side=True) as safe:
            servers.polite(safe, number)

    with servers.listening(secretive) as port:
        trusting = Tls(authority=str(certificate / "cert.pem"), server_name="localhost")
        system = SocketSystem("box", mapper(), port=port, tls=trusting, silence_s=10.0)
        assert play(system, "hello", "quit") == ("250 HELLO", "221 bye")
        with pytest.raises(ssl.SSLCertVerificationError):
            play(SocketSystem("box", mapper(), port=port, tls=Tls(server_name="localhost")), "hello")


BYTES = {"twice": b"\x01\x2a", "nothing": b"\x02", "leave": b"\x09"}


@pytest.mark.parametrize(("fence", "silence_s"), [((b"\x05", b"\x06"), 10.0), (None, 0.5)])
def test_bytes_end_with_a_fence_or_with_silence(fence, silence_s):
    with servers.listening(servers.binary) as port:
        mapper = BytesMapper(BYTES, fence=fence, greeting=2)
        system = SocketSystem("binary", mapper, port=port, silence_s=silence_s)
        assert play(system, "twice", "nothing", "twice", "leave", "twice") == ("2a2a", "-", "2a2a", "closed", "closed")


def test_bytes_get_names():
    with servers.listening(servers.binary) as port:
        mapper = BytesMapper(BYTES, fence=(b"\x05", b"\x06"), greeting=2, name=lambda answer: f"{len(answer)} bytes")
        assert play(SocketSystem("binary", mapper, port=port), "twice", "nothing") == ("2 bytes", "0 bytes")


def test_bytes_and_lines_of_a_connection():
    with servers.listening(servers.polite) as port, Connection("127.0.0.1", port, silence_s=10.0) as line:
        assert line.receive_exactly(3) == b"200"
        assert line.receive_line() == b" hello"
        with pytest.raises(Silence):
            line.receive_line(silence_s=0.02)
        line.send(b"one\r\ntwo\r\n")
        assert line.receive_line() == b"250 one"
        assert line.drain(silence_s=1.0) == b"250 two\r\n"
        line.send(b"QUIT\r\n")
        assert line.receive_line() == b"221 bye"
        with pytest.raises(Closed):
            line.receive_line()
        with pytest.raises(Closed):
            line.send(b"more")
