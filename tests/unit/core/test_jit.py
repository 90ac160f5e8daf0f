"""The private options of numba that `core/jit.py` leans on still do what they are used for."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numba.core.caching import NullCache

import bbfalsify.core.jit as jit_module
from bbfalsify.core.jit import jit

MODULE = """
from bbfalsify.core import jit as module
from bbfalsify.core.jit import jit
import numpy as np

@jit(reference_counting=False)
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result
"""


def test_code_without_reference_counting_works_and_has_none():
    def total(values):
        result = 0.0
        for value in values:
            result += value
        return result

    def code(**options):
        function = jit(total, **options)
        function._cache = NullCache()  # what comes from a cache cannot be looked into
        assert function(np.arange(5.0)) == 10.0
        [text] = function.inspect_llvm().values()
        return text

    assert "NRT_decref" in code()
    assert "NRT_" not in code(reference_counting=False)


CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); import m\n"
    "m.module.source_digest.cache_clear(); m.module.source_digest = lambda: sys.argv[2]\n"
    "m.total(m.np.arange(3.0)); print(sum(m.total.stats.cache_hits.values()))"
)


def hits(place, digest, cache):
    """How often a new process finds the compiled function in the cache."""
    command = [sys.executable, "-c", CODE, str(place), digest]
    root = Path(jit_module.__file__).parents[2]
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"XDG_CACHE_HOME": str(cache)}
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, env=environment)
    return int(run.stdout)


def module_in(folder):
    folder.mkdir(parents=True)
    (folder / "m.py").write_text(MODULE)
    return folder


def test_the_cache_is_keyed_by_all_compiled_sources(tmp_path):
    """A change in any compiled room must not find old machine code, whichever file the change is in."""
    place = module_in(tmp_path / "code")
    assert [hits(place, digest, tmp_path) for digest in "aabb"] == [0, 1, 0, 1]


def test_another_installation_of_the_same_sources_has_nothing_to_compile(tmp_path):
    here, there = module_in(tmp_path / "here" / "code"), module_in(tmp_path / "there" / "code")
    assert [hits(place, "a", tmp_path) for place in (here, there)] == [0, 1]


ADAPTER = """
from bbfalsify.core.jit import jit

FACTOR = 2.0

@jit
def scale(value):
    return FACTOR * value
"""


def test_adapters_of_the_same_name_do_not_share_compiled_code(tmp_path):
    """Two copies of a repository, and an adapter that was edited: a constant changes, but neither line nor bytecode."""
    code = "import sys; from bbfalsify.systems.loading import _import_file; from pathlib import Path\n"
    code += "print(_import_file(Path(sys.argv[1])).scale(1.0))"
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"XDG_CACHE_HOME": str(tmp_path)}

    def result(file):
        command = [sys.executable, "-c", code, str(file)]
        root = Path(jit_module.__file__).parents[2]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, env=environment).stdout

    here, there = (tmp_path / place / "pump" / "adapter.py" for place in ("here", "there"))
    for file in (here, there):
        file.parent.mkdir(parents=True)
        file.write_text(ADAPTER)
    assert [result(here), result(there)] == ["2.0\n", "2.0\n"]
    here.write_text(ADAPTER.replace("2.0", "3.0"))
    assert result(here) == "3.0\n"


def test_where_the_users_cache_cannot_be_written_numba_chooses_the_place(tmp_path):
    place = module_in(tmp_path / "code")
    (tmp_path / "file").write_text("not a folder")
    assert [hits(place, "a", tmp_path / "file") for _ in range(2)] == [0, 1]


def test_code_nobody_used_for_long_is_removed_when_new_code_comes(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    old, recent = (tmp_path / "bbfalsify" / f"compiled-{name}" for name in ("old", "recent"))
    for folder, days in ((old, 61), (recent, 59)):
        folder.mkdir(parents=True)
        os.utime(folder, (time.time() - days * 86400,) * 2)
    jit_module.cache_folder.cache_clear()
    try:
        assert jit_module.cache_folder().parent == tmp_path / "bbfalsify"
    finally:
        jit_module.cache_folder.cache_clear()
    assert (old.exists(), recent.exists()) == (False, True)


def test_compiled_functions_are_in_the_rooms_that_the_digest_covers():
    """A file with compiled functions elsewhere could change without its machine code being made anew."""
    package = Path(jit_module.__file__).parents[1]
    files = [f for f in package.rglob("*.py") if re.search(r"core\.jit import .*\bjit\b", f.read_text())]
    assert {f.parent.relative_to(package).as_posix() for f in files} == set(jit_module.COMPILED_ROOMS)
