"""What is public, as a list: a name that comes or goes is a decision, and this is where it is written down."""

import importlib
import pkgutil

import pytest

PUBLIC = {
    "bbfalsify": """
        Counterexample Estimate NetworkBuilder Options Outcome Requirement SmcOptions Stimulus System SystemFailure
        Trace UserError Verdict __version__ check estimate falsify load_campaign load_network load_profile load_system
        parse_stl reach replay search system verify
    """,
    "bbfalsify.automata": "MealyMachine parse_dot read_dot",
    "bbfalsify.campaigns": "Campaign RunPlan load_campaign plan_document run_search",
    "bbfalsify.systems": """
        BytesMapper Capabilities CapabilityMissing Closed Connection FmuSystem FunctionSystem GymSystem HttpCall
        HttpSystem LineMapper MachineSystem MalformedAnswer NoAnswer ParameterInfo Port Preset ProcessSymbolSystem
        ProcessSystem ProgramSystem SampledSystem
        Server Session SessionFailure Silence SocketSystem StepwiseSession SymbolSession SymbolSystem System SystemDied
        Tls Usage check_outputs load_system matlab_command octave_command require_capability symbol_system
        system
    """,
    "bbfalsify.fitting": "Fit Log fit_profile learn_profile read_logs",
    "bbfalsify.logic": "Formula Requirement parse_stl",
    "bbfalsify.testing": "check_system",
    "bbfalsify.logic.ltl": """
        Automaton FORMS Lasso Property Sampling dfa find_violation first_bad_prefix hoa hoa_text ltl ltlf monitor
        read_property search vacuity violates
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


MOVED = {
    "systems.octave:octave_command": "systems",
    "systems.sockets:LineMapper": "systems",
    "systems.sockets:SocketSystem": "systems",
    "systems.servers:Server": "systems",
    "logic.temporal:find_violation": "logic.ltl",
    "logic.temporal.sampling:Sampling": "logic.ltl",
    "modelling.mealy:parse_dot": "automata",
}


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_old_addresses_that_adapters_import(old, new):
    module, name = old.split(":")
    here, there = (importlib.import_module(f"bbfalsify.{one}") for one in (module, new))
    assert getattr(here, name) is getattr(there, name)


def test_the_version_is_that_of_the_package():
    import tomllib
    from pathlib import Path

    import bbfalsify

    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    assert bbfalsify.__version__ == project["project"]["version"]


@pytest.mark.parametrize("room", PUBLIC)
def test_no_public_name_is_the_name_of_a_module(room):
    """Importing `room.name` would put the module in the place of what `from room import name` gives."""
    package = importlib.import_module(room)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    lazy = set(package.__all__) - {name for name in vars(package) if not name.startswith("_")}
    assert lazy & modules == set()
