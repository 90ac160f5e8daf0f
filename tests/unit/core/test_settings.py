"""Settings are checked when they are made, all at once, with the same sentences as in files."""

import math

import pytest

from bbfalsify import Options, falsify
from bbfalsify.core.errors import UserError
from bbfalsify.core.setting_values import Collected
from bbfalsify.core.settings import Settings, keys_of, setting, settings_of
from bbfalsify.engines.checking.settings import CheckSettings
from bbfalsify.engines.falsification.baseline.smc import SmcOptions
from bbfalsify.engines.falsification.settings import PLAIN_SIMULATION, FalsifySettings
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.running.execution import Execution


class Inner(Settings):
    seconds: float | None = setting("A limit.", default=None, at_least=0, single=True)


class Toy(Settings):
    depth: int = setting("How deep.", default=3, at_least=1)
    share: float = setting("Which part.", default=0.5, above=0, at_most=1)
    rule: str = setting("How.", default="fair", choices=("fair", "fast", "at:PLACE"))
    names: tuple[str, ...] = setting("Whose.", default=())
    weights: dict[str, float] | None = setting("How heavy.", default=None, single=True)
    inner: Inner | None = setting("More.", default=None)
    query: str | int = setting("A number or a text.", default=1, at_least=1)
    hidden: bool = setting("For callers.", default=False, internal=True)

    def conflicts(self):
        if self.rule == "fast" and self.depth > 9:
            yield "depth", "is too much for the fast rule."


def problems_of(cls, **values) -> list[str]:
    with pytest.raises(UserError) as refused:
        cls(**values)
    return [str(problem) for problem in refused.value.problems]


def test_all_problems_come_at_once_with_the_closest_match():
    assert problems_of(Options, estimator="condtional", passes=-3) == [
        "passes must be at least 0; found -3.",
        "estimator cannot be 'condtional'. Allowed: auto, conditional, splitting. Did you mean 'conditional'?",
    ]
    unknown, wrong = problems_of(Options, estimater="conditional", passes=-3)
    assert unknown.startswith(
        "Options: unknown setting 'estimater'. Did you mean 'estimator'? Allowed: adaptive_duration, "
    )
    assert wrong == "passes must be at least 0; found -3."
    assert len(problems_of(CheckSettings, learner="lsharps", tester="hh", max_states=0)) == 3
    assert len(problems_of(ReachSettings, heuristic="return", depth=0)) == 2
    assert problems_of(Execution, on_failure="violate", votes=0)[0].endswith("Did you mean 'violation'?")


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"depth": True}, "depth must be a number; found True."),
        ({"depth": 1.5}, "depth must be a whole number; found 1.5."),
        ({"depth": None}, "depth must be a whole number; found nothing."),
        ({"depth": "deep"}, "depth must be a whole number; found 'deep'."),
        ({"share": 0}, "share must be greater than 0; found 0."),
        ({"share": math.nan}, "share must be finite; found nan."),
        ({"rule": "at:"}, "rule cannot be 'at:'. Allowed: fair, fast, at:PLACE."),
        ({"names": ("a", "")}, "names[1] must not be empty; found ''."),
        ({"weights": {"a": "x"}}, "weights.a must be a number; found 'x'."),
        ({"inner": {"seconds": -1}}, "inner.seconds must be at least 0; found -1."),
        ({"query": 0}, "query must be at least 1; found 0."),
        ({"hidden": 1}, "hidden must be true or false; found 1."),
        ({"rule": "fast", "depth": 10}, "depth is too much for the fast rule."),
    ],
)
def test_wrong_values(values, says):
    (message,) = problems_of(Toy, **values)
    assert message.startswith(says)


def test_values_become_their_types():
    toy = Toy(depth=4.0, share=1, rule="at:home", names=["a"], inner={"seconds": 2}, query="E<> x")
    assert (toy.depth, toy.share, toy.rule, toy.names) == (4, 1.0, "at:home", ("a",))
    assert isinstance(toy.depth, int) and isinstance(toy.share, float) and toy.inner == Inner(seconds=2.0)


def test_lists_in_a_file_multiply_and_what_is_single_does_not():
    notes = Collected()
    points = Toy.read({"depth": [1, 2], "rule": ["fair", "fast"], "names": ["a", "b"]}, (), notes)
    assert [(p.depth, p.rule, p.names) for p in points] == [
        (depth, rule, ("a", "b")) for depth in (1, 2) for rule in ("fair", "fast")
    ]
    assert Inner.read({"seconds": [1, 2]}, (), notes) == [] == Toy.read({"hidden": True}, (), notes)
    assert [str(p) for p in notes.problems] == [
        "seconds must be a number; found [1, 2].",
        "unknown key 'hidden'. Allowed: depth, inner, names, query, rule, share, weights.",
    ]


def test_settings_of_plain_simulation_have_one_list_of_names():
    assert {name for name in settings_of(FalsifySettings) if name.startswith("smc")} == set(PLAIN_SIMULATION)


@pytest.mark.parametrize("cls", [FalsifySettings, CheckSettings, ReachSettings, Execution])
def test_every_default_is_allowed_and_every_setting_is_described(cls):
    required = {"horizon": 1.0} if cls is FalsifySettings else {}
    assert cls(**required).as_json().keys() == keys_of(cls).keys()
    assert all(one.rules.sentence.endswith(".") for one in settings_of(cls).values())


def test_falsify_takes_settings_by_name_and_names_the_closest():
    with pytest.raises(UserError, match=r"unknown argument 'simulatons'. Did you mean 'simulations'\?"):
        falsify(None, "profile.yaml", "x > 0", horizon=1, simulatons=3)
    with pytest.raises(UserError, match=r"unknown argument 'sead'. Did you mean 'seed'\?"):
        falsify(None, "profile.yaml", "x > 0", horizon=1, sead=3)
    with pytest.raises(UserError, match=r"unknown argument 'smc_epsilo'. Did you mean 'smc_epsilon'\?"):
        falsify(None, "profile.yaml", "x > 0", horizon=1, smc_epsilo=3)
    with pytest.raises(UserError, match="give either baseline or smc, not both"):
        falsify(None, "profile.yaml", "x > 0", horizon=1, smc="fixed", baseline=SmcOptions())
    with pytest.raises(UserError, match="smc cannot be 'sequense'"):
        falsify(None, "profile.yaml", "x > 0", horizon=1, smc="sequense")
    with pytest.raises(UserError, match="passes must be at least 0; found -3"):
        falsify(None, "profile.yaml", "x > 0", horizon=1, options=Options(simulations=3), passes=-3)
