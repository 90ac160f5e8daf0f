"""The campaigns of experiments/checking on the real servers, and what they find there, each in a few seconds.

Findings are compared with what the servers were told in so many words, without an engine: see test_servers.py.
"""

from pathlib import Path

import pytest

from bbfalsify import check, load_campaign
from bbfalsify.automata.mealy import read_dot
from bbfalsify.campaigns.run_all import run_all
from bbfalsify.core.query import WordQuery
from bbfalsify.running import Driver
from bbfalsify.systems import load_system

FOLDER = Path("experiments/checking")


def run(name, out):
    """The only run of a campaign: its results, and how each requirement is violated, where it is."""
    [done] = run_all(load_campaign(FOLDER / f"{name}.yaml"), out=out)
    assert done.results["category"] == "correct", done.results["requirements"]
    rows = {row["id"]: row for row in done.results["requirements"]}
    assert not any(row["vacuous"] for row in rows.values())
    return done.results, {name: " ".join(row["prefix"]) for name, row in rows.items() if row["verdict"] == "violated"}


def test_smtp_keeps_to_its_rfc(tmp_path):
    results, violated = run("smtp", tmp_path)
    assert violated == {} and results["tested_bound"] == 7
    model = read_dot(results["model"])
    assert len(model) == 6  # start, greeted, in a mail, with a recipient, in its content, closed
    seen = model.run("helo mail rcpt data quit quit noop".split())
    assert seen == ("250", "250", "250", "354", "250", "221", "closed")


@pytest.mark.parametrize("adapter", ["smtp", "ftp"])
def test_servers_hang_up_on_clients_that_make_mistakes(adapter, tmp_path):
    """Six steps away from the start, where the few states learned first know nothing about it."""
    results, violated = run(f"{adapter}_hangs_up", tmp_path)
    word = violated["hangs_up"].split()
    assert {"smtp": ["content"] * 5, "ftp": ["user", "wrong_pass"] * 3}[adapter] == word[:-1]
    with Driver(load_system(f"adapters/{adapter}"), None) as driver:
        [answer] = driver.ask([WordQuery("again", tuple(word))])
    assert answer.symbols[-1] == "closed" and not {"221", "421"} & set(answer.symbols)
    assert results["requirements"][0]["status"] == "confirmed"


def test_ftp_takes_its_time_between_halves_of_a_command(tmp_path):
    results, violated = run("ftp", tmp_path)
    assert set(violated) == {"pass_at_once", "rename_at_once"}
    assert results["tested_bound"] == 8 and "only user, pass" in results["notes"][0]


def test_mosquitto_forgets_the_session_of_a_client_that_connects_twice(tmp_path):
    results, violated = run("mosquitto", tmp_path)
    assert set(violated) == {"persistent_after_mistakes"} and results["states"] == 14
    model = read_dot(results["model"])
    word = "connect_persistent subscribe connect_clean connect_persistent publish_qos0".split()
    with Driver(load_system("adapters/mosquitto"), None) as driver:
        [answer] = driver.ask([WordQuery("again", tuple(word))])
    assert answer.symbols == model.run(word) == ("CONNACK:0", "SUBACK", "closed", "CONNACK:0", "-")


def test_two_servers_side_by_side_tell_the_same():
    """Asked by two workers, each with a server of its own."""
    one, two = (
        check(load_system("adapters/ftp"), max_states=4, alphabet=["user", "pass", "quit"], seed=1, jobs=jobs)
        for jobs in (1, 2)
    )
    assert (one.queries, one.symbols, one.states, one.tested_bound) == (two.queries, two.symbols, 3, 4)
    assert (one.machine.successor == two.machine.successor).all() and one.machine.outputs == two.machine.outputs
