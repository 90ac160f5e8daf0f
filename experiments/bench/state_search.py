"""Searches through states: the tables of deep random search and of highway search, re-done, depth and speed.

    state_search.py speed       transitions per CPU second of compiled models without time
    state_search.py highway     success, states and length of traces, as Table 1 of Engels et al. (2009)
    state_search.py drs         states, depth and time on zone graphs, as tables 1 to 4 of Grosu et al. (2006)
    state_search.py deep        counterexamples all of which are more than 10,000 steps deep

The models are our own, so the published figures beside ours show how things grow, not who is faster.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from statistics import mean
from typing import Any

from bbfalsify.core.errors import UserError
from bbfalsify.engines.searching import search
from bbfalsify.engines.searching.untimed_system import UntimedSystem
from bbfalsify.examples.models import named_model
from bbfalsify.examples.models.audio import audio_video
from bbfalsify.logic.reach_query import parse_query
from bbfalsify.modelling import Network
from bbfalsify.results.state_search_result import StateSearchResult

COLUMNS: dict[str, dict[str, Any]] = {
    "random": {"method": "random"},
    "rdfs": {"method": "rdfs"},
    "highway 8": {"method": "highway", "width": 8, "selection": "approximate"},
    "highway 16": {"method": "highway", "width": 16, "selection": "approximate"},
    "highway 32": {"method": "highway", "width": 32, "selection": "approximate"},
}
# states, trace, successful runs in per cent of each column
PUBLISHED: dict[str, tuple[tuple[int, int, int], ...]] = {
    "brp(10)": ((268, 137, 100), (155, 152, 100), (937, 124, 100), (1441, 94, 100), (2390, 78, 100)),
    "brp(30)": ((19885, 311, 75), (382, 361, 100), (1717, 240, 100), (3089, 209, 100), (5611, 186, 100)),
    "brp(50)": ((0, 0, 0), (539, 494, 100), (2345, 341, 100), (4496, 315, 100), (8415, 286, 100)),
    "brp(70)": ((0, 0, 0), (690, 629, 100), (3043, 445, 100), (5809, 413, 100), (11372, 387, 100)),
    "brp(90)": ((0, 0, 0), (821, 745, 100), (3593, 542, 100), (7103, 509, 100), (14094, 486, 100)),
    "lift-init(3)": ((13, 14, 2), (553, 14, 100), (87, 13, 31), (149, 13, 58), (257, 13, 93)),
    "lift-init(4)": ((0, 0, 0), (1232, 17, 100), (106, 15, 14), (207, 16, 45), (367, 15, 81)),
    "lift-init(5)": ((0, 0, 0), (2438, 19, 100), (119, 17, 2), (253, 18, 30), (461, 17, 65)),
    "lift-init(6)": ((0, 0, 0), (6311, 21, 99), (0, 0, 0), (313, 22, 11), (542, 20, 48)),
    "swp(2)": ((327, 204, 27), (279, 274, 27), (1217, 154, 26), (2214, 141, 27), (3161, 102, 27)),
    "swp(4)": ((1640, 906, 27), (1570, 1552, 27), (6307, 790, 27), (12794, 802, 27), (13374, 421, 27)),
    "swp(6)": ((4391, 2372, 27), (3872, 3844, 27), (14986, 1875, 27), (24588, 1540, 27), (29377, 922, 27)),
    "swp(8)": ((7273, 3315, 27), (8531, 6500, 25), (21419, 2680, 27), (35119, 2198, 26), (48052, 1505, 21)),
    "swp(10)": ((11546, 5642, 27), (16327, 8115, 21), (29425, 3681, 26), (45012, 2816, 22), (62502, 1957, 12)),
}
STUDY: dict[str, str | None] = {
    **{f"bounded-retransmission:{n}": f"brp({n})" for n in (10, 30, 50, 70, 90)},
    **{f"lift:{n}": f"lift-init({n})" for n in (3, 4, 5, 6)},
    **{f"sliding-window:{n}": f"swp({n})" for n in (2, 4, 6, 8, 10)},
    "philosophers:17": None,
    "buffers:30": None,
}
"""Our models, and the row of Table 1 that each follows."""


def highway(runs: int, only: str) -> None:
    print(f"{runs} runs of at most 50,000 states each (sliding windows 80,000): states / trace / per cent successful\n")
    print(f"{'':24}" + "".join(f"{name:>22}" for name in COLUMNS))
    for name, row in STUDY.items():
        if not name.startswith(only):
            continue
        network, family = named_model(name)
        system = UntimedSystem(network, family.query)
        most = 80_000 if "window" in name else 50_000
        cells = []
        for settings in COLUMNS.values():
            found = [search(system, states=most, seed=seed, **settings) for seed in range(runs)]
            cells.append(cell([one for one in found if one.verdict == "reached"], runs))
        print(f"{name:24}" + "".join(f"{text:>22}" for text in cells), flush=True)
        if row is not None:
            published = [f"{s} / {t} / {p}" for s, t, p in PUBLISHED[row]]
            print(f"{'  published ' + row:24}" + "".join(f"{text:>22}" for text in published), flush=True)


def cell(found: list[StateSearchResult], runs: int) -> str:
    if not found:
        return "0 / 0 / 0"
    length = mean(one.length or 0 for one in found)
    return f"{mean(one.states for one in found):.0f} / {length:.0f} / {100 * len(found) / runs:.0f}"


def speed() -> None:
    print("transitions per CPU second, and visited states\n")
    for name in ("philosophers:17", "sliding-window:10", "bounded-retransmission:90", "lift:8"):
        network, _ = named_model(name)
        system = UntimedSystem(network, "E<> false")
        for settings in ({"method": "bfs"}, *({"method": "highway", "width": w} for w in (8, 32, 128, 1024))):
            search(system, states=100, **settings)
            begun, transitions, states, seed = time.process_time(), 0, 0, 0
            while time.process_time() - begun < 2:
                found = search(system, states=200_000, seed=seed, **settings)
                transitions, states, seed = transitions + found.transitions, states + found.states, seed + 1
            seconds = time.process_time() - begun
            label = " ".join(str(v) for v in settings.values())
            print(f"{name:28}{label:14}{transitions / seconds:>12,.0f}{states:>12,}", flush=True)


# --- deep random search on zone graphs --------------------------------------------------------------------------------

TABLES: dict[str, tuple[str, tuple[int, ...], dict[int, tuple[int, int]]]] = {
    "fischer-faulty": (
        "Table 1", (2, 4, 8, 12, 16), {2: (20, 6), 4: (67, 28), 8: (216, 211), 12: (386, 374), 16: (238, 222)}
    ),
    "fischer": ("Table 2", (2, 3, 4, 5, 6), {}),
    "philips-audio-faulty": ("Table 3", (1, 4, 8, 12), {1: (16, 12), 4: (30, 26), 8: (93, 26), 12: (375, 42)}),
    "audio-video-faulty": (
        "Table 4", (2, 3, 4, 5), {2: (1659, 1657), 3: (166113, 2318), 4: (617760, 2972), 5: (6769520, 4734)}
    ),
}  # fmt: skip
"""Per model its table, sizes, and the published (states, depth) of DRS by size."""


def zone_system(network: Network, query: str) -> Any:
    """Make the zone graph of a model, which knows its targets."""
    from bbfalsify.zones.zone_graph import ZoneGraph
    from bbfalsify.zones.zone_tables import Question, zone_tables

    return ZoneGraph(zone_tables(network, Question(alive=parse_query(query, network).alive)))


def drs(runs: int, only: str, seconds: float) -> None:
    print(
        f"{runs} runs of the random ones, at most {seconds:g} s each: states / depth of the trace / CPU s, averages\n"
    )
    methods = ("bfs", "dfs", "rdfs", "drs")
    for model, (table, sizes, published) in TABLES.items():
        if not model.startswith(only):
            continue
        print(f"{table}: {model}\n{'size':>6}" + "".join(f"{m:>24}" for m in methods) + f"{'published drs':>18}")
        for size in sizes:
            cells = [shown(results(f"{model}:{size}", method, runs, seconds)) for method in methods]
            states, depth = published.get(size, (None, None))
            other = "" if states is None else f"{states:,} / {depth:,}"
            print(f"{size:>6}" + "".join(f"{text:>24}" for text in cells) + f"{other:>18}", flush=True)
        print()


def results(name: str, method: str, runs: int, seconds: float) -> Iterator[StateSearchResult]:
    network, family = named_model(name)
    system = zone_system(network, family.query)
    for seed in range(runs if method in ("rdfs", "drs") else 1):
        found = search(system, system.is_target, method=method, seed=seed, states=None, timeout=seconds)
        yield found
        if found.verdict != "reached":
            return


def deep(seconds: float) -> None:
    """Search for what only more than 10,000 steps lead to."""
    print(f"at most {seconds:g} s each: states / length of the trace / CPU s\n")
    network, family = named_model("bounded-retransmission:4000")
    untimed = UntimedSystem(network, family.query)
    frames = audio_video(2, bits=2000, faulty=True)
    timed = zone_system(frames, "A[] forall (i : id_t) not S(i).Error")
    for method in ("bfs", "dfs", "rdfs", "drs", "highway"):
        settings = {"method": method, "seed": 1, "states": None, "timeout": seconds}
        lost = shown(iter([search(untimed, **settings)]))
        spoilt = shown(iter([search(timed, timed.is_target, **settings)]))
        print(f"{method:10}  4,000 losses: {lost:32}  a frame of 2,000 bits: {spoilt}", flush=True)


def shown(found: Iterator[StateSearchResult]) -> str:
    done = list(found)
    states, cpu = mean(one.states for one in done), mean(one.cpu_seconds for one in done)
    depth = f"{mean(one.length or 0 for one in done):,.0f}" if done[-1].verdict == "reached" else done[-1].verdict
    return f"{states:,.0f} / {depth} / {cpu:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "highway", "drs", "deep"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", default="", help="models whose names begin with this")
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    try:
        if arguments.what == "speed":
            speed()
        elif arguments.what == "highway":
            highway(arguments.runs, arguments.only)
        elif arguments.what == "deep":
            deep(arguments.seconds)
        else:
            drs(arguments.runs, arguments.only, arguments.seconds)
    except UserError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
