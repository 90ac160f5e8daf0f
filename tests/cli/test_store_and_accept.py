"""Continuous integration with a store and accepted failures: what is printed, what the exit code says."""

import json
import re

import pytest

SMALL = ("--simulations", 220, "--passes", 3, "--traces", 10, "--seed", 1)
ENOUGH_FOR_MODES = ("--simulations", 400, "--passes", 5, "--traces", 30)


def falsify(cli, heater, *options):
    return cli(
        "falsify", "--system", f"{heater}/system.py:heater", "--profile", heater / "profile.yaml",
        "--require", "always[0:20](T <= 75)", "--horizon", 20, *SMALL, *options,
    )  # fmt: skip


def test_from_the_first_failure_to_a_green_pipeline(cli, heater):
    first = falsify(cli, heater, "--store", "store", "--json", "-q")
    assert first.code == 1 and first.json["known"] == [] and first.json["store"] == "store"
    directory = first.json["run_directory"]
    accepted = cli("accept", directory, "-o", "accepted.yaml", "--reason", "fuse trips first")
    assert accepted.code == 0 and accepted.out.splitlines()[-1] == "accepted.yaml: 4 added, 0 accepted before"
    second = falsify(cli, heater, "--store", "store", "--accept", "accepted.yaml")
    assert second.code == 0
    assert "store store: 4 known (4 still there), 0 new" in second.out
    assert "R1 falsified, all 4 accepted" in second.out
    assert cli("validate", "accepted.yaml").out == "accepted.yaml: accepted failures, 4 entries: no problems\n"


def test_modes_are_accepted_by_name_and_followed_over_the_runs_of_a_store(cli, heater, tmp_path):
    first = falsify(cli, heater, *ENOUGH_FOR_MODES, "--store", "store", "--json", "-q")
    directory, names = first.json["run_directory"], [mode["name"] for mode in first.json["modes"]]
    assert first.json["history"] == [] and len(names) == 2, "so few as explain all rows"
    wrong = cli("accept", directory, "-o", "accepted.yaml", "--reason", "fuse", "--mode", "of")
    assert wrong.code == 2 and "unknown failure mode 'of'" in wrong.err
    accepted = cli("accept", directory, "-o", "accepted.yaml", "--reason", "fuse", "--mode", "*")
    assert accepted.out.splitlines()[-1] == f"accepted.yaml: {len(names)} added, 0 accepted before"
    second = falsify(cli, heater, *ENOUGH_FOR_MODES, "--store", "store", "--accept", "accepted.yaml")
    assert second.code == 0 and "all 4 accepted" in second.out and "(accepted)" in second.out
    assert "store, 1 earlier run of R1: no failure mode is new or gone" in second.out
    one = cli("accept", directory, "-o", "one.yaml", "--reason", "fuse", "--mode", "1")
    assert one.code == 0
    third = falsify(cli, heater, *ENOUGH_FOR_MODES, "--store", "store", "--accept", "one.yaml")
    assert (third.code == 1) == (len(names) > 1) and ("(not accepted)" in third.out) == (len(names) > 1)
    lines = (tmp_path / "store" / "modes.jsonl").read_text().splitlines()
    assert [[m["name"] for m in json.loads(line)["modes"]] for line in lines] == [names] * 3
    page = next((tmp_path / "runs").glob("*-3")) / "report.html"
    text = page.read_text()
    assert "over the runs of the store" in text
    drawn = text.split("mode 1 in the profile: ")[1].split("</details>")[0]
    assert 'class="taken"' in drawn and re.search(r"on/\d+ %", drawn), "the way of a typical use, and frequencies"


