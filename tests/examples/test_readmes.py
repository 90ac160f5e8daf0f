"""READMEs say what is true; the pages of the manual are played in `test_manual.py`."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bbfalsify.cli.main import app
from tests.examples.documents import BLOCKS, PAGES, READMES, ROOT, command

PYTHON = [b for b in BLOCKS if b.language == "python"]
COMMANDS = {info.name for info in app.registered_commands}


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_snippets_run(block, desk, fmus):
    """As a script of its own, in a folder that has the shelves and, where one is needed, an FMU."""
    if "heater.fmu" in block.text:
        shutil.copy(fmus.build("heater"), desk / "heater.fmu")
    script = desk / "snippet.py"
    script.write_text(block.text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command_line = [sys.executable, str(script)]
    done = subprocess.run(command_line, capture_output=True, text=True, timeout=600, cwd=desk, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", READMES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    """To a file, and to a heading of it; those of the manual are checked when it is built."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "code", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    missing = []
    for link in re.findall(r"\]\(([^)]+)\)|src=\"([^\"]+)\"", prose):
        file, _, heading = "".join(link).partition("#")
        target = page.parent / file if file else page
        if not file.startswith("http") and (not target.exists() or (heading and heading not in headings(target))):
            missing.append("".join(link))
    assert missing == []


def headings(page: Path) -> set[str]:
    """Headings as links name them."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_commands_that_exist_are_shown(page):
    """In code: fenced, indented, or between backticks."""
    code = re.findall(r"^```.*?^```$|^ {4}[^\n]*$|`[^`\n]+`", page.read_text(encoding="utf-8"), re.M | re.S)
    shown = re.findall(r"(?<!from )(?<!import )\bbbfalsify ([a-z]+)\b(?= [A-Z-]|`| \w+/)", "\n".join(code))
    own = {"shout"} if page.name == "engine.md" else set()  # the engine that this page adds
    assert set(shown) <= COMMANDS | own


def test_the_commands_are_one_line_and_set_everything_up():
    for name in ("run", "test"):
        words = shlex.split(command(name).replace("{", "").replace("}", "").replace(";", ""))
        assert "venv" in words and ".venv/bin/pip" in words
        assert all((ROOT / word).is_file() for word in words if word.endswith(".sh"))


def test_ci_runs_the_command_of_the_readme():
    """The script's own extraction, without executing what it extracts."""
    script = (ROOT / ".ci" / "run").read_text().replace('exec bash -c "$command"', "")
    done = subprocess.run(["bash", "-c", script, str(ROOT / ".ci" / "run")], capture_output=True, text=True, timeout=30)
    assert done.stdout == f"$ {command('test')}\n"
