"""Commands that run an Octave or MATLAB script which serves a system with `bbfalsify_serve`.

ProcessSystem(octave_command(HERE / "serve_house.m"), inputs={"T_out": "degC"}, outputs={"T": "degC"})
"""

from __future__ import annotations

from pathlib import Path

FUNCTIONS = Path(__file__).parent / "mfiles"
"""The folder of bbfalsify_serve.m."""


def octave_command(script: str | Path, program: str = "octave-cli") -> list[str]:
    """Command for GNU Octave 7 or later; it ignores the user's start-up files, so that all machines run the same."""
    return [program, "--quiet", "--norc", "--no-history", "--path", str(FUNCTIONS), str(Path(script).resolve())]


def matlab_command(script: str | Path, program: str = "matlab") -> list[str]:
    """Command for MATLAB R2019a or later; its Java must stay on, because it reads standard input."""
    file = Path(script).resolve()
    folders = ", ".join("'" + str(folder).replace("'", "''") + "'" for folder in (FUNCTIONS, file.parent))
    return [program, "-batch", f"addpath({folders}); {file.stem}"]
