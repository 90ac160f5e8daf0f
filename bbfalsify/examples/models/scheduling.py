"""A processor with preemption and shared resources, modelled on the software of the satellite Herschel.

32 periodic tasks of fixed priority; the execution time of each is between f per cent of its worst case and the worst
case.  Some tasks hold a resource during a part of their work: some resources raise the priority of their holder to a
ceiling, others to that of the waiting task (inheritance).  A task misses its deadline if it has not finished by then.
The execution times are stopwatches, which stop while the task does not have the processor.

Short execution times can be *worse* than long ones (a low task gets its resource earlier and blocks a higher one), so
nothing is found if f is near 100.
"""

from __future__ import annotations

from bbfalsify.modelling import Network, NetworkBuilder

# period, offset, deadline, work before, with and after the resource, resource (−1 none); by falling priority; 0.1 ms
TASKS: tuple[tuple[int, int, int, int, int, int, int], ...] = (
    (100, 0, 20, 1, 0, 0, -1),
    (2500, 0, 10, 1, 0, 0, -1),
    (1250, 3, 12, 1, 0, 0, -1),
    (2500, 7, 20, 2, 0, 0, -1),
    (2500, 1800, 20, 1, 0, 0, -1),
    (156, 0, 25, 1, 0, 0, -1),
    (200, 0, 25, 1, 0, 0, -1),
    (390, 0, 30, 1, 0, 0, -1),
    (2500, 20, 30, 1, 0, 0, -1),
    (156, 2, 40, 2, 0, 0, -1),
    (1250, 4, 60, 4, 0, 0, -1),
    (2500, 8, 80, 2, 0, 0, -1),
    (2500, 10, 150, 10, 30, 10, 0),
    (2500, 14, 150, 7, 0, 0, -1),
    (2500, 1100, 60, 4, 10, 4, 3),
    (1250, 20, 200, 5, 0, 0, -1),
    (2500, 30, 300, 20, 20, 20, 1),
    (2500, 40, 450, 20, 30, 10, 2),
    (2500, 60, 500, 10, 10, 10, 1),
    (2500, 100, 1050, 100, 140, 100, 0),
    (2500, 180, 1100, 10, 20, 10, 2),
    (5000, 200, 1200, 4, 4, 3, -1),
    (2500, 220, 1300, 10, 10, 7, 1),
    (2500, 240, 1350, 10, 13, 10, 3),
    (2500, 300, 1450, 20, 18, 10, 3),
    (2500, 350, 1500, 10, 20, 10, 2),
    (2500, 380, 1500, 2, 1, 2, -1),
    (2500, 400, 1750, 60, 40, 40, 3),
    (2500, 500, 1800, 10, 4, 4, -1),
    (2500, 600, 2150, 80, 90, 39, 0),
    (2500, 700, 2450, 130, 160, 106, 3),
    (2500, 800, 2500, 1, 0, 1, -1),
)
CEILINGS = (12, -1, 17, -1)
"""Per resource, the priority (rank of a task) of its holder; −1: that of the highest waiting task."""


