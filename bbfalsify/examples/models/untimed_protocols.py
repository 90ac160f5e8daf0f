"""Protocols without time, at any size, after Table 1 of the study of highway search (Engels et al., 2009).

They have the faults and the difficulties described there, but are models of our own.
"""

from __future__ import annotations

from bbfalsify.modelling import Network, NetworkBuilder

CHUNKS = 3
DELAYS = (8, 11, 14)


def bounded_retransmission(retries: int) -> Network:
    """A file in three chunks over channels that lose; a chunk is sent again at most `retries` times.

    The sender gives up only after that many losses in a row: an attempt fails with probability 3/4 in a random walk.
    """
    b = NetworkBuilder("bounded_retransmission")
    b.declare(f"const int MAX = {retries}; const int N = {CHUNKS}; bool sent, expected;")
    b.declare("chan data, deliver, put_ack, ack, lost;")
    s = b.automaton("S", declarations="int[0,N-1] chunk; int[0,MAX] retry;")
    for name in ("Idle", "Ready", "Wait", "Acked", "Late", "GaveUp"):
        s.location(name)
    s.edge("Idle", "Ready", action="file")
    s.edge("Ready", "Wait", sync="data!")
    s.edge("Wait", "Acked", sync="ack?", update="retry = 0, sent = !sent")
    s.edge("Wait", "Late", sync="lost?")
    s.edge("Acked", "Ready", action="next", guard="chunk < N - 1", update="chunk = chunk + 1")
    s.edge("Acked", "Idle", action="done", guard="chunk == N - 1", update="chunk = 0")
    s.edge("Late", "Ready", action="again", guard="retry < MAX", update="retry = retry + 1")
    s.edge("Late", "GaveUp", action="give_up", guard="retry == MAX")
    r = b.automaton("R")
    for name in ("Listens", "Has", "Acks"):
        r.location(name)
    r.edge("Listens", "Has", sync="deliver?")
    r.edge("Has", "Acks", action="take", guard="sent == expected", update="expected = !expected")
    r.edge("Has", "Acks", action="old", guard="sent != expected")
    r.edge("Acks", "Listens", sync="put_ack!")
    for name, into, out in (("K", "data", "deliver"), ("L", "put_ack", "ack")):
        channel = b.automaton(name).location("Empty").location("Full")
        channel.edge("Empty", "Full", sync=f"{into}?")
        channel.edge("Full", "Empty", sync=f"{out}!")
        channel.edge("Full", "Empty", sync="lost!")
    return b.build()


def sliding_window(window: int, *, faulty: bool = True) -> Network:
    """A window of frames over channels that lose; the receiver takes a frame if its number is the one it waits for.

    Numbers are those of the frames modulo `window` + 1, or if faulty modulo `window`: then a repeated frame is taken
    for a new one after a whole window was received and no acknowledgement was.
    """
    b = NetworkBuilder("sliding_window")
    numbers = window if faulty else window + 1
    b.declare(f"const int W = {window}; const int M = {numbers}; const int G = {4 * numbers};")
    b.declare("typedef int[0,G-1] frame_t; typedef int[0,W-1] place_t;")
    b.declare("frame_t base, expected, passing, acked; int[0,W] out; bool full, answered, wrong;")
    s = b.automaton("S").location("Here")
    send = "passing = (base + {}) % G, full = true"
    s.edge("Here", "Here", action="send", guard="out < W && !full", update=send.format("out") + ", out = out + 1")
    s.edge("Here", "Here", action="resend", select="k : place_t", guard="k < out && !full", update=send.format("k"))
    s.edge("Here", "Here", action="hear_ack", guard="answered",
           update="out = out - (acked - base + G) % G, base = acked, acked = 0, answered = false")  # fmt: skip
    c = b.automaton("Channel").location("Here")
    c.edge("Here", "Here", action="lose", guard="full", update="full = false, passing = 0")
    c.edge("Here", "Here", action="lose_ack", guard="answered", update="answered = false, acked = 0")
    r = b.automaton("R").location("Here")
    received = "full = false, passing = 0"
    fits = "(passing - expected + G) % G % M == 0"
    r.edge("Here", "Here", action="take", guard=f"full && {fits}",
           update=f"wrong = wrong || passing != expected, expected = (expected + 1) % G, {received}")  # fmt: skip
    r.edge("Here", "Here", action="ignore", guard=f"full && !({fits})", update=received)
    r.edge("Here", "Here", action="ack", guard="!answered && !wrong", update="acked = expected, answered = true")
    return b.build()


