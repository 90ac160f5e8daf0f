"""Options that several commands share, so that they look and mean the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bbfalsify.core.errors import Problem

if TYPE_CHECKING:
    from bbfalsify.cli.ci_files import CiFiles


def not_positive(options: Mapping[str, float | None]) -> list[Problem]:
    """Name the options that were given and are no positive number."""
    given = {name: value for name, value in options.items() if value is not None}
    wrong = {name: value for name, value in given.items() if not (value > 0 and math.isfinite(value))}
    return [Problem(f"{name} must be a positive number; found {value:g}.") for name, value in wrong.items()]


def _output(*names: str, **shown: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Output", **shown)


def repeated(metavar: str | None, sentence: str, *names: str, **shown: Any) -> Any:
    """An option that may be given several times; its name is that of the parameter unless given."""
    return typer.Option(*names, metavar=metavar, help=f"{sentence}; repeat.", **shown)


Texts = list[str] | None
AsJson = Annotated[bool, _output("--json", help="Print one JSON object on stdout, for machines.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of every random choice; drawn if absent.")]
Out = Annotated[Path | None, _output("--out", help="Folder for run directories.", show_default="runs")]
Quiet = Annotated[bool, _output("-q", "--quiet", help="No progress.")]
Verbose = Annotated[bool, _output("-v", "--verbose", help="More detail; tracebacks of unexpected errors.")]
Resume = Annotated[
    Path | None, typer.Option("--resume", metavar="RUN_DIR", help="Continue an earlier run of the same command.")
]
StoreFolder = Annotated[
    Path | None, typer.Option("--store", metavar="DIR", help="Replay what is known first; keep what is new.")
]
AcceptFile = Annotated[
    Path | None, typer.Option("--accept", metavar="FILE", help="Accepted failures; see 'bbfalsify accept'.")
]
ModelFile = Annotated[Path | None, typer.Argument(metavar="MODEL", help="A model.", show_default=False)]
Queries = Annotated[
    Texts,
    repeated(None, "A query, or the number of one stored in the file", show_default="those stored with the model"),
]
ExampleModel = Annotated[
    str | None, typer.Option("--example", metavar="NAME:SIZE", help="A model of 'bbfalsify list models'.")
]
SetConstants = Annotated[Texts, repeated("NAME=VALUE", "Another value for a constant of the model", "--set")]
JunitFile = Annotated[
    Path | None, _output("--junit", metavar="FILE", help="Write JUnit XML: a requirement is a test case.")
]
SarifFile = Annotated[Path | None, _output("--sarif", metavar="FILE", help="Write SARIF, for code scanning.")]
Annotations = Annotated[
    bool | None,
    _output(
        "--annotations/--no-annotations", help="Annotate code on GitHub.", show_default="where GITHUB_ACTIONS is true"
    ),
]


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """Options that choose a model: a file, or one that ships, with other values for its constants."""

    model: ModelFile = None
    example: ExampleModel = None
    constants: SetConstants = None


@dataclass(frozen=True, kw_only=True)
class Session:
    """Options of all commands that run something: the seed, the output, and the settings of the engine."""

    seed: Seed = None
    junit: JunitFile = None
    sarif: SarifFile = None
    annotations: Annotations = None
    out: Out = None
    as_json: AsJson = False
    quiet: Quiet = False
    verbose: Verbose = False
    given: dict[str, Any] = field(default_factory=dict)
    """The settings that were given, as a campaign file would have them."""

    def files(self) -> CiFiles:
        """Return the files for other machines; one that cannot be written is refused now."""
        from bbfalsify.cli.ci_files import ci_files

        return ci_files(self.junit, self.sarif, self.annotations, as_json=self.as_json)
