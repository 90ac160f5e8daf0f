"""Protocols that papers on timed automata use as benchmarks, at any size."""

from __future__ import annotations

from bbfalsify.modelling import AutomatonBuilder, Network, NetworkBuilder


def fischer(processes: int, *, delay: int = 2, faulty: bool = False) -> Network:
    """Fischer's mutual exclusion: at most one process in `cs`, as long as waiting is strictly longer than writing.

    With `faulty` a process enters after `x >= delay` instead of `x > delay`, and two of them can be in `cs` at once.
    """
    b = NetworkBuilder("fischer")
    b.declare(f"const int N = {processes}; const int K = {delay}; typedef int[1,N] id_t; int[0,N] id = 0;")
    p = b.automaton("P", parameters="const id_t pid", declarations="clock x;")
    p.location("A")
    p.location("req", invariant="x <= K")
    p.location("wait")
    p.location("cs")
    p.edge("A", "req", guard="id == 0", update="x = 0")
    p.edge("req", "wait", guard="x <= K", update="x = 0, id = pid")
    p.edge("wait", "req", guard="id == 0", update="x = 0")
    p.edge("wait", "cs", guard=f"x {'>=' if faulty else '>'} K && id == pid")
    p.edge("cs", "A", update="id = 0")
    b.instance("P")
    return b.build()


def csma_cd(stations: int, *, broadcast: bool = False) -> Network:
    """Stations on one wire: two collide if one begins before the other's signal has arrived.

    After a collision the bus tells one station after the other, in a committed location, as in the model of TChecker.
    A station that sends for SIGMA or longer does not listen, and then everything stops.  With `broadcast` one signal
    reaches all at once, and stations listen for 2 * SIGMA.
    """
    b = NetworkBuilder("csma_cd")
    b.declare(f"const int N = {stations}; typedef int[0,N-1] id_t; const int SIGMA = 26; const int LAMBDA = 808;")
    b.declare("chan begin, end, busy; " + ("broadcast chan cd;" if broadcast else "chan cd[N];"))
    bus = b.automaton("Bus", declarations="clock y;" if broadcast else "clock y; int[0,N] told;")
    bus.location("idle")
    bus.location("active")
    bus.location("collision", invariant="y < SIGMA")
    bus.edge("idle", "active", sync="begin?", update="y = 0")
    bus.edge("active", "active", guard="y >= SIGMA", sync="busy!")
    bus.edge("active", "idle", sync="end?", update="y = 0")
    bus.edge("active", "collision", guard="y < SIGMA", sync="begin?", update="y = 0")
    if broadcast:
        bus.edge("collision", "idle", sync="cd!", update="y = 0")
    else:
        bus.location("tell", committed=True)
        bus.edge("collision", "tell", action="detect", guard="y < SIGMA")
        bus.edge("tell", "tell", select="i : id_t", guard="i == told", sync="cd[i]!", update="told = told + 1")
        bus.edge("tell", "idle", action="told", guard="told == N && y < SIGMA", update="y = 0, told = 0")
    collision, listens = ("cd?", "2 * SIGMA") if broadcast else ("cd[id]?", "SIGMA")
    station = b.automaton("P", parameters="const id_t id", declarations="clock x;")
    station.location("wait")
    station.location("start", invariant="x <= LAMBDA")
    station.location("retry", invariant="x < 2 * SIGMA")
    station.edge("wait", "start", sync="begin!", update="x = 0")
    station.edge("wait", "wait", sync=collision, update="x = 0")
    station.edge("wait", "retry", sync=collision, update="x = 0")
    station.edge("wait", "retry", sync="busy?", update="x = 0")
    station.edge("start", "retry", guard=f"x < {listens}", sync=collision, update="x = 0")
    station.edge("start", "wait", guard="x == LAMBDA", sync="end!", update="x = 0")
    station.edge("retry", "start", sync="begin!", update="x = 0")
    station.edge("retry", "retry", sync=collision, update="x = 0")
    if not broadcast:
        station.edge("retry", "retry", sync="busy?", update="x = 0")
    b.instance("Bus").instance("P")
    return b.build()


