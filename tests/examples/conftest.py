from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SHELVES = ("adapters", "profiles", "specs", "experiments")


@pytest.fixture
def desk(tmp_path, monkeypatch) -> Path:
    """An empty folder in which the shelves can be seen, so that what examples write stays out of the repository."""
    for shelf in SHELVES:
        (tmp_path / shelf).symlink_to(ROOT / shelf)
    monkeypatch.chdir(tmp_path)
    return tmp_path
