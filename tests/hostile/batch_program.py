"""A program that runs once: reads its input, writes its output, ends; or misbehaves as its first argument says.

python batch_program.py DEED INPUT OUTPUT        files, "-" for standard input and output; by its name CSV or JSON
"""

import json
import os
import signal
import subprocess
import sys
import time


def main(deed, source, target, form="csv"):
    text = sys.stdin.read() if source == "-" else open(source, encoding="utf-8").read()
    if form == "json":
        data = json.loads(text)
        times, inputs = data["times"], data["inputs"]
    else:
        header, *rows = [line.split(",") for line in text.splitlines()]
        columns = dict(zip(header, ([float(row[i]) for row in rows] for i in range(len(header))), strict=True))
        times, inputs = columns.pop("time"), columns
    y = inputs["u"]
    if inputs["bad"][0]:
        y = misbehave(deed, y)
    if y is None:
        return
    if deed == "own_times":
        times, y = [0.0, 0.55, 1.0], [y[0], y[0] + 11.0, y[0] + 20.0]
    if form == "json":
        text = json.dumps({"outputs": {"y": y, "more": "whatever"}, "times": times})
    else:
        text = "time,more,y\n" + "".join(f"{t:g},0,{v!r}\n" for t, v in zip(times, y, strict=False))
    if target == "-":
        sys.stdout.write(text)
    else:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        sys.stdout.write("simulation finished\n")


def misbehave(deed, y):
    if deed == "exits":
        os.write(2, b"license server not reachable\n")
        sys.exit(3)
    if deed == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    if deed == "hangs":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        while True:
            time.sleep(60)
    if deed == "leaves_children":
        subprocess.Popen(["sleep", "600"])
        subprocess.Popen(["sleep", "600"], start_new_session=True)
    if deed == "writes_nothing":
        return None
    if deed == "talks":
        sys.stdout.write("Simulator 4.2\n")
    if deed == "floods":
        while True:
            sys.stdout.write("x" * 65536)
    if deed == "short":
        return y[:-1]
    if deed == "nan":
        y[4] = float("nan")
    if deed == "garbage":
        sys.stdout.flush()
        os.write(1, bytes(range(128, 256)))
    if deed == "memory":
        hoard = []
        while True:
            hoard.append(bytearray(4 << 20))
            time.sleep(0.001)
    return y


if __name__ == "__main__":
    main(*sys.argv[1:])
