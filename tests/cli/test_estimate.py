"""bbfalsify estimate, as users call it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bbfalsify.examples import example_folder


def test_the_contract(cli):
    done = cli("estimate", "--example", "hubble", "--query", "P=? [ !sleep U[0,2.7] sleep ]", "--set", "nu=6", "--json")
    assert done.code == 0
    told = done.json
    [row] = told["queries"]
    assert {"query", "verdict", "estimate", "runs", "method", "warnings"} <= set(row)
    assert row["verdict"] is None and isinstance(told["seed"], int)
    assert row["estimate"]["value"] == pytest.approx(0.0306236233780, rel=1e-10)


def test_exit_codes(cli):
    def asked(bound: str):
        done = cli("estimate", "--example", "hubble", "--query", f"P<={bound} [ F<=10 crash ]", "--json")
        return done.code, done.json["queries"][0]

    code, row = asked("0.01")
    assert (code, row["verdict"]) == (0, "holds")
    inside = asked(repr(row["estimate"]["value"]))
    assert (inside[0], inside[1]["verdict"]) == (4, "undecided")
    assert asked("1e-6")[0] == 1


def test_an_infinite_mean_time_is_told_recorded_and_shown(cli):
    called = cli("estimate", "--example", "hubble", "--query", "T=? [ F sleep ]", "--seed", "1", "--json")
    assert called.code == 0
    [query] = called.json["queries"]
    assert [query["estimate"][key] for key in ("value", "low", "high")] == [None, None, None]
    assert query["warnings"] == ["infinite: with positive probability it never happens"]
    assert "    inf\n" in cli("show", called.json["run_directory"]).out


def test_stored_queries_are_answered(cli):
    done = cli("estimate", "--example", "typist")
    assert done.code == 0 and "0.4907288687" in done.out and "Markov chain of 4 states" in done.out


@pytest.mark.parametrize(
    ("options", "code", "verdict", "runs"),
    [
        (("--at-most", "0.5"), 0, "holds", 100),  # decided at the first look
        (("--at-most", "0.5", "--method", "sprt"), 0, "holds", 100),
        (("--at-most", "0.0048"), 4, "undecided", 400),
        (("--method", "wilson"), 0, None, 400),
        (("--method", "bayes"), 0, None, 400),
        (("--method", "clopper_pearson"), 0, None, 400),
        (("--method", "okamoto"), 0, None, 400),
    ],
)
def test_a_system_in_use(cli, options, code, verdict, runs):
    heater_folder = example_folder("heater")
    done = cli(
        "estimate", "--system", str(heater_folder / "system.py:heater"), "--profile",
        str(heater_folder / "profile.yaml"), "--require", "always[0:20](T <= 75)", "--horizon", "20", "--runs", "400",
        "--seed", "1", *options, "--json",
    )  # fmt: skip
    [row] = done.json["queries"]
    assert (done.code, row["verdict"], row["runs"]) == (code, verdict, runs)
    assert row["estimate"]["low"] <= 0.0049 <= row["estimate"]["high"]


def rarely(cli, *options: str):
    """3.85e-4: only "on" within 0.1 of the first moment, and never "off" again, passes the limit."""
    folder = example_folder("heater")
    return cli(
        "estimate", "--system", str(folder / "system.py:heater"), "--profile", str(folder / "profile.yaml"),
        "--require", "always[0:20](T <= 79.607)", "--horizon", "20", "--seed", "1", *options,
    )  # fmt: skip


def test_auto_goes_on_where_no_use_violates(cli):
    done = rarely(cli, "--runs", "4000", "--json")
    [row] = done.json["queries"]
    assert done.code == 0 and 500 < row["runs"] <= 4000 and row["estimate"]["low"] < 3.85e-4
    assert any("so auto went on with --method words" in warning for warning in row["warnings"])


def test_a_bound_counts_what_was_never_met(cli):
    """The sum over words is 4e-4 [3.2e-4, 5e-4]; words that were never met may add a hundredth, but no half."""
    done = rarely(cli, "--runs", "4000", "--method", "words", "--at-most", "0.5", "--json")
    [row] = done.json["queries"]
    estimate = row["estimate"]
    assert (done.code, row["verdict"]) == (0, "holds") and estimate["at_least"] and 0 < estimate["unseen"] < 0.1
    done = rarely(cli, "--runs", "4000", "--method", "words", "--at-most", "1e-3")
    assert done.code == 4 and "undecided: at least 0.000" in done.out and "with what was never met at most" in done.out
    done = rarely(cli, "--runs", "4000", "--method", "words", "--at-most", "1e-5", "--json")
    assert (done.code, done.json["queries"][0]["verdict"]) == (1, "violated")


def test_a_campaign(cli, tmp_path: Path):
    file = tmp_path / "c.yaml"
    file.write_text(
        'format_version: 1\nmodel: "example:queue"\nconstants: {room: 5}\nengine: {kind: estimate}\nseed: 1\n'
        'requirements:\n  - {id: Q1, query: "P<=0.9 [ F<=1 waiting == room ]", expected: not_falsified}\n'
    )
    done = cli("run", str(file))
    assert done.code == 0 and "holds" in done.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--example", "hubble", "--set", "nux=6"), "unknown constant 'nux'"),
        (("--example", "hubble", "--set", "nu"), "write NAME=NUMBER"),
        (("--example", "hubble", "--query", "P=? [ F<=1 crush ]"), "Did you mean 'crash'?"),
        (("--example", "hubble", "--query", "P=? [ F<=1 crash"), "bracket is not closed"),
        (("--example", "hubble", "--query", "P=? [ F<=-5 crash ]"), "a bound of time is a number from 0 on; found -5"),
        (("--example", "hubble", "--query", "P=? [ F<=t crash ]"), "a bound of time is a number from 0 on; found t"),
        (("--example", "typist", "--budget", "soon"), "write a time"),
        (
            ("--example", "typist", "--query", "T=? [ F Typist.Open ]", "--method", "sequence"),
            "--method sequence makes no chain",
        ),
        (
            ("--example", "typist", "--query", "E[<=3; 5](max: clk)"),
            "unknown name 'clk' in the query 'E[<=3; 5](max: clk)'",
        ),
        (("--example", "typist", "--query", "E[<=-3; 5](max: 1)"), "a bound of time is a number from 0 on; found -3"),
        (("--example", "typist", "--query", "simulate [<=-3; 5] {1}"), "a bound of time is a number from 0 on"),
        (("--example", "typist", "--query", "Pr[<=-3](<> Typist.Open)"), "a bound of time is a number from 0 on"),
        (("--example", "typist", "--query", "Pr[#<=-3](<> Typist.Open)"), "a bound of steps is a number from 0 on"),
        (("--example", "typist", "--query", "Pr[<=3; 0](<> Typist.Open)"), "the number of runs is a whole number"),
        (("--example", "typist", "--query", "E[<=3; 1](max: 1)"), "a mean needs two runs at least"),
        ((), "give one of these"),
    ],
)
def test_bad_input(cli, arguments: tuple[str, ...], says: str):
    done = cli("estimate", *arguments)
    assert done.code == 2 and says in "\n".join(done.problems)


def test_each_answer_is_told_once(cli):
    done = cli("estimate", "--example", "queue", "--query", "P=? [ F<=10 waiting == 3 ]", "--budget", "0s")
    assert done.code == 4 and done.out.count("not estimated") == 1 and "not estimated (budget: time)" in done.out
    done = cli("estimate", "--example", "erlang", "--query", "simulate [<=3; 2] {Timer.Done}", "--seed", "1")
    assert done.code == 0 and "    2 runs\n    simulation, " in done.out


def test_probabilities_of_a_chain_are_compared_exactly(cli):
    """Erlang(4, 2): 0.848796117 within 3, 0.56652988 within 2."""
    asked = ("estimate", "--example", "erlang", "--query", "Pr[<=3](<> Timer.Done) >= Pr[<=2](<> Timer.Done)", "--json")
    [row] = cli(*asked).json["queries"]
    assert row["verdict"] == "holds" and row["runs"] == 0 and "Markov chain" in row["method"]
    assert row["estimate"]["value"] == pytest.approx(0.848796117 - 0.566529880, abs=2e-9)
    [row] = cli(*asked, "--method", "sequence", "--seed", "1").json["queries"]
    assert row["verdict"] == "holds" and row["runs"] > 0 and row["estimate"]["low"] < 0.2822 < row["estimate"]["high"]


def test_relative_precision_needs_no_quotes():
    from bbfalsify.cli.engine_options import with_whole_precisions

    words = ["--precision", "relative", "0.1", "--seed", "1"]
    assert with_whole_precisions(words) == ["--precision", "relative 0.1", "--seed", "1"]
    assert with_whole_precisions(["relative", "model.yaml"]) == ["relative", "model.yaml"]


def test_a_curve_over_time_and_a_table_over_constants(cli):
    """The telescope's crash: the last line of the table is the query itself; nine digits are in the manual."""
    asked = ("estimate", "--example", "hubble", "--query", "P<=1e-4 [ F<=10 crash ]", "--seed", "1")
    done = cli(*asked, "--times", "0:10:5", "--vary", "nu=3,6", "--json")
    [row] = done.json["queries"]
    assert [(line["at"]["nu"], line["at"]["time"]) for line in row["table"]] == [
        (3, 0), (3, 5), (3, 10), (6, 0), (6, 5), (6, 10),
    ]  # fmt: skip
    values = [line["estimate"]["value"] for line in row["table"]]
    assert values[-2:] == pytest.approx([8.20708519e-5, 3.61319552e-4], rel=1e-8) and values[0] == 0
    assert values[-1] == row["estimate"]["value"] and values[2] > values[-1]
    assert [line["verdict"] for line in row["table"][-2:]] == ["holds", "violated"]
    shown = cli("show", done.json["run_directory"]).out
    assert "    nu  time\n" in shown and "     6    10  violated: 0.0003613195523\n" in shown


