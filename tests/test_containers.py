"""The action and the image keep the compiled kernel where bbfalsify looks for it, and call commands that exist."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


def test_the_action_names_the_cache_and_the_key_that_belong_to_the_sources(tmp_path):
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    named = next(step for step in steps if step.get("id") == "kernel")
    script = re.search(r"<<'END'\n(.*)\nEND", named["run"], re.DOTALL)[1]
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    from bbfalsify.jit import build_digest

    assert said.startswith("key=bbfalsify-") and build_digest()[:16] in said
    cached = next(step["with"]["path"] for step in steps if "cache" in step.get("uses", ""))
    code = "from bbfalsify.jit import cache_folder; print(cache_folder().parent)"
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    place = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=ROOT)
    assert place.stdout.strip() == cached.replace("~", str(tmp_path)), place.stderr


def test_the_image_is_made_of_files_and_commands_that_exist(tmp_path):
    text = (ROOT / "Dockerfile").read_text()
    copied = [name for line in re.findall(r"^COPY (.*)", text, re.MULTILINE) for name in line.split()[:-1]]
    assert copied and all((ROOT / name).exists() for name in copied)
    extras = re.search(r"/src\[(.*?)\]", text)[1].split(",")
    declared = (ROOT / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = ", declared, re.MULTILINE) for extra in extras)
    [run] = re.findall(r"&& (bbfalsify run [^&]*) &&", text)
    assert run == "bbfalsify run --example heater --out /tmp/runs -q"


def shell(command, folder, **variables):
    """Execute a step as the image or the action does, in an environment of its own."""
    path = f"{folder / 'venv/bin'}:/usr/bin:/bin"
    passed = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or "proxy" in name.lower()}
    environment = passed | {"HOME": str(folder / "home"), "PATH": path} | {k: str(v) for k, v in variables.items()}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture
def empty_machine(tmp_path):
    (tmp_path / "home").mkdir()
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    return tmp_path


@pytest.mark.slow
def test_the_steps_of_the_image_work_and_leave_a_warm_cache(empty_machine):
    """All of the Dockerfile but its base image, with its folders moved into a temporary one."""
    text = (ROOT / "Dockerfile").read_text()
    moved = {"/src": "src", "/tmp": "tmp", "/var/cache": "cache"}
    for name in moved.values():
        (empty_machine / name).mkdir()
    variables = dict(pair.split("=") for line in re.findall(r"^ENV (.*)", text, re.MULTILINE) for pair in line.split())
    variables["XDG_CACHE_HOME"] = empty_machine / moved[variables["XDG_CACHE_HOME"]]
    for step, rest in re.findall(r"^(COPY|RUN) (.*)", text, re.MULTILINE):
        if step == "COPY":
            *names, target = rest.split()
            for name in names:
                here, there = ROOT / name, empty_machine / target.strip("/")
                shutil.copytree(here, there) if here.is_dir() else shutil.copy(here, there)
        else:
            shell(
                re.sub("|".join(moved), lambda found: str(empty_machine / moved[found[0]]), rest),
                empty_machine,
                **variables,
            )
    assert not (empty_machine / "src").exists()
    said = shell("bbfalsify run --example heater --out again 2>&1", empty_machine, **variables)
    assert "compiling" not in said and "R1 falsified" in said


@pytest.mark.slow
def test_the_shell_steps_of_the_action_run_a_campaign_and_keep_its_reports(empty_machine):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    given = {name: str(entry.get("default", "")) for name, entry in action["inputs"].items()}
    given |= {"campaign": str(ROOT / "experiments/heater/campaign.yaml"), "arguments": "--jobs 2"}
    outputs = empty_machine / "outputs"
    for step in action["runs"]["steps"]:
        if "run" not in step:
            continue
        own = {
            k: re.sub(r"\$\{\{ inputs\.(.*?) \}\}", lambda m: given[m[1]], v) for k, v in step.get("env", {}).items()
        }
        shell(step["run"], empty_machine, GITHUB_ACTION_PATH=ROOT, GITHUB_OUTPUT=outputs, **own)
    assert outputs.read_text().startswith("key=bbfalsify-")
    assert (empty_machine / "home/.cache/bbfalsify").is_dir()
    assert (empty_machine / "runs/junit.xml").is_file() and list((empty_machine / "runs").glob("*/report.html"))
