"""The private options of numba that `jit` leans on still do what they are used for."""

import contextlib
import gc
import importlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.types.functions import BaseFunction

from bbfalsify.jit import code_cache, compiling, jit
from bbfalsify.systems.loading import _import_file

REPOSITORY = Path(__file__).parents[2]
MODULE = """
from bbfalsify.jit import code_cache as module
from bbfalsify.jit import jit
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


def elsewhere(cache, function, *arguments):
    """What the function gives in another process, whose user has this cache; what it imports is new to that process."""
    with get_context("fork").Pool(1, use_cache, [cache]) as pool:
        return pool.apply(function, arguments)


def use_cache(cache):
    os.environ.pop("NUMBA_CACHE_DIR", None)
    os.environ["XDG_CACHE_HOME"] = str(cache)
    code_cache.cache_folder.cache_clear()


def found_there(place, digest):
    sys.path.insert(0, str(place))
    m = importlib.import_module("m")
    m.module.build_digest = lambda: digest
    m.total(np.arange(3.0))
    return sum(m.total.stats.cache_hits.values())


def hits(place, digest, cache):
    """How often another process finds the compiled function in the cache."""
    return elsewhere(cache, found_there, place, digest)


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


def test_another_release_of_numba_has_a_folder_of_its_own(monkeypatch):
    """In one folder, each of two installations would find an index of the other, replace it, and compile every time."""
    here = code_cache.build_digest.__wrapped__()
    monkeypatch.setattr(code_cache.numba, "__version__", "0.99")
    assert code_cache.build_digest.__wrapped__() != here


ADAPTER = """
from bbfalsify.jit import jit

FACTOR = 2.0

@jit
def scale(value):
    return FACTOR * value
"""


def scaled_by(file):
    return _import_file(file).scale(1.0)


def test_adapters_of_the_same_name_do_not_share_compiled_code(tmp_path):
    """Two copies of a repository, and an adapter that was edited: a constant changes, but neither line nor bytecode."""
    here, there = (tmp_path / place / "pump" / "adapter.py" for place in ("here", "there"))
    for file in (here, there):
        file.parent.mkdir(parents=True)
        file.write_text(ADAPTER)
    assert [elsewhere(tmp_path, scaled_by, file) for file in (here, there)] == [2.0, 2.0]
    here.write_text(ADAPTER.replace("2.0", "3.0"))
    assert elsewhere(tmp_path, scaled_by, here) == 3.0


def test_where_the_users_cache_cannot_be_written_numba_chooses_the_place(tmp_path):
    place = module_in(tmp_path / "code")
    (tmp_path / "file").write_text("not a folder")
    assert [hits(place, "a", tmp_path / "file") for _ in range(2)] == [0, 1]


def flipped(content):
    """The content with one bit changed, in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("files", ["*.nbi", "*.nbc"], ids=["index", "data"])
@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda content: content[:-10], lambda content: content[: len(content) // 2], flipped,
     lambda content: bytes(len(content)), lambda content: np.random.default_rng(1).bytes(len(content))],
    ids=["empty", "cut off", "half", "flipped bit", "zeros", "garbage"],
)  # fmt: skip
def test_a_damaged_cache_is_made_anew_and_told_once(tmp_path, capfd, files, damage):
    place = module_in(tmp_path / "code")
    assert hits(place, "a", tmp_path) == 0
    [stored] = (tmp_path / "bbfalsify").glob(f"*/{files}")
    whole = stored.read_bytes()
    stored.write_bytes(damage(whole))
    assert [hits(place, "a", tmp_path) for _ in range(2)] == [0, 1]
    assert re.fullmatch(r"bbfalsify: compiled code in \S+ is damaged; it is removed and .*\n", capfd.readouterr().err)
    assert [file.name for file in stored.parent.glob(files)] == [stored.name]


def found_without_room(place, digest):
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    return found_there(place, digest)


def test_compiled_code_that_cannot_be_stored_is_used_all_the_same(tmp_path, capfd):
    """A limit on the size of files fails like a full disk does."""
    place = module_in(tmp_path / "code")
    assert elsewhere(tmp_path, found_without_room, place, "a") == 0
    assert re.fullmatch(r"bbfalsify: .* cannot be stored in \S+: File too large; .*\n", capfd.readouterr().err)
    assert [hits(place, "a", tmp_path) for _ in range(2)] == [0, 1]
    assert capfd.readouterr().err == ""


