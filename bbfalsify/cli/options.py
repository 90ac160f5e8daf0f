"""Options that several commands share, so that they look and mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, for machines.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of every random choice; drawn if absent.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for run directories.", show_default="runs")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="More detail; tracebacks of unexpected errors.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Worker processes; does not change results.")]
ExecutorOption = Annotated[
    str | None,
    typer.Option(
        "--executor", metavar="WHERE", help="in-process, dask or dask:ADDRESS; does not change results.",
        show_default="local",
    ),
]  # fmt: skip
StoreFolder = Annotated[
    Path | None, typer.Option("--store", metavar="DIR", help="Replay what is known first; keep what is new.")
]
AcceptFile = Annotated[
    Path | None, typer.Option("--accept", metavar="FILE", help="Accepted failures; see 'bbfalsify accept'.")
]
JunitFile = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML: a requirement is a test case.")
]
Annotations = Annotated[
    bool | None,
    typer.Option(
        "--annotations/--no-annotations", help="Annotate code on GitHub.", show_default="where GITHUB_ACTIONS is true"
    ),
]
SarifFile = Annotated[Path | None, typer.Option("--sarif", metavar="FILE", help="Write SARIF, for code scanning.")]
