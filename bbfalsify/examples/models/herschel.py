"""The task set of the attitude control of the satellites Herschel and Planck, as published, in a model of our own.

32 tasks of fixed priority share one processor, which higher ones take away from lower ones.  Execution times are
between f per cent of the worst case and the worst case.  The first number of a task is its priority, 1 the highest; 13
is nobody's: a task of the application software that holds a resource runs with that priority (ceiling).  A task of
the basic software runs just above the highest task that waits for its resource (inheritance).  Times are in
microseconds.

Periods, deadlines, worst cases and the parts of each task are those of Mikučionis et al., Schedulability Analysis
Using Uppaal: Herschel-Planck Case Study (ISoLA 2010), with intervals of execution times as in David et al.,
Schedulability of Herschel-Planck Revisited Using Statistical Model Checking (ISoLA 2012).  There is no process for the
scheduler here, and releases at the same moment are steps of their own, so a run has about a third of the steps that
it has in the published model.
"""

from __future__ import annotations

from dataclasses import dataclass

from bbfalsify.modelling import Network, NetworkBuilder

CEILING = 13
APPLICATION = (16, 21, 22, 31, 32)
"""Tasks that raise their priority to the ceiling."""
COMPUTE, SUSPEND, LOCK, UNLOCK, END = range(5)
ICB, SGM, PM_REQUEST, RCS, FIRST_OTHER, SECOND_OTHER = range(6)
RESOURCES = 6
Part = tuple[int, int]
"""What a task does next, with its time or resource."""


def _compute(*times: int) -> list[Part]:
    return [(COMPUTE, time) for time in times]


def _hold(resource: int, *computing: int, suspended: int | None = None) -> list[Part]:
    """Parts that hold a resource: compute for a time and wait for hardware, or several times just compute."""
    if suspended is not None:
        return [(LOCK, resource), *_compute(*computing), (SUSPEND, suspended), (UNLOCK, resource)]
    return [part for time in computing for part in ((LOCK, resource), (COMPUTE, time), (UNLOCK, resource))]


@dataclass(frozen=True)
class Task:
    number: int
    offset: int
    period: int
    worst_case: int
    deadline: int
    parts: tuple[Part, ...] = ()
    """Computing that is not listed here comes after all parts."""


PRIMARY = (
    *_hold(ICB, 400, suspended=1200), *_compute(20_177, 3440),
    *_hold(SGM, 1097, suspended=121), *_compute(2654, 42),
    *_hold(PM_REQUEST, 1650, suspended=1650), *_compute(1829, 2752),
)  # fmt: skip
SECONDARY_1 = (
    *_hold(SGM, 892, suspended=90), *_compute(1090, 251),
    *_hold(FIRST_OTHER, 0, suspended=3200), *_compute(3093),
    *_hold(SGM, 465, suspended=180), *_compute(6631, 27, 1871),
    *_hold(PM_REQUEST, 1650, suspended=1650), *_hold(SGM, 892, suspended=90), *_compute(1269, 965),
)  # fmt: skip
SECONDARY_2 = (
    *_hold(ICB, 8930, suspended=3600), *_hold(SECOND_OTHER, 0, suspended=3200), *_compute(1173),
    *_hold(ICB, 400, suspended=1200), *_compute(14_633),
    *_hold(SECOND_OTHER, 0, suspended=12_800), *_compute(4807),
    *_hold(SECOND_OTHER, 0, suspended=6400), *_compute(2287, 7267, 193),
)  # fmt: skip
MONITORING = (
    *_hold(ICB, 450, 250), *_hold(ICB, 200, suspended=500), *_hold(ICB, 700, 700, 500),
    *_hold(ICB, 200, suspended=300), *_hold(ICB, 300),
)  # fmt: skip
MEMORY = (
    *_hold(SGM, 150, suspended=0), *_hold(SGM, 150, suspended=0), *_compute(10),
    *_hold(SGM, 150, suspended=30), *_hold(SGM, 180), *_compute(10),
    *_hold(SGM, 150, suspended=460), *_hold(SGM, 610), *_compute(10),
    *_hold(SGM, 150, suspended=460), *_hold(SGM, 610, 610, 610, 610),
)  # fmt: skip

