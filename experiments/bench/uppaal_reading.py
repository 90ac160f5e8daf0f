"""How many UPPAAL models are read, and how fast: `python experiments/bench/uppaal_reading.py [FOLDER]`.

Of each file under FOLDER that ends in .xml, .xta or .ta: is it read, and if not, what does the reader say first?  Then
the CPU time for a generated model of 10,000 locations (target: 10 s).
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import load_model
from bbfalsify.modelling.formats.uppaal import is_uppaal

LOCATIONS = 10_000


def count(folder: Path) -> None:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and is_uppaal(file))
    refused = {}
    for file in files:
        try:
            load_model(file)
        except UserError as error:
            refused[file] = error.problems
    for file, problems in refused.items():
        first, more = problems[0], len(problems) - 1
        print(f"{file.relative_to(folder)}:{first.line}: {first.message}{f'  (and {more} more)' if more else ''}")
    read = len(files) - len(refused)
    print(f"{read} of {len(files)} models read ({100 * read / max(len(files), 1):.1f} %)")


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


def main() -> None:
    if len(sys.argv) > 1:
        count(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.xml"
        file.write_text(large_model(LOCATIONS), encoding="utf-8")
        start = time.process_time()
        load_model(file)
        print(f"a model of {LOCATIONS} locations: {time.process_time() - start:.1f} s of CPU time (target 10)")


if __name__ == "__main__":
    main()
