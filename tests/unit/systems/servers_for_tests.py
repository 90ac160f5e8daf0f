"""Small real servers on the loopback interface, one thread per connection, each with a vice of its own."""

import socket
import threading
import time
from contextlib import contextmanager


def polite(line, number):
    """Echoes lines."""
    stream = line.makefile("rwb")
    stream.write(b"200 hello\r\n")
    stream.flush()
    for request in stream:
        word = request.strip().decode()
        stream.write(b"221 bye\r\n" if word == "QUIT" else f"250 {word}\r\n".encode())
        stream.flush()
        if word == "QUIT":
            return


def in_pieces(line, number):
    """Answers in several writes, and with several lines."""
    line.sendall(b"200 hello\r\n")
    while line.recv(100):
        for piece in (b"250-fi", b"rst\r\n250", b" last\r", b"\n"):
            line.sendall(piece)
            time.sleep(0.002)


def silent(line, number):
    line.sendall(b"200 hello\r\n")
    while line.recv(100):
        pass


def mute(line, number):
    line.recv(1)


def hangs_up(line, number):
    line.sendall(b"200 hello\r\n")
    line.recv(100)


def garbage(line, number):
    line.sendall(b"200 hello\r\n")
    while line.recv(100):
        line.sendall(bytes(range(128, 256)).replace(b"\n", b"") + b"\r\n")


def floods(line, number):
    line.sendall(b"200 hello\r\n")
    line.recv(100)
    block = b"x" * 2**20
    for _ in range(64):
        line.sendall(block)


def binary(line, number):
    """Greets with two bytes; 1 is answered by its argument, twice; 5 by 6; 9 ends it; others are ignored."""
    line.sendall(b"\xfe\xff")
    stream = line.makefile("rb")
    while kind := stream.read(1):
        if kind == b"\x01":
            argument = stream.read(1)
            line.sendall(argument)
            line.sendall(argument)
        if kind == b"\x05":
            line.sendall(b"\x06")
        if kind == b"\x09":
            return


def drops_every_third(line, number):
    if number % 3 != 2:
        polite(line, number)


@contextmanager
def listening(behaviour):
    """The port of a server that treats each connection as `behaviour` does."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve():
            number = 0
            while True:
                try:
                    line, _ = door.accept()
                except OSError:
                    return
                threading.Thread(target=attend, args=(line, number), daemon=True).start()
                number += 1

        def attend(line, number):
            with line:
                try:
                    behaviour(line, number)
                except OSError:
                    pass

        threading.Thread(target=serve, daemon=True).start()
        yield door.getsockname()[1]
        door.shutdown(socket.SHUT_RDWR)
