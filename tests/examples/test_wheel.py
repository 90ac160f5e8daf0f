"""What `pip install` gives somebody who has no repository: the wheel, tried in an empty folder."""

import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def run(*arguments: object, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


def build_options() -> list[str]:
    """Build with the setuptools at hand, which is fast and needs no network, if it can build wheels by itself."""
    version = tuple(int(part) for part in metadata.version("setuptools").split(".")[:2])
    return ["--no-build-isolation"] if version >= (70, 1) else []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from a copy of the sources, so that nothing is left in the working tree."""
    folder = tmp_path_factory.mktemp("build")
    source = folder / "source"
    shutil.copytree(ROOT / "bbfalsify", source / "bbfalsify", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    built = run("-m", "pip", "wheel", "--no-deps", *build_options(), "-q", "-w", folder, source)
    assert built.returncode == 0, built.stderr
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> dict[str, str]:
    """The environment in which the wheel comes before the repository; dependencies are those of the tests."""
    target = tmp_path_factory.mktemp("installed")
    done = run("-m", "pip", "install", "--no-deps", "-q", "--target", target, wheel)
    assert done.returncode == 0, done.stderr
    return {**os.environ, "PYTHONPATH": str(target), "EXPECTED_HOME": str(target)}


def test_the_wheel_holds_the_package_its_data_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    data = {name for name in names if not name.endswith(".py")}
    assert {
        "bbfalsify/py.typed",
        "bbfalsify/modelling/language/language.lark",
        "bbfalsify/systems/programs/mfiles/bbfalsify_serve.m",
        "bbfalsify/examples/c/bbfalsify.h",
        "bbfalsify/examples/heater/campaign.yaml",
        "bbfalsify/examples/heater/profile.yaml",
        "bbfalsify/examples/heater/specification.yaml",
    } <= data
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"bbfalsify"}
    sources = {str(p.relative_to(ROOT)) for p in (ROOT / "bbfalsify").rglob("*.py")}
    assert sources == {name for name in names if name.endswith(".py")}


def test_the_installed_command_finds_its_example(installed, tmp_path):
    where = run("-c", "import bbfalsify; print(bbfalsify.__file__)", env=installed, cwd=tmp_path)
    assert where.stdout.startswith(installed["EXPECTED_HOME"])
    listed = run("-m", "bbfalsify.cli.main", "list", "examples", env=installed, cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    folder = Path(listed.stdout.split("(")[-1].strip(" )\n"))
    checked = run("-m", "bbfalsify.cli.main", "validate", folder / "campaign.yaml", env=installed, cwd=tmp_path)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.slow
def test_the_installed_example_runs(installed, tmp_path):
    """Slow because a fresh installation compiles its kernel."""
    done = run("-m", "bbfalsify.cli.main", "run", "--example", "heater", env=installed, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "R1 falsified (as expected)" in done.stdout
