"""Every mistake in a campaign becomes one sentence with its place."""

import pytest

from bbfalsify.campaigns.engine_entries import read_engines
from bbfalsify.campaigns.reading import Reader
from bbfalsify.campaigns.schema import RequirementEntry
from bbfalsify.core.setting_values import dotted
from bbfalsify.engines.falsification.settings import FalsifySettings
from bbfalsify.records.documents import parse_yaml
from bbfalsify.registry import ENGINES


def problems_of(adapter, text: str) -> list[str]:
    document = parse_yaml(text, file="c.yaml")
    reader = Reader(document, [])
    value = reader.check(adapter, document.data, ())
    assert (value is None) == bool(reader.problems)
    return [str(p) for p in reader.problems]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{kind: falsify, horizon: -2}", "c.yaml:1: horizon must be at least 0; found -2."),
        ("{kind: falsify, horizon: .inf}", "c.yaml:1: horizon must be finite; found inf."),
        ("{kind: falsify, horizon: true}", "c.yaml:1: horizon must be a number; found True."),
        ("{kind: falsify, horizon: soon}", "c.yaml:1: horizon must be a number; found 'soon'."),
        ("kind: falsify\nhorizon: [20,\n  -1]", "c.yaml:3: horizon[1] must be at least 0; found -1."),
        ("{kind: falsify, horizon: []}", "c.yaml:1: horizon must not be empty; found []."),
        ("{kind: falsify}", "c.yaml:1: horizon is missing."),
        ("{kind: falsify, horizon: 20, simulations: -1}", "c.yaml:1: simulations must be at least 0; found -1."),
        ("{kind: falsify, horizon: 20, passes: 1.5}", "c.yaml:1: passes must be a whole number; found 1.5."),
        (
            "{kind: falsifie, horizon: 20}",
            "c.yaml:1: kind cannot be 'falsifie'. Allowed: falsify.",
        ),
        (
            "{kind: falsify, horizon: 20, delays: cycles}",
            "c.yaml:1: delays cannot be 'cycles'. Allowed: cycle, two_points. Did you mean 'cycle'?",
        ),
        (
            "kind: falsify\nhorizon: 20\ncolumns: [d6,\n  d7]",
            "c.yaml:4: columns[1] cannot be 'd7'. Allowed: d6, d8, d9. Did you mean 'd9'?",
        ),
        ("falsify", "c.yaml:1:  must be a mapping of keys to values; found 'falsify'."),
    ],
)
def test_wrong_engine_settings(text, message):
    assert problems_of(FalsifySettings, text) == [message]


def test_unknown_key_names_the_closest():
    (message,) = problems_of(FalsifySettings, "kind: falsify\nhorizon: 20\ntrace: 3\n")
    assert message.startswith(
        "c.yaml:3: unknown key 'trace'. Did you mean 'traces'? Allowed: adaptive_duration, batch,"
    )


def test_all_mistakes_come_together():
    messages = problems_of(RequirementEntry, "id: 3\ntime: fluid\nperiod: 0\nexpected: broken\nwords: x\n")
    assert len(messages) == 6  # five wrong ones and the missing formula
    assert "c.yaml:1: stl is missing." in messages


def test_numbers_in_scientific_notation_are_numbers():
    document = parse_yaml("{kind: falsify, horizon: 1e3}", file="c.yaml")
    assert document.data["horizon"] == "1e3", "YAML 1.1 reads it as text"
    assert Reader(document, []).check(FalsifySettings, document.data, ()).horizon == 1000.0


def test_key_paths_read_like_the_file():
    assert dotted(("requirements", 0, "stl")) == "requirements[0].stl"


def test_columns_are_one_value_and_do_not_multiply():
    document = parse_yaml("{kind: falsify, horizon: [10, 20], columns: [d8, d9]}", file="c.yaml")
    points = read_engines(Reader(document, []), document.data, ENGINES)
    assert [(p.horizon, p.columns) for p in points] == [(10.0, ("d8", "d9")), (20.0, ("d8", "d9"))]
    assert Reader(document, []).check(FalsifySettings, {**document.data, "columns": "d8"}, ()).columns == ("d8",)


def test_quasi_random_needs_the_conditional_estimator():
    document = parse_yaml(
        "engine: {kind: falsify, horizon: 10,\n  estimator: splitting,\n  quasi_random: true}", file="c.yaml"
    )
    reader = Reader(document, [])
    read_engines(reader, document.data["engine"], ENGINES)
    assert [str(p) for p in reader.problems] == [
        "c.yaml:3: engine.quasi_random needs the conditional estimator, and estimator is splitting."
    ]
