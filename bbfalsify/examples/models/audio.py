"""Two protocols of audio components that papers on timed automata use as benchmarks, at any number of senders.

They follow the descriptions of the protocols, but are models of our own: numbers of states are not those of papers.
"""

from __future__ import annotations

from bbfalsify.modelling import Network, NetworkBuilder


def philips_audio(senders: int, *, tolerance: int = 5) -> Network:
    """Philips' audio control protocol: bits as times between rising edges (Manchester encoding), clocks that differ.

    A bit takes four quarters; a 1 rises in its middle, a 0 at its beginning if the wire is low then.  So after a 1 the
    next edge comes after 4 quarters (1), 6 (00) or 8 (01), after a 0 after 4 (0) or 6 (1); silence for 9 ends a
    message, whose length is odd or which ends with 00.  Both clocks are wrong by up to `tolerance` per cent: the
    receiver understands everything up to 1/17, hence with 5 and not with 6.  Senders take turns; nobody begins in a
    message.
    """
    b = NetworkBuilder("philips_audio")
    b.declare(f"const int N = {senders}; typedef int[0,N-1] id_t; const int T = {tolerance};")
    b.declare("broadcast chan up; int[0,3] waiting; bool first, second, third, odd; bool sending, listening, wrong;")
    b.declare(
        """
        void put(bool b) {
            if (waiting == 0) first = b; else if (waiting == 1) second = b; else third = b;
            waiting = waiting < 3 ? waiting + 1 : 3;
        }
        void get(bool b) {
            if (waiting == 0 || first != b) wrong = true;
            if (waiting > 0) { first = second; second = third; third = false; waiting = waiting - 1; }
        }
        """
    )
    sender = b.automaton("S", parameters="const id_t id", declarations="clock x; bool even;")
    sender.location("Idle")
    sender.location("One", invariant="x <= 8 * (100 + T)")
    sender.location("Zero", invariant="x <= 6 * (100 + T)")
    sender.location("Silent", invariant="x <= 2000")
    sender.edge("Idle", "One", guard="!sending && !listening", sync="up!",
                update="x = 0, sending = true, even = false, put(true)")  # fmt: skip
    for here, quarters, bits, there in (
        ("One", 4, (1,), "One"), ("One", 6, (0, 0), "Zero"), ("One", 8, (0, 1), "One"), ("Zero", 4, (0,), "Zero"),
        ("Zero", 6, (1,), "One"),
    ):  # fmt: skip
        bounds = f"x >= {quarters} * (100 - T) && x <= {quarters} * (100 + T)"
        sent = ", ".join(f"put({str(bool(bit)).lower()})" for bit in bits)
        update = f"x = 0, {sent}" + (", even = !even" if len(bits) == 1 else "")
        sender.edge(here, there, guard=bounds, sync="up!", update=update)
    sender.edge("One", "Silent", action="end", guard="!even && x <= 0")
    sender.edge("One", "Silent", action="end_with_0", guard="even && x <= 0", update="put(false)")
    sender.edge("Zero", "Silent", action="end", guard="x <= 0")
    sender.edge(
        "Silent", "Idle", action="free", guard="x >= 2000 && !listening", update="sending = false, even = false"
    )
    receiver = b.automaton("R", declarations="clock r;")
    receiver.location("Idle")
    receiver.location("One", invariant="r <= 9 * (100 + T)")
    receiver.location("Zero", invariant="r <= 9 * (100 + T)")
    receiver.location("End", committed=True)
    receiver.edge("Idle", "One", sync="up?", update="r = 0, listening = true, odd = true, get(true)")
    for here, low, high, bits, there in (
        ("One", 3, 5, (1,), "One"), ("One", 5, 7, (0, 0), "Zero"), ("One", 7, 9, (0, 1), "One"),
        ("Zero", 3, 5, (0,), "Zero"), ("Zero", 5, 7, (1,), "One"),
    ):  # fmt: skip
        got = ", ".join(f"get({str(bool(bit)).lower()})" for bit in bits)
        update = f"r = 0, {got}" + (", odd = !odd" if len(bits) == 1 else "")
        receiver.edge(here, there, guard=f"r > {low} * (100 - T) && r < {high} * (100 + T)", sync="up?", update=update)
    silence = "r >= 9 * (100 - T)"
    receiver.edge("One", "End", action="silence", guard=f"{silence} && odd")
    receiver.edge("One", "End", action="silence_0", guard=f"{silence} && !odd", update="get(false)")
    receiver.edge("Zero", "End", action="silence", guard=silence)
    receiver.edge("End", "Idle", action="message", update="wrong = wrong || waiting > 0, waiting = 0, first = false, "
                  "second = false, third = false, odd = false, listening = false, r = 0")  # fmt: skip
    b.instance("S").instance("R")
    return b.build()


def audio_video(senders: int, *, bits: int = 4, faulty: bool = False) -> Network:
    """Bang & Olufsen's bus for audio and video components: frames of `bits` bits, and detection of collisions.

    A sender may begin on a silent bus, and for 3 time units after another one has begun, as it does not hear it yet.  A
    bit takes 10; a 0 pulls the bus low, whoever else sends.  A sender of a 1 listens in the middle of the bit (if
    faulty at 2): if the bus is low, it gives up.  Receivers look at the bus between 4 and 6.  No frame may be spoilt
    for them without its sender knowing.
    """
    b = NetworkBuilder("audio_video")
    b.declare(f"const int N = {senders}; const int K = {bits}; const int LISTEN = {2 if faulty else 5};")
    b.declare("typedef int[0,N-1] id_t; int[0,N] low, active; clock since;")
    s = b.automaton("S", parameters="const id_t id", declarations="clock x; int[0,K] sent; bool one, spoilt;")
    s.location("Idle")
    s.location("Begin", committed=True)
    s.location("Listen", invariant="x <= LISTEN")
    s.location("Seen", invariant="x <= 6")
    s.location("Rest", invariant="x <= 10")
    s.location("Lost", invariant="x <= 40")
    s.location("Error")
    s.edge("Idle", "Begin", action="begin", guard="active == 0", update="x = 0, since = 0, active = active + 1")
    s.edge("Idle", "Begin", action="begin_late", guard="active > 0 && since < 3", update="x = 0, active = active + 1")
    s.edge("Begin", "Listen", action="one", update="one = true")
    s.edge("Begin", "Listen", action="zero", update="one = false, low = low + 1")
    s.edge("Listen", "Seen", action="listen", guard="x == LISTEN && (!one || low == 0)")
    s.edge("Listen", "Lost", action="collision", guard="x == LISTEN && one && low > 0",
           update="x = 0, active = active - 1, sent = 0, one = false, spoilt = false")  # fmt: skip
    s.edge("Seen", "Rest", action="receive", guard="x >= 4", update="spoilt = spoilt || (one && low > 0)")
    s.edge("Rest", "Begin", action="next", guard="x == 10 && sent < K - 1",
           update="x = 0, sent = sent + 1, low = one ? low : low - 1, one = false")  # fmt: skip
    ended = "x = 0, sent = 0, low = one ? low : low - 1, one = false, spoilt = false, active = active - 1"
    s.edge("Rest", "Lost", action="frame", guard="x == 10 && sent == K - 1 && !spoilt", update=ended)
    s.edge("Rest", "Error", action="spoilt_frame", guard="x == 10 && sent == K - 1 && spoilt")
    s.edge("Lost", "Idle", action="wait", guard="x >= 20", update="x = 0")
    b.instance("S")
    return b.build()
