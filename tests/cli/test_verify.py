"""bbfalsify verify, as users call it."""

from __future__ import annotations

from pathlib import Path

import pytest

CONTRACT = {"query", "verdict", "why", "states", "stored", "depth", "cpu_seconds", "memory_mb", "trace"}


def test_a_proof(cli):
    done = cli("verify", "--example", "fischer:3", "--json")
    [row] = done.json["queries"]
    assert done.code == 0 and set(row) >= CONTRACT
    assert (row["verdict"], row["why"], row["states"], row["trace"]) == ("holds", None, 71, None)
    shown = cli("verify", "--example", "fischer:3")
    assert "HOLDS" in shown.out and "a proof about this model" in shown.out


def test_a_violation_has_a_trace_that_replays(cli):
    done = cli("verify", "--example", "fischer-faulty:3", "--trace", "shortest")
    assert done.code == 1 and "VIOLATED, shown by 6 steps and 4 time units" in done.out
    found = cli("verify", "--example", "fischer-faulty:3", "--trace", "shortest", "--json")
    [row] = found.json["queries"]
    assert row["verdict"] == "violated" and len(row["trace"]["steps"]) == 6
    file = Path(found.json["run_directory"]) / "counterexamples" / "trace.json"
    assert cli("replay", file).code == 1
    assert (file.parent.parent / "report.html").is_file()


def test_several_queries_and_their_exit_codes(cli):
    never = ["--query", "E<> P(1).cs && P(2).cs"]
    some = ["--query", "E<> P(1).cs"]
    done = cli("verify", "--example", "fischer:2", *never, *some, "--json")
    assert [row["verdict"] for row in done.json["queries"]] == ["violated", "holds"]
    assert done.code == 1 and done.json["outcome"] == "reached"
    assert cli("verify", "--example", "fischer:2", *never).code == 0
    assert cli("verify", "--example", "fischer:2", "--query", "A[] not deadlock").code == 0


def test_the_fastest_trace(cli):
    """Four steps are enough for a train to cross while another waits, and ten time units are needed."""
    query = "E<> Train(1).Cross && Train(0).Stop"
    done = cli("verify", "--example", "train-gate:4", "--query", query, "--trace", "fastest")
    assert done.code == 1 and "10 time units" in done.out
    wrong = cli("verify", "--example", "train-gate:4", "--trace", "fastest", "--heuristic", "dfs")
    assert wrong.code == 2 and "cannot be 'fastest' with dfs" in wrong.err


def test_queries_about_whole_runs(cli):
    """The first train may wait for ever; one that approaches crosses."""
    queries = ["A<> Train(0).Cross", "Train(0).Appr --> Train(0).Cross", "E[] Train(0).Safe", "E[] not Train(0).Safe"]
    options = [word for query in queries for word in ("--query", query)]
    done = cli("verify", "--example", "train-gate:2", *options, "--json")
    rows = done.json["queries"]
    assert [row["verdict"] for row in rows] == ["violated", "holds", "holds", "violated"]
    assert [row["trace"] is not None for row in rows] == [True, False, True, False]
    one = cli("verify", "--example", "train-gate:2", *options[:2])
    assert one.code == 1 and "then waits for ever" in one.out


def test_a_budget_that_is_used_up_is_undecided(cli):
    done = cli("verify", "--example", "fischer:8", "--memory", "1", "--walks", "0", "--json")
    [row] = done.json["queries"]
    assert done.code == 4 and row["verdict"] == "undecided"
    assert "memory is used up" in row["why"] and row["states"] > 0
    plain = cli("verify", "--example", "fischer:8", "--memory", "1", "--walks", "0", "--fallback", "none", "--json")
    assert plain.code == 4 and "bit-state" in row["why"] and "bit-state" not in plain.json["queries"][0]["why"]


def test_models_without_zones_are_refused_by_name(cli, tmp_path: Path):
    file = tmp_path / "m.yaml"
    file.write_text(
        "format_version: 1\nname: m\nautomata:\n  P:\n    declarations: clock x;\n    initial: A\n"
        "    locations: {A: {rates: {x: 2}}}\n    edges: []\n"
    )
    done = cli("verify", file, "--query", "E<> P.x > 3")
    assert done.code == 2 and "rate other than 0 and 1" in done.err and "reach" in done.err


def test_largest_and_smallest_values(cli):
    """A process that asks waits for less than 2, or 2; one inside may stay as long as it likes."""
    queries = ["sup: id, P(1).cs", "sup{P(1).req}: P(1).x", "bounds{P(1).cs}: P(1).x", "inf{P(1).cs && P(2).cs}: id"]
    options = [word for query in queries for word in ("--query", query)]
    done = cli("verify", "--example", "fischer:2", *options, "--json")
    rows = done.json["queries"]
    assert done.code == 0 and {row["verdict"] for row in rows} == {"exact"}
    shown = [[(v["word"], v["value"], v["reached"], v["unbounded"]) for v in row["limits"]] for row in rows]
    assert shown == [
        [("sup", 2.0, True, False), ("sup", 1.0, True, False)], [("sup", 2.0, True, False)],
        [("inf", 2.0, False, False), ("sup", None, True, True)], [("inf", None, True, False)],
    ]  # fmt: skip
    assert [row["trace"] is not None for row in rows] == [True, True, True, False]
    files = [Path(value["file"]) for value in rows[2]["limits"]]
    assert len(set(files)) == 2 and cli("replay", files[0]).code == 1
    text = cli("verify", "--example", "fischer:2", "--query", queries[2])
    assert text.code == 0
    assert "inf P(1).x = 2 (approached, never reached); sup P(1).x: without bound (EXACT: " in text.out
    stopped = cli("verify", "--example", "fischer:8", "--query", "sup: id", "--memory", "1", "--json")
    [value] = stopped.json["queries"][0]["limits"]
    assert stopped.code == 4 and value["value"] >= 1 and "memory is used up" in value["why"]
    search = cli("verify", "--example", "fischer:2", "--query", "sup: id", "--heuristic", "drs")
    assert search.code == 2 and "looks for states" in search.err


