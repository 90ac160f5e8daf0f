"""Names of a package that are imported when they are first used."""

import sys

import pytest

from bbfalsify.core.lazy_names import lazy_names

FRONT = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from bbfalsify.core.seeds import SeedTree as SeedTree
    from bbfalsify.core.nowhere import nothing as nothing
    from bbfalsify.core.trace import Trace
"""


def test_a_name_is_loaded_when_it_is_used_and_then_kept(tmp_path, monkeypatch):
    from bbfalsify.core.seeds import SeedTree

    (tmp_path / "front.py").write_text(FRONT)
    monkeypatch.setitem(sys.modules, "front", package := type(sys)("front"))
    names, load = lazy_names("front", str(tmp_path / "front.py"))
    assert names == ["SeedTree", "nothing"]  # only what is exported by `as`
    assert not hasattr(package, "SeedTree") and load("SeedTree") is SeedTree is package.SeedTree
    with pytest.raises(AttributeError, match="module 'front' has no attribute 'Trace'"):
        load("Trace")
    with pytest.raises(ModuleNotFoundError):
        load("nothing")
