"""The private options of numba that `core/jit.py` leans on still do what they are used for."""

import subprocess
import sys
from pathlib import Path

import numpy as np

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
    @jit(reference_counting=False)
    def total(values):
        result = 0.0
        for value in values:
            result += value
        return result

    assert total(np.arange(5.0)) == 10.0
    assert "NRT_incref" not in next(iter(total.inspect_llvm().values()))


def test_the_cache_is_keyed_by_all_compiled_sources(tmp_path, monkeypatch):
    """A change in any compiled room must not find old machine code, whichever file the change is in."""
    (tmp_path / "m.py").write_text(MODULE)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import m\n"
        "m.module.source_digest.cache_clear(); m.module.source_digest = lambda: sys.argv[2]\n"
        "m.total(m.np.arange(3.0)); print(sum(m.total.stats.cache_hits.values()))"
    )

    def hits(digest):
        command = [sys.executable, "-c", code, str(tmp_path), digest]
        root = Path(jit_module.__file__).parents[2]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    assert [hits("a"), hits("a"), hits("b"), hits("b")] == ["0", "1", "0", "1"]