def satellite(best_case: int, tasks: int = len(TASKS)) -> Network:
    """All tasks (or the first ones), with execution times from `best_case` per cent of the worst case up."""
    rows = TASKS[:tasks]
    b = NetworkBuilder("satellite")
    columns = list(zip(*rows, strict=True))
    b.declare(f"const int N = {len(rows)}; typedef int[0,N-1] id_t; const int R = {len(CEILINGS)};")
    for name, values in zip(("PERIOD", "OFFSET", "DEADLINE"), columns, strict=False):
        b.declare(f"const int {name}[N] = {{{', '.join(map(str, values))}}};")
    # In hundredths of a per cent of the unit, so that best cases stay integers.
    for name, values in zip(("FIRST", "MIDDLE", "LAST"), columns[3:6], strict=True):
        b.declare(f"const int {name}_W[N] = {{{', '.join(str(100 * v) for v in values)}}};")
        b.declare(f"const int {name}_B[N] = {{{', '.join(str(best_case * v) for v in values)}}};")
    b.declare(f"const int NEEDS[N] = {{{', '.join(map(str, columns[6]))}}};")
    b.declare(f"const int CEILING[R] = {{{', '.join(map(str, CEILINGS))}}};")
    b.declare(
        """
        bool ready[N]; int[-1,N-1] holder[R] = {-1, -1, -1, -1}; int[-1,N-1] waits_for[N]; int[-1,N-1] cpu = -1;
        void begin() { for (i : id_t) waits_for[i] = -1; }
        int rank(id_t i) {
            int best = i;
            for (r : int[0,R-1]) {
                if (holder[r] == i) {
                    if (CEILING[r] >= 0) { if (CEILING[r] < best) best = CEILING[r]; }
                    else { for (j : id_t) { if (waits_for[j] == r && j < best) best = j; } }
                }
            }
            return best;
        }
        void dispatch() {
            int best = 2 * N;
            cpu = -1;
            for (i : id_t) {
                if (ready[i]) { int mine = rank(i); if (mine < best) { best = mine; cpu = i; } }
            }
        }
        void release(id_t i) { ready[i] = true; dispatch(); }
        void finish(id_t i) { ready[i] = false; dispatch(); }
        void take(id_t i) { holder[NEEDS[i]] = i; dispatch(); }
        void block(id_t i) { waits_for[i] = NEEDS[i]; ready[i] = false; dispatch(); }
        void give(id_t i) { holder[NEEDS[i]] = -1; dispatch(); }
        void unblock(id_t i) { waits_for[i] = -1; ready[i] = true; holder[NEEDS[i]] = i; dispatch(); }
        bool free(id_t i) { return NEEDS[i] >= 0 && holder[NEEDS[i]] == -1; }
        bool first_waiting(id_t i) {
            for (j : id_t) { if (j < i && waits_for[j] == NEEDS[i]) return false; }
            return true;
        }
        """
    )
    setup = b.automaton("Setup")
    setup.location("Start", committed=True)
    setup.location("Done")
    setup.edge("Start", "Done", action="begin", update="begin()")
    task = b.automaton("Task", parameters="const id_t id", declarations="clock p, c;")
    runs = {"c": "(cpu == id ? 100.0 : 0.0)"}
    task.location("Offset", invariant="p <= OFFSET[id]", rates={"c": 0})
    task.location("First", invariant="c <= FIRST_W[id] && p <= DEADLINE[id]", rates=runs)
    task.location("Blocked", invariant="p <= DEADLINE[id]", rates={"c": 0})
    task.location("Middle", invariant="c <= MIDDLE_W[id] && p <= DEADLINE[id]", rates=runs)
    task.location("Last", invariant="c <= LAST_W[id] && p <= DEADLINE[id]", rates=runs)
    task.location("Idle", invariant="p <= PERIOD[id]", rates={"c": 0})
    task.location("Missed", rates={"c": 0})
    start = "p = 0, c = 0, release(id)"
    task.edge("Offset", "First", action="release", guard="p >= OFFSET[id]", update=start)
    task.edge("Idle", "First", action="release", guard="p >= PERIOD[id]", update=start)
    done = "c >= FIRST_B[id] && cpu == id"
    task.edge("First", "Middle", action="lock", guard=f"free(id) && {done}", update="c = 0, take(id)")
    task.edge(
        "First", "Blocked", action="block", guard=f"NEEDS[id] >= 0 && !free(id) && {done}", update="c = 0, block(id)"
    )
    task.edge("First", "Last", action="go", guard=f"NEEDS[id] < 0 && {done}", update="c = 0")
    task.edge("Middle", "Last", action="unlock", guard="c >= MIDDLE_B[id] && cpu == id", update="c = 0, give(id)")
    task.edge("Last", "Idle", action="finish", guard="c >= LAST_B[id] && cpu == id", update="finish(id)")
    b.declare("urgent broadcast chan wake;")
    task.edge("Blocked", "Middle", guard="free(id) && first_waiting(id)", sync="wake!", update="unblock(id)")
    for here in ("First", "Blocked", "Middle", "Last"):
        task.edge(here, "Missed", action="miss", guard="p >= DEADLINE[id]", update="ready[id] = false, dispatch()")
    b.instance("Setup").instance("Task")
    return b.build()
