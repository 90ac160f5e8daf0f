"""Pack the automatic transmission and the chasing cars as FMUs of FMI 2.0.

    python experiments/arch/make_fmus.py [FOLDER, default: beside this file]

Needs `pip install pythonfmu`, no compiler.  The FMUs run the equations of `adapters/` and need bbfalsify in the Python
that runs them.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ADAPTERS = HERE.parent.parent / "adapters"
MODELS = {
    "automatic_transmission": ADAPTERS / "automatic_transmission" / "transmission_model.py",
    "chasing_cars": ADAPTERS / "chasing_cars" / "cars_model.py",
}
"""Scripts in `fmus/`, and the equations that each of them shares with its adapter."""


def build(script: str, folder: Path) -> Path:
    from pythonfmu import FmuBuilder

    model, base = MODELS[script], HERE / "fmus" / "stepping.py"
    sys.path[:0] = [str(model.parent), str(base.parent)]
    return FmuBuilder.build_FMU(HERE / "fmus" / f"{script}.py", dest=folder, project_files=[model, base])


def main(arguments: list[str]) -> None:
    """Each FMU is built by a process of its own, because pythonfmu imports the script into its process."""
    folder = Path(arguments[0]) if arguments else HERE
    if len(arguments) == 2:
        sys.stdout.write(f"{build(arguments[1], folder)}\n")
        return
    for script in MODELS:
        subprocess.run([sys.executable, __file__, str(folder), script], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
