"""What is public, as a list: a name that comes or goes is a decision, and this is where it is written down."""

import importlib

import pytest

PUBLIC = {
    "bbfalsify": """
        Counterexample Estimate NetworkBuilder Options Outcome Requirement Stimulus System SystemFailure Trace UserError
        Verdict __version__ check falsify load_campaign load_network load_profile load_system parse_stl reach
        replay system
    """,
    "bbfalsify.campaigns": "Campaign RunPlan load_campaign plan_document run_search",
    "bbfalsify.fitting": "Fit Log fit_profile learn_profile read_logs",
    "bbfalsify.logic": "Formula Requirement parse_stl",
    "bbfalsify.testing": "check_system",
    "bbfalsify.logic.ltl": """
        Automaton FORMS Lasso Property dfa find_violation first_bad_prefix hoa hoa_text ltl ltlf monitor read_property
        search vacuity violates
    """,
}


@pytest.mark.parametrize("room", PUBLIC)
def test_public_names(room):
    module = importlib.import_module(room)
    assert sorted(module.__all__) == PUBLIC[room].split()


@pytest.mark.parametrize("room", PUBLIC)
def test_every_public_name_exists(room):
    module = importlib.import_module(room)
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_the_front_page_lists_its_lazy_names():
    import bbfalsify

    assert set(bbfalsify.__all__) <= set(dir(bbfalsify))
    with pytest.raises(AttributeError, match="has no attribute 'falsifie'"):
        _ = bbfalsify.falsifie


def test_the_version_is_that_of_the_package():
    import tomllib
    from pathlib import Path

    import bbfalsify

    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    assert bbfalsify.__version__ == project["project"]["version"]
