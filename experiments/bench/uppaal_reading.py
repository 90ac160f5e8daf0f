"""How many UPPAAL models are read, and how fast: `python experiments/bench/uppaal_reading.py [FOLDER]`.

Reads each file under FOLDER that ends in .xml, .xta or .ta; prints the first problem of each refused one, the most
frequent refusals (numbers and names left out), the slow files and the share read; how many of the stored queries are
answered by walks, and how many handed on to another command.  Then the CPU time for a generated
model of 10,000 locations (target: 10 s), and for the tables of 1,000 processes that pass on a token (target: 0.5 s).
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bbfalsify.core.errors import UserError
from bbfalsify.kernel import compile_network
from bbfalsify.logic.reach_query import parse_asked
from bbfalsify.logic.uppaal_queries import answered_elsewhere
from bbfalsify.modelling import Network, load_model
from bbfalsify.modelling.formats.uppaal import is_uppaal

LOCATIONS = 10_000
PROCESSES = 1_000
SLOW = 3.0
"""Files that take more seconds of CPU time are listed."""
MOST_REASONS = 20


def count(folder: Path) -> None:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and is_uppaal(file))
    refused, slow = {}, {}
    queries: Counter[str] = Counter()
    for file in files:
        start = time.process_time()
        try:
            network, stored = load_model(file)
            queries.update(understood(network, query.text) for query in stored if query.text.strip())
        except UserError as error:
            refused[file] = error.problems
        seconds = time.process_time() - start
        if seconds > SLOW:
            slow[file] = seconds
    for file, problems in refused.items():
        first, more = problems[0], len(problems) - 1
        print(f"{file.relative_to(folder)}:{first.line}: {first.message}{f'  (and {more} more)' if more else ''}")
    reasons = Counter(re.sub(r"'[^']*'|\d+", "…", problems[0].message) for problems in refused.values())
    for reason, times in reasons.most_common(MOST_REASONS):
        print(f"{times:5} × {reason}")
    for file, seconds in slow.items():
        print(f"{file.relative_to(folder)}: {seconds:.1f} s of CPU time")
    read = len(files) - len(refused)
    parts = ", ".join(f"{times} {what}" for what, times in sorted(queries.items()))
    print(f"{sum(queries.values())} stored queries: {parts}")
    print(f"{read} of {len(files)} models read ({100 * read / max(len(files), 1):.1f} %)")


def understood(network: Network, text: str) -> str:
    """Who answers a stored query; "not understood" if nobody does."""
    if answered_elsewhere(text) is not None:
        return "handed on"
    try:
        parse_asked(text, network)
    except UserError as error:
        print(f"query not understood: {error.problems[0]}")
        return "not understood"
    return "answered"


def large_model(locations: int) -> str:
    """A ring of locations with invariants, and an edge from each with guard, channel and update."""
    parts = [
        f'<location id="id{i}"><name>L{i}</name><label kind="invariant">x &lt;= {i % 50 + 5}</label></location>'
        for i in range(locations)
    ]
    parts.append('<init ref="id0"/>')
    parts += [
        f'<transition><source ref="id{i}"/><target ref="id{(7 * i + 1) % locations}"/>'
        f'<label kind="guard">x &gt;= {i % 5} &amp;&amp; n &lt; {i}</label>'
        f'<label kind="synchronisation">c[{i % 5}]!</label>'
        f'<label kind="assignment">x = 0, n = {i % 9}</label></transition>'
        for i in range(locations)
    ]
    return (
        "<nta><declaration>clock x; int n; broadcast chan c[5];</declaration><template><name>P</name>"
        + "\n".join(parts)
        + "</template><system>system P;</system></nta>"
    )


def ring(processes: int) -> str:
    """Processes that pass on a token: each sends on a broadcast channel of its own, and receives the one before."""
    return f"""typedef int[0,{processes - 1}] id_t; broadcast chan c[id_t]; clock x[id_t];
process P(id_t i) {{ state A {{ x[i] <= 5 }}, B; init B;
  trans B -> A {{ sync c[(i + {processes - 1}) % {processes}]?; assign x[i] = 0; }},
        A -> B {{ guard x[i] >= 2; sync c[i]!; }}; }}
system P;
"""


def main() -> None:
    if len(sys.argv) > 1:
        count(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.xml"
        file.write_text(large_model(LOCATIONS), encoding="utf-8")
        start = time.process_time()
        load_model(file)
        print(f"a model of {LOCATIONS} locations: {time.process_time() - start:.1f} s of CPU time (target 10)")
        file = Path(folder) / "ring.xta"
        file.write_text(ring(PROCESSES), encoding="utf-8")
        network, _ = load_model(file)
        start = time.process_time()
        compile_network(network)
        print(
            f"tables of {PROCESSES} processes in a ring: {time.process_time() - start:.2f} s of CPU time (target 0.5)"
        )


if __name__ == "__main__":
    main()
