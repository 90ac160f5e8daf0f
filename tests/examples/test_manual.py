"""The manual: it builds without a warning, needs no network, and every page does what it says.

A page is a session in one folder, from top to bottom:

    ```sh                            is executed; `<!-- exit: 1 -->` before it says how its last command ends
    ```python                        is executed as a script of its own
    <!-- file: NAME -->              before a block: it is written to a file
    <!-- output -->                  before a block: the command above prints these lines, up to numbers; … skips some
    <!-- not run: REASON -->         before a block: it is only shown
    <!-- run as: COMMAND -->         before a block: this is executed in its place
    ```yaml with format_version      is a valid file
"""

import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from bbfalsify.cli.main import main
from bbfalsify.cli.validate import check_file
from tests.examples.documents import MANUAL, ROOT, Block, blocks_of, shape
from tests.test_architecture import LOOKS_AT

PLAYED = {"sh", "python", "yaml"}
SESSIONS = {page: blocks_of(page) for page in MANUAL}
SESSIONS = {page: blocks for page, blocks in SESSIONS.items() if PLAYED & {block.language for block in blocks}}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The manual, built as its command does: a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        config.plugins.on_shutdown()
    return folder


def test_the_manual_builds_without_a_warning(site):
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in MANUAL}
    assert all((site / page).is_file() for page in pages)


