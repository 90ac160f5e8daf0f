"""Profiles and requirements as Python users give them: objects, files, texts; what is neither is named."""

import pytest

from bbfalsify import Options, Requirement, UserError, falsify, load_profile, load_system, parse_stl
from bbfalsify.examples import example_folder

FOLDER = example_folder("heater")
HEATER = load_system(f"{FOLDER}/system.py:heater")
FORMULA = "always[0:20](T <= 75)"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "at least one requirement is needed."),
        ([3], "requirement 1: a Requirement or a formula is needed, not int."),
        (3, "requirement 1: a Requirement or a formula is needed, not int."),
        ([FORMULA, "always(t <= 75)"], "requirement 2: formula, column 8: unknown signal 't'"),
        ("always(T <= ", "requirement 1: "),
        ([Requirement("R2", "", parse_stl(FORMULA)), FORMULA], "two requirements have the id R2."),
        ("eventually(T > 75)", "no finite trace can violate R1"),
    ],
)
def test_what_is_no_requirement_is_named(given, said):
    with pytest.raises(UserError) as refused:
        falsify(HEATER, load_profile(FOLDER / "profile.yaml"), given, horizon=20, out=None)
    assert said in str(refused.value)


def test_all_problems_are_named_at_once(tmp_path):
    with pytest.raises(UserError) as refused:
        falsify(HEATER, tmp_path / "none.yaml", "always(t <= 75)", horizon=-1, out=None)
    assert all(said in str(refused.value) for said in ("none.yaml", "unknown signal 't'", "the horizon must be finite"))
    with pytest.raises(UserError, match="a Profile or its file is needed, not int"):
        falsify(HEATER, 3, FORMULA, horizon=20, out=None)  # type: ignore[arg-type]


def test_texts_mean_what_the_objects_mean():
    few = Options(simulations=150, passes=0)
    by_text = falsify(
        HEATER, str(FOLDER / "profile.yaml"), [FORMULA, parse_stl("always(T >= -1)")],
        horizon=20, options=few, seed=1, out=None,
    )  # fmt: skip
    objects = [Requirement(f"R{i}", "", parse_stl(text)) for i, text in ((1, FORMULA), (2, "always(T >= -1)"))]
    profile = load_profile(FOLDER / "profile.yaml")
    by_object = falsify(HEATER, profile, objects, horizon=20, options=few, seed=1, out=None)
    assert [row.id for row in by_text.requirements] == ["R1", "R2"]
    assert by_text.counterexamples and by_text.counterexamples == by_object.counterexamples


def test_a_specification_file_stands_for_its_requirements(tmp_path):
    few = Options(simulations=100, passes=0)
    file = tmp_path / "spec.yaml"
    file.write_text(
        "format_version: 1\nrequirements:\n"
        f"  - {{id: hot, text: too hot, stl: '{FORMULA}'}}\n  - {{id: cold, stl: 'always(T >= -1)'}}\n"
    )
    results = [
        falsify(HEATER, FOLDER / "profile.yaml", given, horizon=20, options=few, seed=1, out=None)
        for given in (str(file), file, [file, "always(T <= 200)"])
    ]
    assert [[row.id for row in result.requirements] for result in results] == [["hot", "cold"]] * 2 + [
        ["hot", "cold", "R3"]
    ]
    assert results[0].requirements[0].text == "too hot"
    assert results[0].counterexamples and results[0].counterexamples == results[1].counterexamples


def test_a_specification_file_that_is_missing_or_wrong_is_named_with_its_line(tmp_path):
    def refused(given):
        with pytest.raises(UserError) as error:
            falsify(HEATER, FOLDER / "profile.yaml", given, horizon=20, out=None)
        return str(error.value)

    assert "there is no specification file 'specs/none.yaml'" in refused("specs/none.yaml")
    file = tmp_path / "spec.yaml"
    file.write_text("format_version: 1\nrequirements:\n  - {id: hot, stl: 'always(t <= 75)'}\n")
    assert "spec.yaml:3" in (said := refused(file)) and "unknown signal 't'" in said
