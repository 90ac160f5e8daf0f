"""Drawings of machines: labels can be read."""

import re

from bbfalsify.modelling.mealy import MealyMachine
from bbfalsify.reporting.graphs import LETTER, RADIUS, machine_svg

STATES, SYMBOLS = ("start", "greeted", "mail", "recipient", "content"), ("helo", "mail", "rcpt", "data", "quit")


def mail_server():
    """The shape that has most arrows going back past other states."""
    steps = {("greeted", "mail"): "mail", ("mail", "rcpt"): "recipient", ("recipient", "data"): "content"}
    table = {("closed", symbol): ("closed", "closed") for symbol in SYMBOLS}
    for state in STATES:
        for symbol in SYMBOLS:
            target = steps.get((state, symbol), state)
            target = "greeted" if symbol == "helo" or state == "content" else "closed" if symbol == "quit" else target
            table[state, symbol] = (target, "503" if target == state else "250")
    return MealyMachine.from_transitions(table, "start", name="mail")


def test_no_label_is_hidden_by_a_state():
    drawing = machine_svg(mail_server(), ("helo", "mail"))
    circles = [tuple(map(float, c)) for c in re.findall(r'<circle [^>]*cx="([-\d.]+)" cy="([-\d.]+)"', drawing)]
    labels = re.findall(r'<tspan x="([-\d.]+)" y="([-\d.]+)">([^<]*)</tspan>', drawing)
    assert len(circles) == 6 and len(labels) > 12
    for x, y, text in labels:
        half = LETTER * len(text) / 2
        for cx, cy in circles:
            sideways = max(abs(float(x) - cx) - half, 0.0)
            assert sideways**2 + (float(y) - 4 - cy) ** 2 > (RADIUS - 4) ** 2, (text, x, y, cx, cy)