def test_a_campaign(cli, tmp_path: Path):
    file = tmp_path / "c.yaml"
    file.write_text(
        'format_version: 1\nmodel: "example:fischer:3"\nengine: {kind: verify}\nseed: 1\n'
        'requirements:\n  - {id: Q1, query: "A[] (sum (i : id_t) P(i).cs) <= 1", expected: not_falsified}\n'
        '  - {id: Q2, query: "E<> P(1).cs", expected: reached}\n'
        '  - {id: Q3, query: "sup: id", expected: not_falsified}\n'
    )
    done = cli("run", file)
    assert done.code == 0 and "HOLDS" in done.out and "(as expected)" in done.out


@pytest.mark.parametrize("heuristic", ["bfs", "dfs", "rdfs", "drs", "highway"])
def test_reach_searches_the_states_by_every_method(cli, heuristic):
    done = cli("reach", "--example", "fischer-faulty:3", "--heuristic", heuristic, "--json", "--seed", "1")
    assert done.code == 1 and done.json["reached"] and len(done.json["trace"]["steps"]) >= 6
    file = Path(done.json["run_directory"]) / "counterexamples" / "trace.json"
    assert cli("replay", file).code == 1
    never = cli("reach", "--example", "fischer:3", "--heuristic", heuristic, "--json")
    assert never.code == (4 if heuristic == "highway" else 0)
    assert never.json["verdict"] == ("undecided" if heuristic == "highway" else "holds")


def test_models_without_time_are_searched_state_by_state(cli):
    done = cli(
        "verify", "--example", "philosophers:5", "--heuristic", "drs", "--increment", "1", "--seed", "1", "--json"
    )
    [row] = done.json["queries"]
    assert (row["verdict"], row["found_by"], len(row["trace"]["steps"])) == ("holds", "states, drs", 5)


def test_settings_of_walks_do_not_go_with_searches(cli):
    done = cli("reach", "--example", "fischer:3", "--heuristic", "drs", "--walks", "3")
    assert done.code == 2 and "walks" in done.err and "drs searches the states" in done.err
    runs = cli("verify", "--example", "train-gate:2", "--query", "A<> Train(0).Cross", "--heuristic", "drs")
    assert runs.code == 2 and "looks for states" in runs.err


def test_a_model_that_cannot_begin_proves_nothing(cli, tmp_path: Path):
    file = tmp_path / "m.xta"
    file.write_text(
        "clock x; int n = 1;\nprocess P() { state A { n == 0 }, B; init A; trans A -> B { }; }\nsystem P;\n"
    )
    for query in ("A[] false", "A<> P.B", "P.A --> P.B"):
        for heuristic in ("bfs", "drs"):
            done = cli("verify", file, "--query", query, "--heuristic", heuristic if query == "A[] false" else "bfs")
            assert done.code == 4 and "forbids the initial state" in done.out


def test_a_run_that_avoids_from_the_middle_of_a_wait_on(cli, tmp_path: Path):
    """The premise holds only while the process waits, and the run then waits for ever, or is stuck."""
    file = tmp_path / "m.xta"
    for invariant, end in (("", "waits for ever"), (" { x <= 3 }", "nothing can happen")):
        file.write_text(
            f"clock x;\nprocess P() {{ state A{invariant}, B; init A; trans A -> B {{ guard x == 1; }}; }}\nsystem P;\n"
        )
        done = cli("verify", file, "--query", "P.A && x > 1 --> P.B", "--json")
        assert done.code == 1 and done.json["queries"][0]["trace"]["waits"] > 1
        trace = Path(done.json["run_directory"]) / "counterexamples" / "trace.json"
        replayed = cli("replay", trace)
        assert replayed.code == 1 and end in replayed.out


def test_an_interrupted_exploration_says_what_is_known(cli, monkeypatch):
    """Ctrl-C after some states: how many, how deep, and that nothing is proved."""
    from bbfalsify.zones.explorer import Explorer

    monkeypatch.setattr("bbfalsify.zones.explorer.AT_ONCE", 64)
    original = Explorer.left.fget

    def interrupted(explorer):
        if explorer.visited > 500:
            raise KeyboardInterrupt
        return original(explorer)

    monkeypatch.setattr(Explorer, "left", property(interrupted))
    done = cli("verify", "--example", "fischer:8", "--heuristic", "bfs", "--json")
    [row] = done.json["queries"]
    assert done.code == 130 and row["verdict"] == "undecided" and row["states"] > 0
    assert "interrupted; no target among" in row["why"] and "nothing is proved" in row["why"]
