"""Profiles with known numbers and logs drawn from them in a few lines, for tests of fitting."""

import numpy as np

from tests import heater

INPUTS = "inputs:\n  u: {actions: {%s}, initial: 0}\n"

HEATER = heater.PROFILE.partition("inputs:")[0] + INPUTS % "on: 1, off: 0"

PHONE = (
    """
format_version: 1
name: phone
automata:
  User:
    declarations: "clock x;"
    initial: Idle
    locations:
      Idle:
      Busy: {invariant: "x <= 3"}
    edges:
      - {from: Idle, to: Busy, action: call, update: "x = 0"}
      - {from: Idle, to: Idle, action: look, update: "x = 0"}
      - {from: Busy, to: Idle, action: hang_up, guard: "x >= 1", update: "x = 0"}
      - {from: Busy, to: Busy, action: redial, guard: "x >= 1", update: "x = 0"}
"""
    + INPUTS % "call: 1, look: 0, hang_up: 2, redial: 3"
)
"""Idle: exponential, call with share p; Busy: uniform on [1, 3], hang_up with share q."""


def heater_sessions(rng, sessions, steps, weight_on=1.0):
    """The weight of off is 1."""
    for _ in range(sessions):
        delays = rng.uniform(3, 5, size=steps)
        on = (delays >= 4) & (rng.random(steps) < weight_on / (1 + weight_on))
        yield list(zip(np.cumsum(delays).tolist(), np.where(on, "on", "off").tolist(), strict=True))


def phone_sessions(rng, sessions, steps, rate=0.5, p=0.7, q=0.9):
    for _ in range(sessions):
        time, busy, events = 0.0, False, []
        for _ in range(steps):
            time += rng.uniform(1, 3) if busy else rng.exponential(1 / rate)
            first = rng.random() < (q if busy else p)
            events.append((time, ("hang_up" if first else "redial") if busy else ("call" if first else "look")))
            busy = first != busy  # the first of the two always changes the place
        yield events


def write_log(path, sessions, start=0.0):
    lines = ["session,time,action"]
    for number, events in enumerate(sessions):
        lines.append(f"{number},{start},")
        lines += [f"{number},{start + time!r},{action}" for time, action in events]
    path.write_text("\n".join(lines) + "\n")
    return path
