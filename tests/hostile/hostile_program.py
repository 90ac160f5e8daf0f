"""A program that speaks the line protocol by hand, and misbehaves as its argument says.

    python hostile_program.py DEED

The input `bad` is 0 in a good simulation, whose output y is the input u; in a bad one it does the deed.  Deeds that are
named on_… happen at the start or at the close instead.  Nothing of bbfalsify is imported: this is a foreign program.
"""

import json
import os
import signal
import subprocess
import sys
import time

DEED = sys.argv[1]


def say(text, end="\n"):
    data = (text + end).encode()
    while data:
        data = data[os.write(1, data) :]


def hang():
    while True:
        time.sleep(60)


def sleeper(**options):
    """A child that holds all our pipes."""
    return subprocess.Popen(["sleep", "600"], **options)


def misbehave(number, good):
    """What is done instead of answering well; whatever is returned is answered."""
    answer = {"id": number, "outputs": {"y": good}}
    if DEED == "exits":
        os.write(2, b"license server not reachable\n")
        os._exit(3)
    if DEED == "aborts":
        os.abort()
    if DEED == "crashes":
        import ctypes

        ctypes.string_at(0)
    if DEED == "is_killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if DEED == "hangs":
        hang()
    if DEED == "hangs_and_ignores_sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        hang()
    if DEED == "says_half_and_hangs":
        say(json.dumps(answer)[:10], end="")
        hang()
    if DEED == "garbage":
        os.write(1, bytes(range(128, 256)) + b"\n")
    if DEED == "talks":
        say("T = 20.000")
    if DEED == "says_a_number":
        say("17")
    if DEED == "nests":
        say("[" * 100_000)
    if DEED == "endless_line":
        while True:
            say("x" * 65536, end="")
    if DEED == "a_million_lines":
        for _ in range(1000):
            say("step\n" * 999 + "step")
    if DEED == "answers_twice":
        say(json.dumps(answer) + "\n" + json.dumps(answer))
        return None
    if DEED == "closes_its_output":
        os.close(1)
        hang()
    if DEED == "leaves_a_child_and_exits":
        sleeper()
        os._exit(5)
    if DEED == "leaves_a_server_and_exits":
        sleeper(start_new_session=True)
        os._exit(5)
    if DEED == "leaves_children_and_hangs":
        sleeper(), sleeper(start_new_session=True)
        hang()
    if DEED == "eats_memory":
        hoard = []
        while True:
            hoard.append(bytearray(4 << 20))
            time.sleep(0.001)
    return {
        "wrong_number": {**answer, "id": number + 1},
        "no_number": {"outputs": {"y": good}},
        "text_as_number": {**answer, "id": str(number)},
        "reports": {"id": number, "error": "the pump is broken"},
        "gives_nan": {**answer, "outputs": {"y": [*good[:4], float("nan"), *good[5:]]}},
        "gives_null": {**answer, "outputs": {"y": [None, *good[1:]]}},
        "gives_infinity": {**answer, "outputs": {"y": [float("-inf"), *good[1:]]}},
        "gives_too_few": {**answer, "outputs": {"y": good[:-1]}},
        "gives_columns": {**answer, "outputs": {"y": [[v] for v in good]}},
        "gives_one_number": {**answer, "outputs": {"y": 3.0}},
        "gives_words": {**answer, "outputs": {"y": ["warm"] * len(good)}},
        "gives_no_outputs": {"id": number},
        "misspells": {**answer, "outputs": {"Y_": good}},
    }.get(DEED, answer)


def main():
    starts = 0
    if len(sys.argv) > 2:  # a file that counts the starts
        with open(sys.argv[2], "a+", encoding="ascii") as file:
            file.write("x")
            starts = file.tell()
    if DEED == "hangs_on_start" or (DEED == "hangs_on_second_start" and starts == 3):
        hang()
    if DEED == "exits_on_start":
        os.write(2, b"cannot open display\n")
        os._exit(9)
    if DEED == "starts_slowly":
        time.sleep(0.4)
    if DEED == "greets":
        say("Simulator 4.2 (c) 1999\n\nlicensed to nobody")
    if DEED == "floods_on_start":
        for _ in range(2000):
            say("loading ...")
    version = 2 if DEED == "speaks_another_version" else 1
    hello = {"bbfalsify": version, "name": "hostile", "inputs": {"bad": None, "u": None}, "outputs": {"y": None}}
    if DEED == "has_no_outputs":
        del hello["outputs"]
    if DEED == "changes_its_ports" and starts > 1:
        hello["outputs"] = {"z": None}
    say(json.dumps(hello))
    for line in sys.stdin:
        request = json.loads(line)
        if request["request"] == "close":
            if DEED == "hangs_on_close":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                hang()
            return
        good = request["inputs"]["u"]
        answer = {"id": request["id"], "outputs": {"y": good}}
        if request["inputs"]["bad"][0]:
            if DEED == "answers_in_two_pieces":
                text = json.dumps(answer)
                say(text[:20], end="")
                time.sleep(0.02)
                say(text[20:])
                continue
            if DEED == "floods_its_errors":
                for _ in range(200):
                    os.write(2, b"warning: matrix is singular\n" * 1000)
            if DEED == "leaves_children":
                sleeper(), sleeper(start_new_session=True)
            if DEED in ("hangs_on_second_start", "changes_its_ports"):
                os._exit(1)
            if DEED == "says_more_later":
                say(json.dumps(answer))
                time.sleep(0.05)
                say("by the way")
                continue
            answer = misbehave(request["id"], good)
        if answer is not None:
            say(json.dumps(answer))


if __name__ == "__main__":
    main()
