"""Queries stored with a model: each command answers those that are for it, and numbers them as the file does."""

import pytest

MODEL = """
format_version: 1
name: lamp
automata:
  Lamp:
    declarations: clock x;
    initial: Off
    locations:
      Off: {invariant: x <= 2}
      On: {}
    edges:
      - {from: Off, to: On, guard: x >= 1}
queries: ["E<> Lamp.On", "Pr[<=3](<> Lamp.On)", "A[] not Lamp.On"]
"""


@pytest.fixture
def lamp(written):
    return written("lamp.yaml", MODEL)


def test_each_command_answers_its_own(cli, lamp):
    verified = cli("verify", lamp, "--json").json["queries"]
    assert [(row["id"], row["verdict"]) for row in verified] == [("Q1", "holds"), ("Q3", "violated")]
    [estimated] = cli("estimate", lamp, "--seed", "1", "--json").json["queries"]
    assert estimated["id"] == "Q2"


def test_numbers_are_those_of_the_file(cli, lamp):
    [chosen] = cli("estimate", lamp, "--query", "2", "--seed", "1", "--json").json["queries"]
    assert chosen["query"] == "Pr[<=3](<> Lamp.On)"
    wrong = cli("reach", lamp)
    assert wrong.code == 2 and wrong.err.startswith("--query is missing; the file stores 3, choose one by number.")


def test_a_file_without_queries_says_which_option_is_missing(cli, lamp):
    lamp.write_text(MODEL.partition("queries:")[0])
    done = cli("estimate", lamp)
    assert done.code == 2 and done.err.startswith("--query is missing: no query is stored with")


def test_costs_of_a_model_without_any_are_not_0(cli, lamp):
    lamp.write_text(MODEL.partition("queries:")[0].replace("{invariant: x <= 2}", "{}").replace(", guard: x >= 1", ""))
    done = cli("estimate", lamp, "--query", "R=? [ F Lamp.On ]")
    assert done.code == 2 and "the model has no costs" in done.err
    [row] = cli("estimate", lamp, "--query", "T=? [ F Lamp.On ]", "--json").json["queries"]
    assert row["estimate"]["value"] == pytest.approx(1.0)


def test_a_precision_may_be_a_number(cli, lamp, tmp_path):
    campaign = tmp_path / "c.yaml"
    campaign.write_text(
        "format_version: 1\nmodel: lamp.yaml\nengine: {kind: estimate, precision: [0.2, relative 0.5]}\nseed: 1\n"
    )
    assert cli("validate", campaign).code == 0
    campaign.write_text(campaign.read_text().replace("0.2", "2.5"))
    assert "must be a number between 0 and 1" in cli("validate", campaign).err
