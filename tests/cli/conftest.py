"""Commands are called in this process, through the same `main` that the installed script calls."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer.main

from bbfalsify.cli.main import main
from bbfalsify.examples import example_folder

_put_together, _made = typer.main.get_command, {}


def get_command(app: typer.Typer):
    """Typer puts all commands together at every call, which takes longer than most: here only where one was added."""
    key = id(app), app.info.epilog, *(command.name for command in app.registered_commands)
    if key not in _made:
        _made[key] = _put_together(app)
    return _made[key]


typer.main.get_command = get_command


@dataclass(frozen=True)
class Called:
    code: int
    out: str
    err: str

    @property
    def problems(self) -> list[str]:
        return self.err.splitlines()

    @property
    def json(self) -> dict:
        return json.loads(self.out)


@pytest.fixture
def written(tmp_path):
    """Write a file into the folder of the test."""

    def write(name: str, text: str) -> Path:
        file = tmp_path / name
        file.write_text(text)
        return file

    return write


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path):
    """Call a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)  # it silences progress, and tests of it run on CI servers, too

    def call(*arguments: object) -> Called:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["bbfalsify", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Called(ended.value.code, captured.out, captured.err)

    return call


@pytest.fixture
def heater(tmp_path) -> Path:
    """A copy of the heater example that a test may spoil."""
    folder = tmp_path / "heater"
    shutil.copytree(example_folder("heater"), folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder
