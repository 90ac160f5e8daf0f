"""The action and the image keep the compiled kernel where bbfalsify looks for it, and call commands that exist."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def test_the_action_names_the_cache_and_the_key_that_belong_to_the_sources(tmp_path):
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    named = next(step for step in steps if step.get("id") == "kernel")
    script = re.search(r"<<'END'\n(.*)\nEND", named["run"], re.DOTALL)[1]
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    from bbfalsify.jit import source_digest

    assert said.startswith("key=bbfalsify-") and source_digest()[:16] in said
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
