"""What tests of more than one room share."""

import os

import pytest

from tests.drawing import draw_the_same_everywhere
from tests.fmus.building import FmuFactory

draw_the_same_everywhere()
# There, commands annotate what they find; tests that want it say so, and the others run on GitHub, too.
os.environ.pop("GITHUB_ACTIONS", None)


@pytest.fixture(scope="session")
def fmus(tmp_path_factory):
    """`fmus.build("heater")` is the path of an FMU, built at its first use."""
    return FmuFactory(tmp_path_factory.mktemp("fmus"))
