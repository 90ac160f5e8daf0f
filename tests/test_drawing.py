"""Laws see the same examples, whatever modules are loaded and wherever things lie in memory."""

import gc
import importlib
import sys

from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import examples
from tests.support.networks import networks
from tests.support.printing import network_text


def drawn(strategy: st.SearchStrategy, shown=repr) -> list[str]:
    seen = []

    @examples(50)
    @given(strategy)
    def law(value):
        seen.append(shown(value))

    law()
    return seen


def test_examples_do_not_depend_on_the_modules_loaded(tmp_path, monkeypatch):
    values = st.lists(st.tuples(st.integers(), st.floats(), st.text()), min_size=5)
    before = drawn(values)
    assert before == drawn(values)
    (tmp_path / "full_of_constants.py").write_text(
        "\n".join(f"I{n} = {n}_{n}\nF{n} = {n}.625\nS{n} = 'text {n}'" for n in range(201, 400))
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("full_of_constants")
    try:
        assert drawn(values) == before
    finally:
        del sys.modules["full_of_constants"]


def test_networks_do_not_depend_on_what_else_is_in_memory():
    """Nothing that is freed late, or never, changes what is drawn next."""
    before = drawn(networks(), network_text)
    gc.disable()
    try:
        assert drawn(networks(), network_text) == before
    finally:
        gc.enable()