TASKS = (
    Task(1, 0, 10_000, 13, 1000),
    Task(2, 0, 250_000, 70, 1000),
    Task(3, 62_500, 125_000, 70, 1000),
    Task(4, 0, 250_000, 20, 1000),
    Task(5, 200_000, 250_000, 100, 1000),
    Task(6, 0, 15_625, 70, 1000),
    Task(7, 0, 20_000, 70, 1000),
    Task(8, 0, 39_000, 70, 2000),
    Task(9, 0, 250_000, 70, 2000),
    Task(10, 0, 15_625, 150, 15_625),
    Task(11, 0, 125_000, 400, 15_625),
    Task(12, 0, 250_000, 170, 15_625),
    Task(14, 20_000, 250_000, 5000, 230_220),
    Task(15, 20_000, 250_000, 720, 230_220),
    Task(16, 20_000, 250_000, 400, 230_220, tuple(_hold(SGM, 400))),
    Task(17, 62_500, 125_000, 500, 62_500),
    Task(18, 62_500, 250_000, 6000, 62_500),
    Task(19, 200_000, 250_000, 6000, 50_540),
    Task(20, 200_000, 250_000, 3000, 50_540),
    Task(21, 20_000, 250_000, 34_050, 59_600, PRIMARY),
    Task(22, 20_000, 250_000, 4070, 239_600, (*_hold(RCS, 0, suspended=6350), *_compute(4061))),
    Task(23, 0, 1_000_000, 1100, 100_000, (*_hold(ICB, 200, suspended=300), *_compute(350), *_hold(ICB, 500))),
    Task(24, 0, 250_000, 2750, 250_000),
    Task(25, 62_500, 250_000, 3300, 125_000, MONITORING),
    Task(26, 0, 250_000, 4860, 250_000),
    Task(27, 0, 250_000, 4020, 250_000, MEMORY),
    Task(28, 0, 250_000, 500, 250_000),
    Task(29, 0, 250_000, 14_000, 250_000, (*_hold(ICB, 500, suspended=500), *_hold(ICB, *[900] * 15))),
    Task(30, 20_000, 250_000, 1780, 230_220),
    Task(31, 20_000, 250_000, 20_960, 189_600, SECONDARY_1),
    Task(32, 20_000, 250_000, 39_690, 230_220, SECONDARY_2),
    Task(33, 0, 250_000, 200, 250_000),
)

SCHEDULING = """
int[-1,N-1] cpu = -1;
bool ready[N];
int[0,34] level[N];
int[-1,N-1] holder[R];

void begin() { for (i : id_t) level[i] = LEVEL[i]; for (r : res_t) holder[r] = -1; }
// a task keeps the processor from others of its level
void dispatch() {
    int best = (cpu >= 0 && ready[cpu]) ? level[cpu] : 0;
    if (best == 0) cpu = -1;
    for (i : id_t) { if (ready[i] && level[i] > best) { best = level[i]; cpu = i; } }
}
void start(id_t i) { ready[i] = true; dispatch(); }
void stop(id_t i) { ready[i] = false; dispatch(); }
void lock(id_t i, res_t r) { holder[r] = i; if (CEILS[i] == 1) { level[i] = CEILING; dispatch(); } }
void unlock(id_t i, res_t r) { holder[r] = -1; level[i] = LEVEL[i]; dispatch(); }
void block(id_t i, res_t r) {
    if (CEILS[i] == 0 && level[holder[r]] <= LEVEL[i]) level[holder[r]] = LEVEL[i] + 1;
    stop(i);
}
"""


