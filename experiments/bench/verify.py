"""Verification: speed and memory of zone graphs, and queries of public UPPAAL models.

    verify.py zones             Fischer and CSMA/CD: states and CPU time, beside TChecker's
    verify.py uppaal FOLDER     every query stored in a model of FOLDER: how many are answered in 60 s and 4 GB each

TChecker cannot be installed by pip, so its figures are recorded ones, of another machine: compare numbers of states,
and times roughly.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import bbfalsify
from bbfalsify.core.errors import UserError
from bbfalsify.engines.verification.settings import VerifySettings
from bbfalsify.examples.models import named_model
from bbfalsify.logic.uppaal_queries import answered_elsewhere
from bbfalsify.modelling import load_model
from bbfalsify.modelling.formats.uppaal import is_uppaal
from bbfalsify.running.verify.verify import verify
from bbfalsify.zones.zone_exploration import warm_up
from bbfalsify.zones.zone_tables import Question, zone_tables

TCHECKER: dict[str, tuple[int, float] | None] = {
    "fischer:6": (3_458, 0.12), "fischer:7": (11_951, 0.52), "fischer:8": (40_536, 2.3), "fischer:9": (135_485, 10.8),
    "fischer:10": None,
    "csma-cd:8": (20_738, 1.1), "csma-cd:9": (55_554, 3.7), "csma-cd:10": (144_898, 10.6),
}  # fmt: skip
"""States visited and CPU seconds of its covering reachability, breadth first."""
KILL_AFTER_S = 30.0
"""Seconds beyond its own timeout after which a query is given up."""


def zones(only: str, runs: int) -> None:
    print(f"whole zone graph, breadth first, best of {runs} runs; matrix: bytes of one difference bound matrix\n")
    header = ("states", "stored", "CPU s", "TChecker", "CPU s", "bytes/stored", "matrix")
    print(f"{'':14}" + "".join(f"{text:>14}" for text in header))
    for name, peer in TCHECKER.items():
        if not name.startswith(only):
            continue
        network, _ = named_model(name)
        found = [bbfalsify.verify(network, "E<> false", heuristic="bfs", memory=4000) for _ in range(runs)]
        best, effort = min(one.cpu_seconds for one in found), found[0].answer.effort
        if found[0].verdict != "violated":
            raise SystemExit(f"{name}: {found[0].in_words()}")
        states, seconds = ("", "") if peer is None else (f"{peer[0]:,}", f"{peer[1]:g}")
        each = effort.memory_mb * 1e6 / effort.stored
        matrix = 4 * zone_tables(network, Question()).size ** 2
        row = (f"{effort.states:,}", f"{effort.stored:,}", f"{best:.2f}", states, seconds, f"{each:.0f}", f"{matrix}")
        print(f"{name:14}" + "".join(f"{text:>14}" for text in row), flush=True)


# --- public models ----------------------------------------------------------------------------------------------------


def uppaal(folder: Path, only: str, seconds: float, memory_gb: float) -> None:
    warm_up()  # once, in the parent of all
    counts: Counter[str] = Counter()
    for file, text in stored_queries(folder):
        if only not in str(file):
            continue
        begun = time.monotonic()
        verdict, rest = isolated(file, text, seconds, memory_gb)
        counts[verdict] += 1
        took = time.monotonic() - begun
        print(f"{verdict:10}{took:6.1f} s  {file.relative_to(folder)}  {' '.join(text.split())}", flush=True)
        if rest:
            print(f"{'':20}{rest}", flush=True)
    answered = counts["holds"] + counts["violated"]
    asked = counts.total() - counts["elsewhere"]
    print(
        f"\n{answered} of {asked} queries answered: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
    )


def stored_queries(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file with each of its queries; files without a network that can be read are told."""
    for file in sorted(file for file in folder.rglob("*") if file.is_file() and is_uppaal(file)):
        try:
            _, stored = load_model(file)
        except UserError as error:
            print(f"not read  {file.relative_to(folder)}: {error.problems[0].message}")
            continue
        yield from ((file, query.text) for query in stored if query.text.strip())


def isolated(file: Path, text: str, seconds: float, memory_gb: float) -> tuple[str, str]:
    """Return verdict and reason of one query, asked in a process of its own with limited memory."""
    if (other := answered_elsewhere(text)) is not None and "verify" not in other and "reach" not in other:
        return "elsewhere", other
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=asked_in_child, args=(sending, file, text, seconds, memory_gb))
    process.start()
    sending.close()
    try:
        return receiving.recv() if receiving.poll(seconds + KILL_AFTER_S) else ("hung", "")
    except EOFError:
        return "died", "out of memory, or killed"
    finally:
        process.kill()
        process.join()


def asked_in_child(sending: Connection, file: Path, text: str, seconds: float, memory_gb: float) -> None:
    most = int(memory_gb * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        network, _ = load_model(file)
        found = verify(network, text, VerifySettings(timeout=seconds, memory=800 * memory_gb), seed=1)
    except UserError as error:
        sending.send(("refused", str(error.problems[0].message)))
        return
    effort = found.answer.effort
    counts = f"{effort.states:,} states, {found.cpu_seconds:.2f} CPU s"
    sending.send((found.verdict, f"{found.answer.why} ({counts})" if found.answer.why else counts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("zones", "uppaal"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument(
        "--only", default="", help="models whose names begin with this, or files that have it in theirs"
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--memory", type=float, default=4.0, help="GB of address space of one query")
    arguments = parser.parse_args()
    if arguments.what == "zones":
        zones(arguments.only, arguments.runs)
    elif arguments.folder is None or not arguments.folder.is_dir():
        parser.error("uppaal needs a FOLDER of models.")
    else:
        uppaal(arguments.folder, arguments.only, arguments.seconds, arguments.memory)


if __name__ == "__main__":
    main()