def test_a_new_failure_an_expired_entry_and_a_stale_one(cli, heater, tmp_path):
    file = tmp_path / "accepted.yaml"
    file.write_text(
        "format_version: 1\naccepted:\n"
        "  - {requirement: R1, actions: [on, on, on, on, off], reason: x, expires: 2020-01-01}\n"
        "  - {requirement: R1, actions: [on, on, on, on, on], reason: x}\n"
        "  - {requirement: R1, pattern: off **, reason: x}\n"
    )
    called = falsify(cli, heater, "--accept", file)
    assert called.code == 1
    # However short the column makes the words.
    assert "off (expired)" in called.out and re.search(r"(on×3|on·on·on)·off \(new\)", called.out)
    assert "R1 falsified, 3 of 4 not accepted" in called.out
    assert "accepted, but not found: R1 off·** (line 5)" in called.out
    assert max(map(len, called.out.splitlines()[:8])) <= 80
    data = falsify(cli, heater, "--accept", file, "--json", "-q").json
    assert data["outcome"] == "falsified"
    assert data["acceptance"]["all_accepted"] is False and data["acceptance"]["not_accepted"] == 3
    assert {c["accepted"] for c in data["counterexamples"]} == {"accepted", "expired", "new"}


def test_a_campaign_names_both_and_acceptance_goes_before_expectation(cli, heater):
    campaign = heater / "campaign.yaml"
    text = campaign.read_text().replace("simulations: 2000", "simulations: 220").replace("traces: 100", "traces: 10")
    campaign.write_text(text + "store: known\naccepted: accepted.yaml\n")
    (heater / "accepted.yaml").write_text("format_version: 1\naccepted: []\n")
    called = cli("run", campaign)
    assert called.code == 1 and "4 of 4 not accepted" in called.out  # though the campaign expects it to be falsified
    assert len(list((heater / "known").glob("*.json"))) == 4
    (heater / "accepted.yaml").write_text(
        "format_version: 1\naccepted:\n  - {requirement: R1, pattern: '**', reason: x, max_probability: 0.5}\n"
    )
    assert cli("run", campaign).code == 0
    (heater / "accepted.yaml").write_text(
        "format_version: 1\naccepted:\n  - {requirement: R1, pattern: '**', reason: x, max_probability: 0.001}\n"
    )
    called = cli("run", campaign)
    assert called.code == 1 and "(too probable)" in called.out


def test_the_command_line_overrules_the_campaign(cli, heater):
    campaign = heater / "campaign.yaml"
    text = campaign.read_text().replace("simulations: 2000", "simulations: 22").replace("traces: 100", "traces: 5")
    campaign.write_text(text + "store: known\n")
    assert cli("run", campaign, "--store", "mine").code in (0, 1)
    assert not (heater / "known").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "format_version: 1\naccepted:\n  - {requirement: R2, pattern: '**', reason: x}\n",
            "unknown requirement 'R2'.",
        ),
        ("format_version: 1\naccepted:\n  - {requirement: R1, actions: [onn], reason: x}\n", "Did you mean 'on'?"),
        ("format_version: 1\naccepted:\n  - {requirement: R1, reason: x}\n", "accepted.yaml:3: an entry needs one of"),
    ],
)
def test_bad_files_are_refused_before_anything_runs(cli, heater, tmp_path, text, message):
    (tmp_path / "accepted.yaml").write_text(text)
    called = falsify(cli, heater, "--accept", "accepted.yaml")
    assert called.code == 2 and called.out == "" and message in called.err


def test_missing_files_and_wrong_arguments(cli, heater, tmp_path):
    (tmp_path / "file").write_text("")
    called = falsify(cli, heater, "--accept", "nowhere.yaml", "--store", "file")
    assert called.code == 2
    assert called.problems == ["--store: 'file' is not a folder.", "--accept: there is no file 'nowhere.yaml'."]
    assert cli("accept", "nowhere", "-o", "a.yaml", "--reason", "x").code == 2
    results = {"outcome": "falsified", "seed": 1, "simulations": 1, "counterexamples": [], "found_probability": None}
    (tmp_path / "results.json").write_text(
        json.dumps({**results, "requirements": [{"id": "R1", "outcome": "falsified"}]})
    )
    called = cli("accept", "results.json", "-o", "a.yaml", "--reason", "x", "--requirement", "R3")
    assert called.code == 2 and "Did you mean 'R1'?" in called.err
    called = cli("accept", "results.json", "-o", "a.yaml", "--reason", "x", "--expires", "soon")
    assert called.code == 2 and "--expires must be a day" in called.err
