"""Drawings of machines: everything is there once, and nothing hides anything else."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import numpy as np
import pytest

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.reporting.drawing.graphs import LINE, automaton_svg, machine_svg, text_width

STATES, SYMBOLS = ("start", "greeted", "mail", "recipient", "content"), ("helo", "mail", "rcpt", "data", "quit")
NUMBER = r"(-?[\d.]+)"


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


def random_machine(states: int, seed: int):
    """As dense as machines of protocols are: about four other states follow each; some cannot be reached."""
    rng = np.random.default_rng(seed)
    inputs = tuple(f"SYMBOL_{i}" if i % 2 else f"a_symbol_{i}" for i in range(8))
    successor = rng.integers(0, states, (states, 8))
    successor[rng.random((states, 8)) < 0.5] = 0
    for s in range(1, states):
        successor[s - 1 - int(rng.integers(0, min(s, 3))), int(rng.integers(0, 8))] = s
    successor[np.arange(states), rng.integers(0, 8, states)] = np.arange(states)
    answer = rng.integers(0, 3, (states, 8))
    return MealyMachine(inputs, ("ok", "NOT CONNECTED", "an answer that is long"), successor, answer)


def boxes(drawing: str):
    """(left, top, right, bottom) of every state and of every arrow's label, by what it is."""
    root = ElementTree.fromstring(drawing)
    svg = "{http://www.w3.org/2000/svg}"
    found = {}
    for state in root.iter(f"{svg}g"):
        if "data-state" in state.attrib:
            x, y, w, h = (float(state.find(f"{svg}rect").get(k)) for k in ("x", "y", "width", "height"))
            found["state", state.get("data-state")] = (x, y, x + w, y + h)
        elif "data-from" in state.attrib:
            text = state.find(f"{svg}text")
            spans = text.findall(f"{svg}tspan")
            x, bottom = float(spans[0].get("x")), float(spans[-1].get("y"))
            wide = max(text_width(span.text) for span in spans)
            left = x if text.get("text-anchor") == "start" else x - wide / 2
            key = "label", state.get("data-from"), state.get("data-to")
            found[key] = (left, bottom - LINE * len(spans) + 3, left + wide, bottom + 2)
    return found


def apart(one, other) -> bool:
    """Up to what rounding does."""
    near = 0.2
    return (
        one[2] <= other[0] + near or other[2] <= one[0] + near or one[3] <= other[1] + near or other[3] <= one[1] + near
    )


MACHINES = [mail_server(), *(random_machine(states, seed) for seed, states in enumerate((15, 22, 30, 40)))]


@pytest.mark.parametrize("machine", MACHINES, ids=len)
def test_no_state_and_no_label_hides_another(machine):
    drawing = machine_svg(machine)
    places = boxes(drawing)
    for (key, one), (other_key, other) in combinations(places.items(), 2):
        assert apart(one, other), (key, other_key)
    width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', drawing).groups())
    for key, (left, top, right, bottom) in places.items():
        assert left >= 0 and top >= 0 and right <= width and bottom <= height, f"{key} sticks out"


@pytest.mark.parametrize("machine", MACHINES, ids=len)
def test_arrows_bend_only_where_nothing_stands(machine):
    drawing = machine_svg(machine)
    standing = boxes(drawing).values()
    ways = re.findall(r'class="edge" d="M([^"]*)"', drawing)[1:]  # without the one into the initial state
    bends = 0
    for way in ways:
        place = tuple(map(float, way.split("H")[0].split()))
        for command, text in re.findall(r"([HCa])([^HCa]*)", way):
            numbers = [float(n) for n in re.findall(NUMBER, text)]
            after = {"H": lambda n, p: (n[0], p[1]), "C": lambda n, p: (n[4], n[5])}
            after["a"] = lambda n, p: (p[0] + n[5], p[1] + n[6])
            end = after[command](numbers, place)
            if command == "C":
                bends += 1
                area = (min(place[0], end[0]), min(place[1], end[1]), max(place[0], end[0]), max(place[1], end[1]))
                for other in standing:
                    assert apart(area, other), (way, other)
            place = end
    assert bends >= 2 * len(ways)


@pytest.mark.parametrize("machine", MACHINES, ids=len)
def test_states_that_follow_each_other_have_one_arrow_that_says_everything(machine):
    drawing = machine_svg(machine)
    pairs = {(s, int(t)) for s in range(len(machine)) for t in machine.successor[s]}
    arrows = re.findall(r'data-from="(\d+)" data-to="(\d+)"', drawing)
    assert sorted((int(s), int(t)) for s, t in arrows) == sorted((s, t) for s, t in pairs if s != t)
    for s, t in arrows:
        tip = re.search(rf'data-from="{s}" data-to="{t}"><title>([^<]*)</title>', drawing).group(1)
        symbols = [i for i, target in enumerate(machine.successor[int(s)]) if target == int(t)]
        for i in symbols:
            assert f"{machine.inputs[i]}/{machine.outputs[machine.answer[int(s), i]]}" in tip.splitlines()


def test_a_path_is_numbered_and_stands_out():
    drawing = machine_svg(mail_server(), ("helo", "mail", "helo", "mail", "rcpt", "rcpt"))
    taken = re.findall(r'<tspan class="taken"[^>]*>([^<]*)</tspan>', drawing)
    assert sorted(taken) == ["1: helo/250", "2, 4: mail/250", "3: helo/250", "5: rcpt/250", "6: rcpt/503"]
    assert drawing.count('class="arrow on"') == 4 and len(re.findall(r'class="state[^"]* on"', drawing)) == 4


def test_symbols_that_are_answered_alike_share_a_line_and_what_has_no_room_is_counted():
    table = {("s", f"symbol{i}"): ("s", f"answer{i // 4}") for i in range(24)}
    drawing = machine_svg(MealyMachine.from_transitions(table, "s"))
    lines = re.findall(r"<tspan[^>]*>([^<]*)</tspan>", drawing)
    assert lines == [*(f"symbol{4 * k} +3/answer{k}" for k in range(3)), "+12 more"]


def test_an_automaton_shows_how_often_each_action_follows_and_numbers_a_way():
    steps = [("S", "S", ("on", "70 %")), ("S", "T", ("off", "30 %")), ("T", "S", ("on", "100 %"))]
    drawing = automaton_svg("User", ("S", "T"), "S", steps, (0, 1, -1, 2, 0))
    taken = re.findall(r'<tspan class="taken"[^>]*>([^<]*)</tspan>', drawing)
    assert sorted(taken) == ["1, 5: on/70 %", "2: off/30 %", "4: on/100 %"]
    assert drawing.count('class="arrow on"') == 2 and len(re.findall(r'class="state[^"]* on"', drawing)) == 2
    plain = automaton_svg("User", ("S", "T"), "S", steps, ())
    assert "taken" not in re.sub("<style>.*</style>", "", plain, flags=re.S) and "on/70 %" in plain
