from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SHELVES = ("adapters", "profiles", "specs", "experiments")


def make_desk(folder: Path) -> Path:
    """A folder in which the shelves can be seen, so that what examples write stays out of the repository."""
    for shelf in SHELVES:
        (folder / shelf).symlink_to(ROOT / shelf)
    return folder


@pytest.fixture
def desk(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return make_desk(tmp_path)
