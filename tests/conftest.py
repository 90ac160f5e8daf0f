"""What tests of more than one room share."""

import pytest

from tests.fmus.building import FmuFactory


@pytest.fixture(scope="session")
def fmus(tmp_path_factory):
    """`fmus.build("heater")` is the path of an FMU, built at its first use."""
    return FmuFactory(tmp_path_factory.mktemp("fmus"))