def test_the_manual_needs_no_network(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?([^\"' >]+)", text)
        fetched += re.findall(r"<link\b[^>]*\bhref=[\"']?([^\"' >]+)", text)
        assert not [url for url in fetched if re.match(r"(https?:)?//", url)], page


def test_every_page_says_what_it_generates(site):
    """No placeholder and no formula is left as it was written."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<!-- generated" not in text and 'class="arithmatex"' not in text, page


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_does_what_it_says(page, desk, fmus, capfd, monkeypatch):
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(desk))
    session = Session(desk, fmus, capfd, monkeypatch)
    try:
        for block in SESSIONS[page]:
            session.play(block)
    finally:  # another page may have a module of the same name
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", None)).startswith(str(desk)):
                del sys.modules[name]


class Session:
    """One folder, in which the blocks of a page are played one after the other."""

    def __init__(self, desk: Path, fmus, capfd, monkeypatch) -> None:
        self.desk, self.fmus, self.capfd, self.monkeypatch = desk, fmus, capfd, monkeypatch
        self.printed = self.said = ""
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(desk), str(ROOT)])}
        self.environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        monkeypatch.delenv("CI", raising=False)

    def play(self, block: Block) -> None:
        if block.marked("not run") is not None:
            return
        name = block.marked("file")
        if name is not None:
            file = self.desk / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        if block.marked("output") is not None:
            self.compare(block)
        elif block.language == "sh":
            self.run(block)
        elif block.language == "python" and name is None:
            self.script(block)
        elif block.language == "yaml" and "format_version" in block.text:
            self.validate(block, name)

    def run(self, block: Block) -> None:
        text = block.marked("run as") or block.text
        lines = [line for line in text.replace("\\\n", "").splitlines() if line and not line.startswith("#")]
        codes, self.printed = [], ""
        for line in lines:
            simple = line.startswith("bbfalsify ") and not re.search(r"(?<!\S)([|>&;]|&&)(?!\S)", line)
            code, printed = self.command(line) if simple else self.shell(line)
            codes.append(code)
            self.printed += printed
        expected = [0] * (len(lines) - 1) + [int(block.marked("exit") or 0)]
        assert codes == expected, f"{block}: {self.printed}\n{self.said}"

    def command(self, line: str) -> tuple[int, str]:
        """A command of ours, called in this process: a new one costs a second."""
        words = [w for word in shlex.split(line, comments=True)[1:] for w in self.expanded(word)]
        self.monkeypatch.setattr(sys, "argv", ["bbfalsify", *words])
        self.capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        printed, self.said = self.capfd.readouterr()
        return ended.value.code, printed

    def expanded(self, word: str) -> list[str]:
        """As a shell would, where something of that name is there."""
        found = sorted(glob.glob(word)) if "*" in word and " " not in word else []
        return found or [word]

    def shell(self, line: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, timeout=600, cwd=self.desk, env=self.environment
        )
        return done.returncode, done.stdout + (done.stderr if done.returncode else "")

    def script(self, block: Block) -> None:
        """As a script of its own, beside an FMU where one is needed."""
        if "heater.fmu" in block.text and not (self.desk / "heater.fmu").exists():
            shutil.copy(self.fmus.build("heater"), self.desk / "heater.fmu")
        script = self.desk / "snippet.py"
        script.write_text(block.text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            timeout=600,
            cwd=self.desk,
            env=self.environment,
        )
        assert done.returncode == 0, f"{block}: {done.stderr}"
        self.printed = done.stdout

    def validate(self, block: Block, name: str | None) -> None:
        file = self.desk / (name or f"snippet-{block.line}.yaml")
        file.write_text(block.text, encoding="utf-8")
        check_file(file.relative_to(self.desk))

    def compare(self, block: Block) -> None:
        """Each line is printed, in this order, exactly or up to numbers; where a … stands there may be others."""
        printed = [" ".join(line.split()) for line in self.printed.splitlines()]
        at, skips = 0, True
        for line in (" ".join(line.split()) for line in block.text.splitlines()):
            if line == "…":
                skips = True
                continue
            rest = printed[at:] if skips else printed[at : at + 1]
            place = _place(line, rest)
            assert place is not None, f"{block}: '{line}' is not printed; printed:\n" + "\n".join(printed[at:])
            at += place + 1
            skips = False


def _place(line: str, printed: list[str]) -> int | None:
    if line in printed:
        return printed.index(line)
    shapes = [shape(other) for other in printed]
    return shapes.index(shape(line)) if shape(line) in shapes else None


RUNS = (
    "falsify --system adapters/heater --profile profiles/heater_user.yaml --require 'always[0:20](T <= 75)' "
    "--horizon 20 --simulations 150 --traces 10 --smc sequence --smc-simulations 50 --columns d8",
    "check --system adapters/heater --symbol on:heat=1 --symbol off:heat=0 --period 5 --max-states 3 "
    "--require 'always(T <= 75)'",
    "reach --example fischer-faulty:4 --trace shortest --walks 50",
)


@pytest.mark.parametrize("line", RUNS, ids=lambda line: line.split()[0])
def test_every_field_of_results_is_described(line, desk, fmus, capfd, monkeypatch):
    code, printed = Session(desk, fmus, capfd, monkeypatch).command(f"bbfalsify {line} --seed 1 --json -q")
    [results] = desk.glob("runs/*/results.json")
    described = set(
        re.findall(r"[`\"](\w+)[`\"]", (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8"))
    )
    assert code == 1
    assert _fields(json.loads(printed)) | _fields(json.loads(results.read_text())) <= described


NAMED_BY_USERS = (
    "asked",
    "units",
    "quantiles",
    "varies",
    "versions",
    "changes",
    "variables",
    "locations",
    "reals",
    "integers",
)


def _fields(data) -> set[str]:
    """Names of fields at any depth."""
    if isinstance(data, list):
        return set().union(*map(_fields, data))
    if not isinstance(data, dict):
        return set()
    inner = (value for name, value in data.items() if name not in NAMED_BY_USERS)
    return set(data).union(*map(_fields, inner))


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_are_there(page):
    """Files of the repository, but for those that the page tells the reader to write."""
    text = page.read_text(encoding="utf-8")
    paths = re.findall(r"`((?:bbfalsify|tests|adapters|profiles|specs|experiments)/[\w/.-]+)`", text)
    if page.parent.name == "understand":
        paths += [f"bbfalsify/**/{name}" for name in re.findall(r"`(\w+\.py)`", text)]
    written = re.findall(r"<!-- file: (\S+?)(?:/adapter\.py)? -->", text) + [
        "adapters/yours",
        "adapters/lift/adapter.py",
    ]
    assert [
        p for p in paths if "NAME" not in p and p.removesuffix("/adapter.py") not in written and not list(ROOT.glob(p))
    ] == []


def test_the_table_of_rooms_is_in_the_order_of_imports():
    table = re.search(r"## The rooms\n.*?\n\n(\|.*?)\n\n", (ROOT / "docs" / "architecture.md").read_text(), re.S)
    rooms = re.findall(r"^\| `(\w+)(?:\.py)?` \|", table[1], re.M)
    assert set(rooms) == set(LOOKS_AT) - {"pytest_plugin"}
    for place, room in enumerate(rooms):
        assert LOOKS_AT[room] - {room} <= set(rooms[:place]), room
