"""Imports go one way: each room looks only at those the table names, also inside functions and as text."""

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "bbfalsify"

MODELS = {"core", "jit", "records", "automata", "modelling", "kernel", "logic", "stats", "chains", "zones"}
"""Rooms that know models, formulas and numbers, but no system under test."""
EXECUTION = MODELS | {"systems", "engines", "results", "running"}
LOOKS_AT = {
    "core": set(),
    "jit": {"core"},
    "automata": {"core", "jit"},
    "records": {"core", "automata"},
    "modelling": {"core", "records"},
    "kernel": {"core", "jit", "modelling"},
    "logic": {"core", "jit", "automata", "modelling", "records"},
    "stats": {"core"},
    "chains": {"core", "jit", "records", "modelling", "kernel", "logic"},
    "zones": {"core", "modelling", "kernel"},
    "fitting": {"core", "records", "modelling", "kernel", "stats"},
    "systems": {"core", "records", "automata", "modelling", "kernel"},
    "results": {"core", "records", "automata"},
    "engines": MODELS | {"results"},
    "running": EXECUTION,
    "campaigns": EXECUTION | {"examples"},
    "reporting": EXECUTION | {"examples"},
    "testing": EXECUTION,
    "examples": {"core", "modelling", "systems"},
    "registry": EXECUTION | {"campaigns", "reporting"},
    "api": EXECUTION | {"campaigns", "registry"},
    "cli": EXECUTION | {"fitting", "campaigns", "reporting", "examples", "testing", "registry"},
    "pytest_plugin": EXECUTION | {"campaigns", "reporting", "cli", "registry", "api"},
}

FILES = sorted(PACKAGE.rglob("*.py"))


NAMED = re.compile(r"\bbbfalsify\.(\w+)[.:]\w")
"""A module or function of the package as text: "bbfalsify.x.y", "bbfalsify.x:y"."""


@functools.cache
def homes() -> dict[str, str]:
    """The modules behind the names that `from bbfalsify import …` gives."""
    imports = [n for n in ast.walk(ast.parse((PACKAGE / "__init__.py").read_text())) if isinstance(n, ast.ImportFrom)]
    return {alias.asname: str(node.module) for node in imports for alias in node.names if alias.asname}


def docstrings(tree: ast.AST) -> set[int]:
    """Texts that stand alone: they are read by people and import nothing."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


@functools.cache
def imports_and_prints(file: Path) -> tuple[set[str], list[int]]:
    """Every module imported or named as text anywhere in the file, type-checking imports included; lines that print."""
    names, lines = set(), []
    tree = ast.parse(file.read_text())
    prose = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            names.add(node.module or "")
            if node.module == "bbfalsify":
                names.update(homes().get(alias.name, f"bbfalsify.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            names.update(f"bbfalsify.{room}" for room in NAMED.findall(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            lines.append(node.lineno)
    return names - {"bbfalsify.__version__"}, lines


def test_every_room_is_in_the_table():
    rooms = {path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert rooms - {"__pycache__", "__init__", "__main__"} == set(LOOKS_AT)


@pytest.mark.parametrize("file", FILES, ids=[str(f.relative_to(PACKAGE)) for f in FILES])
def test_a_room_looks_only_where_it_may(file: Path):
    room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if room in ("__init__", "__main__"):
        return  # the package's front page names everything as text
    allowed = LOOKS_AT[room] | {room}
    seen = {m.split(".")[1] for m in imports_and_prints(file)[0] if m.startswith("bbfalsify.")}
    assert seen <= allowed, f"{room} must not import or name {sorted(seen - allowed)}"


def test_text_and_public_names_are_read(tmp_path: Path):
    """The test sees what it says it sees: a function as text, and the home of a public name."""
    file = tmp_path / "some.py"
    file.write_text(
        '"""About bbfalsify.campaigns.plan."""\nfrom bbfalsify import __version__, falsify\nX = "bbfalsify.cli.run:run"'
    )
    assert imports_and_prints(file)[0] == {"bbfalsify", "bbfalsify.api", "bbfalsify.cli"}


@pytest.mark.parametrize("file", FILES, ids=[str(f.relative_to(PACKAGE)) for f in FILES])
def test_nothing_knows_the_shelves(file: Path):
    roots = {m.split(".")[0] for m in imports_and_prints(file)[0]}
    assert not roots & {"adapters", "profiles", "specs", "experiments", "tests"}


def test_only_the_command_line_prints():
    for file in FILES:
        assert "cli" in file.relative_to(PACKAGE).parts or not imports_and_prints(file)[1], file


HEAVY = ("numba", "scipy", "rtamt", "aalpy", "numpy", "lark", "rich.progress")


def test_the_command_line_starts_without_heavy_imports():
    """What `--help` loads: a dependency imported here would be paid by every command."""
    code = f"import sys, bbfalsify.cli.main; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


MOST_PARAMETERS = 10
ODD_BEGINNING = re.compile(r"(Of|What|So (many|often)|Whether it|Where|Nobody)\b")
"""A docstring is a noun phrase or an imperative."""


def definitions(*rooms: str) -> Iterator[tuple[str, ast.AST]]:
    """All modules, classes and functions of these rooms (of all, where none is named), with their places."""
    for file in FILES:
        place = file.relative_to(PACKAGE)
        if not rooms or place.parts[0] in rooms:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{place}:{getattr(node, 'lineno', 1)}", node


def test_no_function_takes_more_than_ten_parameters():
    """What travels together is an object; compiled functions, which take arrays, are in other rooms."""
    functions = [(place, node) for place, node in definitions("running", "campaigns", "systems", "engines")]
    wide = [
        place
        for place, node in functions
        if isinstance(node, ast.FunctionDef)
        and len((*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)) > MOST_PARAMETERS
    ]
    assert len(functions) > 1000 and wide == []


def test_docstrings_begin_plainly():
    texts = [(place, ast.get_docstring(node) or "") for place, node in definitions()]
    assert len(texts) > 3000 and [place for place, text in texts if ODD_BEGINNING.match(text)] == []


@pytest.mark.slow
def test_the_system_is_called_at_most_18_frames_below_the_command_line():
    bench = PACKAGE.parent / "experiments" / "bench" / "call_path.py"
    printed = subprocess.run([sys.executable, bench], capture_output=True, text=True, check=True).stdout
    frames = re.search(r"frames from below main to the system: (\d+)", printed)
    assert frames is not None and int(frames[1]) <= 18