def test_a_curve_of_a_model_that_is_simulated(cli, tmp_path: Path):
    """A uniform delay on [0, 4]: half of it by 2.  99.9 % intervals."""
    (tmp_path / "m.yaml").write_text(
        "format_version: 1\nname: m\ndeclarations: clock x;\nautomata:\n  A:\n    initial: W\n    locations:\n"
        '      W: {invariant: "x <= 4"}\n      D: {}\n    edges:\n      - {from: W, to: D, action: go}\n'
    )
    options = ("--confidence", "0.999", "--precision", "0.05", "--seed", "1", "--times", "1,2,3", "--json")
    [row] = cli("estimate", "m.yaml", "--query", "Pr[<=4](<> A.D)", *options).json["queries"]
    for line in row["table"]:
        assert line["estimate"]["low"] <= line["at"]["time"] / 4 <= line["estimate"]["high"]


def test_derivatives_of_an_answer(cli):
    asked = ("estimate", "--example", "gambler-in-time", "--query", "T=? [ F Gambler.Home ]", "--derivatives", "--json")
    [row] = cli(*asked).json["queries"]
    [one] = row["derivatives"]
    assert one["elasticity"] == pytest.approx(-1, abs=1e-6) and one["parameter"] == "rate of Gambler.Absent"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--times", "3:1:1"), "--times FROM:TO:STEP needs FROM <= TO"),
        (("--times", "0:1:1e-9"), "too many"),
        (("--times", "soon"), "with numbers; found 'soon'"),
        (("--vary", "nu"), "--vary write NAME=FROM:TO:STEP"),
        (("--vary", "nux=1,2"), "unknown constant 'nux'. Allowed: N, lambda, mu, nu. Did you mean 'nu'?"),
        (("--times", "1,2", "--query", "T=? [ F crash ]"), "a curve over time needs one bound of time"),
    ],
)
def test_wrong_curves_and_tables(cli, arguments, says):
    query = () if "--query" in arguments else ("--query", "P=? [ F<=1 crash ]")
    done = cli("estimate", "--example", "hubble", *query, *arguments)
    assert done.code == 2 and says in done.err


@pytest.mark.parametrize(("option", "value"), [("--at-most", "2"), ("--horizon", "-1"), ("--runs", "0")])
def test_a_wrong_setting_of_a_system_in_use_is_the_only_problem(cli, option, value):
    """The horizon says that a system is asked, and is not known where another setting is wrong."""
    folder = example_folder("heater")
    done = cli(
        "estimate", "--system", str(folder / "system.py:heater"), "--profile", str(folder / "profile.yaml"),
        "--require", "always[0:20](T <= 75)", "--horizon", "20", option, value,
    )  # fmt: skip
    assert done.code == 2 and done.err.startswith(option) and done.err.count("\n") == 1
