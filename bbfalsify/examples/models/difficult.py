"""Small models that are difficult for one heuristic or for all, after figures of papers."""

from __future__ import annotations

from bbfalsify.modelling import Network, NetworkBuilder


def a7(*, resets: bool = True) -> Network:
    """Figure A.7: eight times one of two edges `a`, never `u`, then `f`.

    An attempt succeeds with (2/3)^8 / 4 under RET and with (1/2)^8 / 3 under RCF.  With `resets` false, `u` ends the
    walk instead of starting another attempt.
    """
    b = NetworkBuilder("a7")
    p = b.automaton("P", declarations="clock x, y;")
    p.location("Init", invariant="x <= 1")
    p.location("Rest", invariant="x <= 1")
    p.location("Error")
    p.location("Lost")
    p.edge("Init", "Rest", action="a", guard="x < 1")
    p.edge("Rest", "Init", action="back", guard="x >= 1", update="x = 0")
    p.edge("Init", "Init", action="a", guard="x == 1", update="x = 0")
    p.edge("Init", "Init" if resets else "Lost", action="u", update="x = 0, y = 0")
    p.edge("Init", "Error", action="f", guard="x == 0 && y == 8")
    return b.build()


def b2() -> Network:
    """Figure B.2: Goal in one step has probability 1/100 under SEM and 1/2 under RET."""
    b = NetworkBuilder("b2")
    p = b.automaton("P", declarations="clock x;")
    p.location("Init", invariant="x <= 1000")
    p.location("Goal")
    p.edge("Init", "Goal", guard="x <= 1")
    p.edge("Init", "Init", action="loop", guard="x >= 901", update="x = 0")
    return b.build()


def b3() -> Network:
    """Figure B.3: the left edge must be taken at once, seven times.  RLC always does; RET with probability 2^-7."""
    b = NetworkBuilder("b3")
    b.declare("int[0,1000000] i, j;")
    p = b.automaton("P")
    p.location("Init")
    p.location("Goal")
    p.edge("Init", "Init", action="count", update="i = i + 1")
    p.edge("Init", "Init", action="left", guard="i == 2", update="i = 0, j = j + 1")
    p.edge("Init", "Goal", guard="j >= 7")
    return b.build()


def b8() -> Network:
    """Figure B.8: only a delay between 2 and 4 leads on, and both bounds of the window are 0 and 10.

    With the eleventh delay distribution a walk finds Goal with probability 0.2 · 2/10 = 0.04, with the others never.
    """
    b = NetworkBuilder("b8")
    p = b.automaton("P", declarations="clock x, y;")
    p.location("Init", invariant="x <= 10")
    p.location("Mid", invariant="y <= 1")
    p.location("Goal")
    p.edge("Init", "Mid", update="y = 0")
    p.edge("Mid", "Goal", guard="x >= 3 && x <= 4")
    return b.build()


def combination_lock(digits: int) -> Network:
    """A lock with four digits per position; a wrong one starts anew: 4^digits tries."""
    b = NetworkBuilder("lock")
    b.declare(f"const int N = {digits}; int[0,N] right;")
    p = b.automaton("Lock")
    p.location("Closed")
    p.location("Open")
    for digit in range(4):
        p.edge("Closed", "Closed", action=f"d{digit}", guard=f"right < N && (3 * right + 1) % 4 == {digit}",
               update="right = right + 1")  # fmt: skip
        p.edge("Closed", "Closed", action=f"d{digit}", guard=f"right < N && (3 * right + 1) % 4 != {digit}",
               update="right = 0")  # fmt: skip
    p.edge("Closed", "Open", action="open", guard="right == N")
    return b.build()