def herschel(best_case: int) -> Network:
    """The tasks, with execution times from `best_case` per cent of the worst case up."""
    b = NetworkBuilder("herschel")
    flows = [(*task.parts, (END, 0)) for task in TASKS]
    longest = max(len(flow) for flow in flows)
    padded = [part for flow in flows for part in (*flow, *[(END, 0)] * (longest - len(flow)))]
    rows = {
        "OFFSET": [task.offset for task in TASKS],
        "PERIOD": [task.period for task in TASKS],
        "DEADLINE": [task.deadline for task in TASKS],
        "WORST": [task.worst_case for task in TASKS],
        "LEAST": [task.worst_case * best_case // 100 for task in TASKS],
        "LEVEL": [34 - task.number for task in TASKS],
        "CEILS": [int(task.number in APPLICATION) for task in TASKS],
        "KIND": [kind for kind, _ in padded],
        "LONG": [argument if kind in (COMPUTE, SUSPEND) else 0 for kind, argument in padded],
        "SHORT": [argument * best_case // 100 if kind == COMPUTE else 0 for kind, argument in padded],
        "RES": [argument if kind in (LOCK, UNLOCK) else 0 for kind, argument in padded],
    }
    b.declare(f"const int N = {len(TASKS)}; const int R = {RESOURCES}; const int P = {longest};")
    b.declare(f"typedef int[0,N-1] id_t; typedef int[0,R-1] res_t; const int CEILING = {34 - CEILING};")
    for name, values in rows.items():
        b.declare(f"const int {name}[{len(values)}] = {{{', '.join(map(str, values))}}};")
    b.declare(SCHEDULING)
    b.declare("urgent broadcast chan wake;")
    setup = b.automaton("Setup")
    setup.location("Start", committed=True)
    setup.location("Done")
    setup.edge("Start", "Done", action="begin", update="begin()")
    task = b.automaton(
        "Task", parameters="const id_t id",
        declarations="clock x, job, part; int[0,N*P-1] at = id * P;",
    )  # fmt: skip
    working = {"job": "(cpu == id ? 1 : 0)"}
    computing = {**working, "part": "(cpu == id ? 1 : 0)"}
    resting = {"job": 0, "part": 0}
    task.location("Offset", invariant="x <= OFFSET[id]", rates=resting)
    task.location("Idle", invariant="x <= PERIOD[id]", rates=resting)
    task.location("Next", invariant="part <= 0", rates=computing)
    task.location("Compute", invariant="part <= LONG[at]", rates=computing)
    task.location("Suspended", invariant="part <= LONG[at]", rates={"job": 0})
    task.location("Blocked", rates=resting)
    task.location("Finish", invariant="job <= WORST[id]", rates={**working, "part": 0})
    task.location("Missed", rates=resting)
    release = "x = 0, job = 0, part = 0, at = id * P, start(id)"
    task.edge("Offset", "Next", action="release", guard="x >= OFFSET[id]", update=release)
    task.edge("Idle", "Next", action="release", guard="x >= PERIOD[id]", update=release)
    here = "cpu == id && x <= DEADLINE[id] && KIND[at] =="
    task.edge("Next", "Compute", action="compute", guard=f"{here} {COMPUTE}")
    task.edge("Next", "Suspended", action="suspend", guard=f"{here} {SUSPEND}", update="stop(id)")
    free = "holder[RES[at]] == -1"
    task.edge("Next", "Next", action="lock", guard=f"{here} {LOCK} && {free}", update="lock(id, RES[at]), at++")
    task.edge("Next", "Blocked", action="block", guard=f"{here} {LOCK} && !({free})", update="block(id, RES[at])")
    task.edge("Next", "Next", action="unlock", guard=f"{here} {UNLOCK}", update="unlock(id, RES[at]), at++")
    task.edge("Next", "Finish", action="end", guard=f"{here} {END}")
    task.edge("Compute", "Next", action="done", guard="cpu == id && part >= SHORT[at]", update="part = 0, at++")
    task.edge("Suspended", "Next", action="resume", guard="part >= LONG[at]", update="part = 0, at++, start(id)")
    task.edge("Blocked", "Next", guard=free, sync="wake!", update="part = 0, start(id)")
    done = "cpu == id && job >= LEAST[id] && x <= DEADLINE[id]"
    task.edge("Finish", "Idle", action="finish", guard=done, update="stop(id)")
    for place in ("Next", "Blocked", "Finish"):
        task.edge(place, "Missed", action="miss", guard="x > DEADLINE[id]", update="stop(id)")
    b.instance("Setup").instance("Task")
    return b.build()