def fddi(stations: int, *, allocation: int = 20) -> Network:
    """A token ring for fibre (FDDI): a station that has the token sends for `allocation`, and then, if the token came
    early, as long as the token would still have been early one round ago.

    Two clocks per station, `a` and `b`, take turns: one measures this round of the token, the other the round before.
    """
    b = NetworkBuilder("fddi")
    b.declare(f"const int N = {stations}; typedef int[0,N-1] id_t; const int TTRT = {50 * stations};")
    b.declare(f"const int SA = {allocation}; chan take[N], give[N];")
    station = b.automaton("P", parameters="const id_t id", declarations="clock trt, a, b;")
    for half, (kept, reset) in enumerate((("a", "b"), ("b", "a"))):
        idle, other = f"idle_{kept}", f"idle_{reset}"
        must, may, more = f"must_{kept}", f"may_{kept}", f"more_{kept}"
        station.location(idle, initial=half == 0)
        station.location(must, invariant="trt <= SA")
        station.location(may, invariant="trt <= SA")
        station.location(more, invariant=f"{kept} <= TTRT + SA")
        restart = f"trt = 0, {reset} = 0"
        station.edge(idle, must, guard="trt >= TTRT", sync="take[id]?", update=restart)
        station.edge(idle, may, guard="trt < TTRT", sync="take[id]?", update=restart)
        station.edge(must, other, guard="trt == SA", sync="give[id]!")
        station.edge(may, more, action="asynchronous", guard="trt == SA")
        station.edge(more, other, sync="give[id]!")
    ring = b.automaton("Ring", declarations="clock t; id_t place;")
    ring.location("travels", invariant="t <= 0")
    ring.location("held")
    ring.edge("travels", "held", select="i : id_t", guard="i == place && t == 0", sync="take[i]!")
    ring.edge("held", "travels", select="i : id_t", guard="i == place", sync="give[i]?",
              update="t = 0, place = (place + 1) % N")  # fmt: skip
    b.instance("P").instance("Ring")
    return b.build()


def train_gate(trains: int) -> Network:
    """Trains share a bridge; a gate with a queue stops and restarts them (functions, channel arrays, select)."""
    b = NetworkBuilder("train_gate")
    b.declare(f"const int N = {trains}; typedef int[0,N-1] id_t;")
    b.declare("chan appr[N], stop[N], leave[N]; urgent chan go[N];")
    train = b.automaton("Train", parameters="const id_t id", declarations="clock x;")
    train.location("Safe")
    train.location("Appr", invariant="x <= 20")
    train.location("Stop")
    train.location("Start", invariant="x <= 15")
    train.location("Cross", invariant="x <= 5")
    train.edge("Safe", "Appr", sync="appr[id]!", update="x = 0")
    train.edge("Appr", "Stop", guard="x <= 10", sync="stop[id]?")
    train.edge("Appr", "Cross", guard="x >= 10", update="x = 0")
    train.edge("Stop", "Start", sync="go[id]?", update="x = 0")
    train.edge("Start", "Cross", guard="x >= 7", update="x = 0")
    train.edge("Cross", "Safe", guard="x >= 3", sync="leave[id]!")
    gate = b.automaton("Gate")
    gate.declare(
        """
        id_t list[N+1];
        int[0,N] len = 0;
        void enqueue(id_t element) { list[len] = element; len++; }
        void dequeue() {
            int i = 0;
            len -= 1;
            while (i < len) { list[i] = list[i+1]; i++; }
            list[i] = 0;
        }
        id_t front() { return list[0]; }
        id_t tail() { return list[len-1]; }
        """
    )
    gate.location("Free")
    gate.location("Occ")
    gate.location("Stopping", committed=True)
    gate.edge("Free", "Occ", select="e : id_t", guard="len == 0", sync="appr[e]?", update="enqueue(e)")
    gate.edge("Free", "Occ", guard="len > 0", sync="go[front()]!")
    gate.edge("Occ", "Stopping", select="e : id_t", sync="appr[e]?", update="enqueue(e)")
    gate.edge("Stopping", "Occ", sync="stop[tail()]!")
    gate.edge("Occ", "Free", select="e : id_t", guard="e == front()", sync="leave[e]?", update="dequeue()")
    b.instance("Train").instance("Gate")
    return b.build()


