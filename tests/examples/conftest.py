from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SHELVES = ("adapters", "profiles", "specs", "experiments")


def make_desk(folder: Path) -> Path:
    """A folder in which the shelves can be seen, and added to, so that examples write nothing into the repository."""
    for shelf in SHELVES:
        (folder / shelf).mkdir()
        for thing in (ROOT / shelf).iterdir():
            (folder / shelf / thing.name).symlink_to(thing)
    return folder


@pytest.fixture
def desk(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return make_desk(tmp_path)