def test_code_nobody_used_for_long_is_removed_when_new_code_comes(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    old, recent = (tmp_path / "bbfalsify" / f"compiled-{name}" for name in ("old", "recent"))
    for folder, days in ((old, 61), (recent, 59)):
        folder.mkdir(parents=True)
        os.utime(folder, (time.time() - days * 86400,) * 2)
    code_cache.cache_folder.cache_clear()
    try:
        assert code_cache.cache_folder().parent == tmp_path / "bbfalsify"
    finally:
        code_cache.cache_folder.cache_clear()
    assert (old.exists(), recent.exists()) == (False, True)


def test_compiled_functions_are_in_the_rooms_that_the_digest_covers():
    """A file with compiled functions elsewhere could change without its machine code being made anew."""
    package = Path(code_cache.__file__).parents[1]
    taken = r"bbfalsify\.jit import .*\bjit\b|numba_types import .*\b(compiled|inlined)\b"
    files = [f for f in package.rglob("*.py") if re.search(taken, f.read_text())]
    assert {f.parent.relative_to(package).as_posix() for f in files} == set(code_cache.COMPILED_ROOMS)


def test_linear_algebra_is_imported_when_compiled_code_needs_it():
    code = (
        "import sys, numba, numpy as np, bbfalsify.jit\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "a = np.array([[2.0, 1.0], [0.0, 4.0]])\n"
        "product = numba.njit(lambda a: a @ np.linalg.inv(a))(a)\n"
        "assert np.allclose(product, np.eye(2)), product\n"
        "import scipy\n"
        "assert np.allclose(scipy.linalg.inv(a) @ a, np.eye(2))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_call_is_resolved_once_while_compiling_and_means_the_same(monkeypatch):
    """Integers, reals and booleans added in turn: what numba resolved for one kind is not taken for another."""

    def mixed(a, b, c):
        return a + a, a + b, b + b, b + b, a + c, a // a, a / a, a + a

    asked = []
    numbas = BaseFunction.get_call_type
    monkeypatch.setattr(
        BaseFunction, "get_call_type", lambda f, x, args, kws: asked.append(f) or numbas(f, x, args, kws)
    )
    answers, counts = [], []
    for context in (contextlib.nullcontext, compiling):
        function = jit(mixed)
        function._cache = NullCache()
        asked.clear()
        with context():
            answers.append(function(7, 0.5, True))
        counts.append(len(asked))
    assert answers[0] == answers[1] == mixed(7, 0.5, True)
    assert [type(a) for a in answers[0]] == [type(a) for a in answers[1]]
    assert counts[1] < counts[0] / 2 and gc.isenabled()


@pytest.mark.slow
def test_the_first_run_compiles_each_function_once_and_nothing_that_it_does_not_need(tmp_path):
    """In an empty cache: 25 CPU s more than a run that finds everything (twice that on a loaded machine)."""
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"XDG_CACHE_HOME": str(tmp_path)}
    used = []
    for out in ("cold", "warm"):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [
            sys.executable,
            "-m",
            "bbfalsify",
            "run",
            "experiments/heater/campaign.yaml",
            "--out",
            tmp_path / out,
        ]
        subprocess.run(command, env=environment, cwd=REPOSITORY, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    [folder] = (tmp_path / "bbfalsify").iterdir()
    [stamp] = folder.glob("*.compiled")
    code = list(folder.glob("*.nbc"))
    assert len(code) > 100 and not [f.name for f in code if not f.name.endswith(".1.nbc")]
    assert not [f.name for f in code if f.stat().st_mtime > stamp.stat().st_mtime], "compiled in the middle of the run"
    assert not [f.name for f in code if f.name.startswith(("piecewise_until", "discrete", "target_"))]
    assert used[0] - used[1] < 50


@pytest.mark.parametrize("interrupts", [1, 2])
def test_ctrl_c_waits_until_a_function_is_compiled_and_the_second_ends_the_process(tmp_path, interrupts):
    """An exception inside LLVM's locks ended the process by a segmentation fault, with a traceback of numba."""
    (tmp_path / "compiled.py").write_text(MODULE)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(interrupts)], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    if interrupts == 1:
        assert (done.returncode, done.stdout) == (0, "compiled, then interrupted\n"), done.stderr
    else:
        assert (done.returncode, done.stdout) == (-signal.SIGINT, ""), done.stderr


INTERRUPTED = """
import os, signal, sys
from numba.core.compiler import Compiler
import numpy as np
from compiled import total

signal.signal(signal.SIGINT, signal.default_int_handler)
begin = Compiler.compile_extra
def compile_extra(self, function):
    for _ in range(int(sys.argv[1])):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):  # the interpreter sees a signal between two instructions
            pass
    return begin(self, function)
Compiler.compile_extra = compile_extra
try:
    total(np.ones(3))
except KeyboardInterrupt:
    if len(total.overloads) == 1 and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        print("compiled, then interrupted")
"""