def lifts(count: int) -> Network:
    """Lifts for one truck number themselves round a ring; pressing two buttons at once is not foreseen.

    The lift whose button is pressed sends 1; each other takes the number it gets, and passes it on plus one; so the
    first learns how many there are, and tells all.  If two are first, each counts the lifts behind the other, and one
    of them hears of another total than its own, or a lift of one below its number.
    """
    b = NetworkBuilder("lifts")
    b.declare(f"const int N = {count}; typedef int[0,N-1] id_t; int[0,2*N] slot[N];")
    lift = b.automaton("Lift", parameters="const id_t id", declarations="int[0,N] number, total; bool button;")
    for name in ("Standby", "First", "Counted", "Numbered", "Ready", "Error"):
        lift.location(name)
    free = "slot[(id + 1) % N] == 0"
    numbering, total = "slot[id] > 0 && slot[id] <= N", "slot[id] > N"
    passed = "slot[(id + 1) % N] = {}, slot[id] = 0"
    lift.edge("Standby", "Standby", action="press", guard="!button", update="button = true")
    lift.edge("Standby", "Standby", action="release", guard="button", update="button = false")
    lift.edge("Standby", "First", action="first", guard=f"button && {free} && slot[id] == 0",
              update="slot[(id + 1) % N] = 1, button = false")  # fmt: skip
    lift.edge("Standby", "Numbered", action="number", guard=f"{numbering} && slot[id] < N && {free}",
              update=f"number = slot[id], button = false, {passed.format('slot[id] + 1')}")  # fmt: skip
    lift.edge("First", "Counted", action="count", guard=f"{numbering} && {free}",
              update=f"total = slot[id], {passed.format('N + slot[id]')}")  # fmt: skip
    lift.edge("Numbered", "Ready", action="learn", guard=f"{total} && {free} && number < slot[id] - N",
              update=f"number = 0, {passed.format('slot[id]')}")  # fmt: skip
    lift.edge("Numbered", "Error", action="protocol_error", guard=f"{total} && number >= slot[id] - N")
    lift.edge("Counted", "Standby", action="start", guard=f"{total} && slot[id] - N == total",
              update="total = 0, slot[id] = 0")  # fmt: skip
    lift.edge("Counted", "Error", action="protocol_error", guard=f"{total} && slot[id] - N != total")
    lift.edge("Ready", "Standby", action="restart")
    b.instance("Lift")
    return b.build()


def buffers(units: int) -> Network:
    """Units of data arrive in three buffers of two places, and pass one by one to a receiver over slow channels.

    A channel takes its own time, and two more where the receiver changes to it.
    """
    b = NetworkBuilder("buffers")
    most = units * (max(DELAYS) + 2)
    delays = ", ".join(map(str, DELAYS))
    b.declare(f"const int N = {units}; typedef int[0,2] lane_t; const int DELAY[3] = {{{delays}}};")
    b.declare(
        f"int[0,2] held[3]; int[0,N] arrived, received; int[0,{most}] t; lane_t last; const int LOW = {10 * units};"
    )
    source = b.automaton("Source").location("Here")
    source.edge("Here", "Here", action="arrive", select="k : lane_t", guard="arrived < N && held[k] < 2",
                update="held[k] = held[k] + 1, arrived = arrived + 1")  # fmt: skip
    merge = b.automaton("Merge").location("Here")
    passes = "t = t + DELAY[k] + (k != last ? 2 : 0), last = k, held[k] = held[k] - 1, received = received + 1"
    merge.edge("Here", "Here", action="receive", select="k : lane_t", guard="held[k] > 0", update=passes)
    return b.build()
