"""Well-known models, made with the builder: inputs for tests, benchmarks and examples of the language."""

from __future__ import annotations

from bbfalsify.modelling.builder import NetworkBuilder
from bbfalsify.modelling.network import Network


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


def preemptive_tasks() -> Network:
    """Two periodic tasks on one processor: the low one's stopwatch stands still while the high one runs."""
    b = NetworkBuilder("preemptive_tasks")
    b.declare("const int HIGH = 0, LOW = 1; bool ready[2]; clock done[2]; const int COST[2] = {2, 4};")
    high = b.automaton("High", declarations="clock p;")
    high.location("Wait", invariant="p <= 10", rates={"done[HIGH]": 0})
    high.location("Run", invariant="done[HIGH] <= COST[HIGH] && p <= 10")
    high.edge("Wait", "Run", action="release_high", guard="p >= 10", update="p = 0, done[HIGH] = 0, ready[HIGH] = true")
    high.edge("Run", "Wait", action="finish_high", guard="done[HIGH] >= COST[HIGH]", update="ready[HIGH] = false")
    low = b.automaton("Low", declarations="clock p;")
    low.location("Wait", invariant="p <= 15 && done[LOW]' == 0")
    low.location("Run", invariant="done[LOW] <= COST[LOW] && done[LOW]' == (ready[HIGH] ? 0 : 1) && p <= 15")
    low.location("Missed")
    low.edge("Wait", "Run", action="release_low", guard="p >= 15", update="p = 0, done[LOW] = 0, ready[LOW] = true")
    low.edge("Run", "Wait", action="finish_low", guard="done[LOW] >= COST[LOW]", update="ready[LOW] = false")
    low.edge("Run", "Missed", action="miss_low", guard="p >= 15 && done[LOW] < COST[LOW]")
    return b.build()
