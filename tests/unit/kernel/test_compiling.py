"""Machine code of the kernel: one copy of each function, found by name also where it comes from the cache."""

import importlib
import os
import sys
from multiprocessing import get_context

import pytest

from bbfalsify.jit import cache_folder, call_by_name
from bbfalsify.kernel.accelerated_walk import ret_batch
from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.firing import fire

CALLER_AND_CALLEE = """
from bbfalsify.jit import jit

@jit
def unrelated(value):
    return value

def inner(value):
    return 3 * value

def outer(value):
    return inner(value) + 1

inner = jit(inner, reference_counting=False, called_from_python=False, stable_name=True)
outer = jit(outer, reference_counting=False, stable_name=True)
"""


def defined(dispatcher):
    """Names of the functions of which the machine code of a function has a definition."""
    [result] = dispatcher.overloads.values()
    module = result.library._get_module_for_linking()
    return {f.name for f in module.functions if not f.is_declaration}


def symbol(dispatcher):
    [result] = dispatcher.overloads.values()
    return result.fndesc.llvm_func_name


def test_the_code_of_a_large_function_exists_once():
    ret_batch.prepare()
    assert symbol(fire) in defined(fire)
    assert symbol(execute) not in defined(fire)
    assert symbol(fire) not in defined(ret_batch.dispatcher)


def answer(folder, cache, unrelated_first):
    """Compile or load both functions; return the result, and which of them came from the cache."""
    os.environ.pop("NUMBA_CACHE_DIR", None)
    os.environ["XDG_CACHE_HOME"] = str(cache)
    cache_folder.cache_clear()
    sys.path.insert(0, str(folder))
    m = importlib.import_module("caller_and_callee")
    if unrelated_first:
        m.unrelated(1)  # numba counts functions: without stable names, the callee would have another name
    m.inner.compile("int64(int64)")
    call_by_name(m.inner)
    m.outer.compile("int64(int64)")
    return m.outer(4), sorted(f.__name__ for f in (m.inner, m.outer) if sum(f.stats.cache_hits.values()))


@pytest.mark.parametrize("lost", ["nothing", "inner"])
def test_cached_callers_find_what_another_process_compiled(tmp_path, lost):
    """The called function is in the cache, too, or is compiled again: its name is the same."""
    (tmp_path / "caller_and_callee.py").write_text(CALLER_AND_CALLEE)
    results = []
    for unrelated_first in (False, True):
        with get_context("fork").Pool(1) as pool:
            asked = pool.apply_async(answer, (tmp_path, tmp_path / "cache", unrelated_first))
            results.append(asked.get(timeout=120))  # an unresolved name would end the process without an answer
        for file in tmp_path.rglob(f"*.{lost}-*.nb?"):
            file.unlink()
    assert results == [(13, []), (13, ["inner", "outer"] if lost == "nothing" else ["outer"])]
