"""Pack the thermal house as an FMU:  python adapters/thermal_house_fmu/build.py [FOLDER, default: beside this file].

Needs `pip install pythonfmu`, no compiler.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODEL = HERE.parent / "thermal_house" / "thermal_house_model.py"


def build(folder: Path) -> Path:
    from pythonfmu import FmuBuilder

    sys.path.insert(0, str(MODEL.parent))
    return FmuBuilder.build_FMU(HERE / "thermal_house.py", dest=folder, project_files=[MODEL])


if __name__ == "__main__":
    sys.stdout.write(f"{build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)}\n")