def milner(nodes: int, *, fast: int = 4, slow: int = 30, narrow: float = 0.02) -> Network:
    """A token goes round a ring; with it, a node works (`w`) and passes it on (`rec`), each after `fast` to `slow`.

    The clock z runs from one work of node 0 to the next.  A round takes at most nodes · slow, and one of more than
    that, less a share `narrow`, needs the longest delay of nearly every node.
    """
    b = NetworkBuilder("milner")
    b.declare(f"const int N = {nodes}; typedef int[0,N-1] id_t; const int D = {slow}; const int d = {fast};")
    b.declare(f"const int SLOW = {int(nodes * slow * (1 - narrow))}; chan rec[N]; clock z;")
    node = b.automaton("Node", parameters="const id_t id", declarations="clock x;")
    node.location("Wait")
    node.location("Both", invariant="x <= D")
    node.location("Pass", invariant="x <= D")
    node.location("Work", invariant="x <= D")
    node.location("Start", initial=True, committed=True)
    node.edge("Start", "Both", action="first", guard="id == 0", update="x = 0")
    node.edge("Start", "Wait", action="others", guard="id != 0")
    node.edge("Wait", "Both", sync="rec[id]?", update="x = 0")
    reset = "z = (id == 0 ? 0.0 : z)"
    node.edge("Both", "Pass", action="w", guard="x >= d", update=reset)
    node.edge("Both", "Work", guard="x >= d", sync="rec[(id + 1) % N]!")
    node.edge("Pass", "Wait", guard="x >= d", sync="rec[(id + 1) % N]!")
    node.edge("Work", "Wait", action="w", guard="x >= d", update=reset)
    b.instance("Node")
    return b.build()


def _ring(b: NetworkBuilder, nodes: int, fast: int, slow: int) -> AutomatonBuilder:
    """Begin a node of a ring; node i has priority (3·i + 1) mod N + 1 where that is a permutation, else i + 1."""
    step = 3 if nodes % 3 else 1
    priorities = ", ".join(str((step * i + 1) % nodes + 1) for i in range(nodes))
    b.declare(f"const int N = {nodes}; typedef int[0,N-1] id_t; typedef int[1,N] pr_t;")
    b.declare(f"const int D = {slow}; const int d = {fast}; const int LATE = {nodes * slow - slow // 2};")
    b.declare(f"const int OWN[N] = {{{priorities}}}; bool elected; clock t;")
    node = b.automaton("Node", parameters="const id_t id", declarations="clock x; int[0,N] cur = 0;")
    node.location("Start", committed=True).location("Ready", invariant="x <= D").location("Sent")
    return node


def leader_channels(nodes: int, *, fast: int = 1, slow: int = 10) -> Network:
    """Nodes pass on the highest priority seen; one that receives its own is the leader.  send[to][priority]."""
    b = NetworkBuilder("leader_channels")
    node = _ring(b, nodes, fast, slow).location("Leader")
    b.declare("chan send[N][N+1];")
    node.edge("Start", "Ready", action="start", update="cur = OWN[id]")
    to = "send[(id + 1) % N][p]!"
    node.edge("Ready", "Sent", select="p : pr_t", guard="x >= d && p == cur", sync=to)
    for here in ("Ready", "Sent"):
        node.edge(here, "Ready", select="p : pr_t", guard="p > cur", sync="send[id][p]?", update="cur = p, x = 0")
        node.edge(here, here, select="p : pr_t", guard="p < cur || p == cur && p != OWN[id]", sync="send[id][p]?")
        node.edge(here, "Leader", select="p : pr_t", guard="p == cur && p == OWN[id]", sync="send[id][p]?",
                  update="elected = true")  # fmt: skip
    b.instance("Node")
    return b.build()


def leader_hops(nodes: int, *, fast: int = 1, slow: int = 10) -> Network:
    """The same protocol; the priority travels in a shared variable beside one channel per hop."""
    b = NetworkBuilder("leader_hops")
    node = _ring(b, nodes, fast, slow).location("Judge", committed=True).location("Leader")
    b.declare("chan hop[N]; int[0,N] passed = 0;")
    node.edge("Start", "Ready", action="start", update="cur = OWN[id]")
    node.edge("Ready", "Sent", guard="x >= d", sync="hop[(id + 1) % N]!", update="passed = cur")
    node.edge("Sent", "Judge", sync="hop[id]?")
    node.edge("Ready", "Judge", sync="hop[id]?")
    node.edge("Judge", "Ready", action="higher", guard="passed > cur", update="cur = passed, x = 0")
    node.edge("Judge", "Sent", action="lower", guard="passed < cur || passed == cur && passed != OWN[id]")
    node.edge("Judge", "Leader", action="elect", guard="passed == cur && passed == OWN[id]", update="elected = true")
    b.instance("Node")
    return b.build()
