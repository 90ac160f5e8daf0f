"""What is given from Python in place of requirements is named."""

import pytest

from bbfalsify import UserError, falsify, load_profile, load_system, parse_stl
from bbfalsify.examples import example_folder

FOLDER = example_folder("heater")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (parse_stl("T <= 75"), "not a formula alone: Requirement('R1'"),
        ([parse_stl("T <= 75")], "not a formula alone: Requirement('R1'"),
        ("T <= 75", "not a text: Requirement('R1'"),
        (["T <= 75"], "not a text: Requirement('R1'"),
        ([], "at least one Requirement"),
        ([3], "a Requirement is needed, not int."),
    ],
)
def test_what_is_no_requirement_is_named(given, said):
    system, profile = load_system(f"{FOLDER}/system.py:heater"), load_profile(FOLDER / "profile.yaml")
    with pytest.raises(UserError) as refused:
        falsify(system, profile, given, horizon=20, out=None)
    assert said in str(refused.value)
