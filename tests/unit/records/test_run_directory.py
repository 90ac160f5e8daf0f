from concurrent.futures import ThreadPoolExecutor

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.records.run_directory import RunDirectory


def test_a_number_is_never_used_twice(tmp_path):
    paths = [RunDirectory.create(tmp_path, "heater").path for _ in range(3)]
    assert [p.name.rsplit("-", 1)[1] for p in paths] == ["1", "2", "3"]
    paths[0].rename(tmp_path / "kept elsewhere")
    assert RunDirectory.create(tmp_path, "heater").path.name.endswith("-4")


def test_runs_that_start_together_get_different_directories(tmp_path):
    with ThreadPoolExecutor(8) as threads:
        paths = list(threads.map(lambda _: RunDirectory.create(tmp_path, "x").path, range(24)))
    assert len(set(paths)) == 24


@pytest.mark.parametrize("name", ["../../etc", "a b/c", "", "käse", "x" * 300])
def test_a_name_cannot_leave_the_folder(tmp_path, name):
    path = RunDirectory.create(tmp_path, name).path
    assert path.parent == tmp_path and len(path.name) < 100 and path.is_dir()


def test_manifest_and_results_are_read_back(tmp_path):
    directory = RunDirectory.create(tmp_path, "heater")
    directory.write_manifest(seed=5, configuration={"horizon": 20, "list": [1, 2]}, adapter_sha256="ab", campaign="c")
    directory.write_results({"outcome": "falsified"})
    opened = RunDirectory.open(directory.path)
    manifest = opened.read_manifest()
    assert manifest["seed"] == 5 and manifest["configuration"]["list"] == [1, 2] and manifest["campaign"] == "c"
    assert {"bbfalsify", "python", "numpy"} <= set(manifest["versions"]) and manifest["platform"]
    assert opened.read_results() == {"outcome": "falsified"}
    files = ["counterexamples", "events.jsonl", "manifest.json", "results.json"]
    assert sorted(p.name for p in directory.path.iterdir()) == files


def test_what_is_not_a_run_directory_is_refused(tmp_path):
    with pytest.raises(UserError, match="not a run directory"):
        RunDirectory.open(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot make the run directory"):
        RunDirectory.create(tmp_path / "file", "x")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    directory = RunDirectory.create(tmp_path, "x")
    directory.write_results({"outcome": "falsified"})
    with pytest.raises(ValueError):
        directory.write_results({"outcome": float("nan")})
    assert directory.read_results() == {"outcome": "falsified"}
    assert len(list(directory.path.iterdir())) == 2
