"""Guides by name: built-in ones, those of other packages, and what is said about wrong ones."""

from importlib.metadata import EntryPoint

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.guides.guide_table import BUILT_IN, guide_factory, guide_names, guide_problem
from bbfalsify.engines.falsification.guides.plain_guides import PlainGuide
from bbfalsify.engines.falsification.settings import Options

PLAIN = "bbfalsify.engines.falsification.guides.plain_guides"


@pytest.fixture
def foreign(monkeypatch):
    """Another package with three guides, of which one is right."""
    points = [
        EntryPoint("mine", f"{PLAIN}:PlainGuide", "bbfalsify.guides"),
        EntryPoint("missing", "no_such_module:Guide", "bbfalsify.guides"),
        EntryPoint("number", f"{PLAIN}:CYCLE", "bbfalsify.guides"),
    ]

    def entry_points(*, group, name=None):
        return [p for p in points if p.group == group and name in (None, p.name)]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)


def test_every_built_in_guide_can_be_loaded():
    for name in BUILT_IN:
        assert callable(guide_factory(name)) and guide_problem(name) is None


def test_guides_of_other_packages_are_named_last_and_loaded_when_used(foreign):
    assert guide_names() == [*BUILT_IN, "mine", "missing", "number"]
    assert isinstance(guide_factory("mine")(None, 1, SeedTree(0)), PlainGuide)
    assert Options(guide="mine").guide == "mine"


def test_guides_that_cannot_be_used_are_said(foreign):
    with pytest.raises(UserError, match="the guide 'missing' of the package .* cannot be loaded"):
        guide_factory("missing")
    with pytest.raises(UserError, match="is int, not a guide"):
        guide_factory("number")
    with pytest.raises(UserError, match="unknown guide 'mime'.*Did you mean 'mine'"):
        guide_factory("mime")
    with pytest.raises(UserError, match="guide names an unknown guide 'mime'"):
        Options(guide="mime")
