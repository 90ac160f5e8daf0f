"""Run directories damaged at random: every command says what is wrong, none of them fails, and no verdict changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bbfalsify.examples import example_folder
from tests.cli.conftest import cli  # noqa: F401 - a fixture
from tests.hostile.test_engines_killed import conclusion
from tests.support.machines import DOOR
from tests.support.recorded import unsealed

HEATER = """
format_version: 1
name: heater
system: system.py:heater
profile: profile.yaml
requirements: [{id: R1, stl: "always[0:20](T <= 75)"}]
engine: {kind: falsify, horizon: 20, counterexamples: 3, simulations: 66, passes: 2, traces: 5, shrink: 0, fan: 5}
seed: SEEDS
"""
CAMPAIGNS = {
    "falsify": HEATER.replace("SEEDS", "1"),
    "several": HEATER.replace("SEEDS", "[1, 2]").replace("simulations: 66", "simulations: 44"),
    "check": """
format_version: 1
name: door
system: door.dot
requirements: [{id: R1, ltl: "G(in == lock -> out == ok)"}, {id: R2, ltl: "G(out != never)"}]
engine: {kind: check, max_states: 4}
seed: 1
""",
    "reach": """
format_version: 1
name: fischer
model: example:fischer-faulty:3
engine: {kind: reach, heuristic: portfolio, trace: shortest, walks: 110, timeout: null}
seed: 1
""",
}
FAULTS = ("swap", "zero", "truncate", "flip", "drop", "double", "empty", "field")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A folder with the campaigns, to be run by the first test that needs them."""
    folder = tmp_path_factory.mktemp("whole")
    for name in ("system.py", "profile.yaml"):
        shutil.copy(example_folder("heater") / name, folder)
    (folder / "door.dot").write_text(DOOR)
    for name, text in CAMPAIGNS.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder


def results_of(directory: Path) -> dict[str, Any]:
    files = sorted(directory.rglob("results.json"))
    return {str(f.relative_to(directory)): conclusion(json.loads(f.read_text())) for f in files}


def run_whole(cli, folder: Path, name: str) -> Path:  # noqa: F811
    if not (folder / "runs" / name).exists():
        called = cli("run", folder / f"{name}.yaml", "-q", "--out", folder / "new")
        assert called.code in (0, 1), called.err
        [made] = (folder / "new").iterdir()
        (folder / "runs").mkdir(exist_ok=True)
        made.rename(folder / "runs" / name)
        for file in (folder / "runs" / name).rglob("*.html"):
            file.unlink()
    return folder / "runs" / name


def damage(file: Path, fault: str, rng: np.random.Generator) -> str:
    """Spoil a file; returns what was done."""
    data = bytearray(file.read_bytes())
    lines = bytes(data).splitlines(keepends=True)
    first, second = sorted(int(i) for i in rng.integers(0, max(1, len(data)), 2))
    line, other = (int(i) for i in rng.integers(0, max(1, len(lines)), 2))
    if fault == "empty":
        data.clear()
    elif fault == "truncate":
        del data[first:]
    elif fault == "zero":
        data[first:second] = bytes(second - first)
    elif fault == "flip" and data:
        for place in rng.integers(0, len(data), int(rng.integers(1, 4))):
            data[place] ^= 1 << int(rng.integers(8))
    elif lines:
        if fault == "swap":
            lines[line], lines[other] = lines[other], lines[line]
        elif fault == "drop":
            del lines[line]
        elif fault == "double":
            lines.insert(other, lines[line])
        else:  # a field of a line
            parts = lines[line].split(b",")
            del parts[int(rng.integers(len(parts)))]
            lines[line] = b",".join(parts)
        data = bytearray(b"".join(lines))
    file.write_bytes(data)
    return f"{fault} {file.name} ({first}, {second}, {line}, {other})"


def spoil_and_use(cli, whole: Path, folder: Path, seed: int) -> str:  # noqa: F811
    """One case: an engine, a file, a fault; then resume and look.  Returns what was done."""
    rng = np.random.default_rng(seed)
    name = sorted(CAMPAIGNS)[int(rng.integers(len(CAMPAIGNS)))]
    before = run_whole(cli, whole, name)
    expected = results_of(before)
    place = folder / f"{name}-{seed}"
    shutil.copytree(before, place)
    if rng.random() < 0.5:  # interrupted, with or without its results
        for results in place.rglob("results.json"):
            results.unlink()
    if rng.random() < 0.25:
        for log in place.rglob("events.jsonl"):  # of an older version
            unsealed(log)
    kinds = (".json", ".jsonl", ".npz")
    files = sorted(file for file in place.rglob("*") if file.suffix in kinds and file.stat().st_size)
    done = f"case {seed}: {name}: " + damage(
        files[int(rng.integers(len(files)))], FAULTS[int(rng.integers(len(FAULTS)))], rng
    )
    look = ("show", "report", "compare", "replay")[int(rng.integers(4))]
    run = next(iter(sorted(place.glob("runs/*")))) if name == "several" and look == "show" else place
    targets: list[Any] = [run]
    if look == "compare":
        targets = [before, place]
    elif look == "replay":
        targets = sorted(place.rglob("counterexamples/*.json"))[:1]
    if targets:
        seen = cli(look, *targets, *(("--json",) if look == "show" else ()))
        assert seen.code in (0, 1, 2, 4) and "Traceback" not in seen.err, (done, look, seen)
        if look == "show" and seen.code == 0 and name != "several":
            [sound] = expected.values()
            assert seen.json["outcome"] == sound["outcome"], (done, seen.out)
    called = cli("run", whole / f"{name}.yaml", place, "--resume", "-q")
    assert called.code in (0, 1, 2, 4) and "Traceback" not in called.err, (done, called)
    found = results_of(place)
    if "the events are lost" in called.err:  # a check then begins with the words that it knows, and counts anew
        found, expected = ({file: row["outcome"] for file, row in rows.items()} for rows in (found, expected))
    if called.code in (0, 1):  # a run of several may have failed, which its campaign says
        assert all(found[file] == expected[file] for file in found), (done, called.err)
        assert len(found) == len(expected) or (name == "several" and "error: " in called.out), (done, called)
    else:
        assert called.err.strip(), done
    return done


@pytest.mark.parametrize("seed", range(20))
def test_damage_is_named_and_no_verdict_changes(cli, whole, tmp_path, seed):  # noqa: F811
    spoil_and_use(cli, whole, tmp_path, seed)


@pytest.mark.slow
def test_two_hundred_damaged_directories(cli, whole, tmp_path):  # noqa: F811
    done = [spoil_and_use(cli, whole, tmp_path, seed) for seed in range(100, 300)]
    assert len(done) == 200
