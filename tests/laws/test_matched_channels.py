"""Large arrays of channels are matched pair by pair; the network must mean the same as the unfolded one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bbfalsify.api import reach, verify
from bbfalsify.modelling import Network, load_model
from bbfalsify.modelling.language import edge_builder

GOSSIP = """
const int N = {n}; const int ALL = (1 << N) - 1; typedef int[0,N-1] id_t; typedef int[0,ALL] secrets_t;
chan call[ALL+1][ALL+1];
process Node(id_t i) {{
  clock x; secrets_t s = 0; int[0,N+1] d;
  int[0,N] different(secrets_t a, secrets_t b) {{
    int c = 0; secrets_t m = a ^ b; for (j : id_t) {{ c += (m >> j) & 1; }} return c; }}
  state Begin, Wait, Call; commit Begin; init Begin;
  trans Begin -> Wait {{ assign s = 1 << i; }},
    Wait -> Call {{ select o : secrets_t; sync call[o][s]?; assign d = different(s, o) + 1, s = s | o, x = 0; }},
    Wait -> Call {{ select o : secrets_t; sync call[s][o]!; assign d = different(s, o) + 1, s = s | o, x = 0; }},
    Call -> Wait {{ guard x >= d; assign d = 0; }};
}}
system Node;
"""

MIXED = """
typedef int[0,3] t; chan c[4][4]; t a = 1, b = 2; int[0,20] got, sent; clock x;
process S() {{ state A {{ x <= 3 }}, B; init A; trans
  A -> B {{ select v : t, w : int[0,1]; guard {guard}; sync c[a][v]!; assign a = 3, sent = 4 * v + w; }},
  A -> A {{ guard x >= 1; assign a = (a + 1) % 4, x = 0; }}; }}
process R() {{ state A; init A; trans A -> A {{ select u : {range}; sync c[u][b]?; assign got = 4 * u + a, b = 0; }}; }}
process Q() {{ state A; init A; trans A -> A {{ sync c[2][b + 1]?; assign got = 20; }}; }}
system S, R, Q;
"""


def edges(network: Network) -> int:
    return sum(len(process.edges) for process in network.processes)


def both(monkeypatch: pytest.MonkeyPatch, text: str, folder: Path) -> tuple[Network, Network]:
    """The network matched, and unfolded."""
    file = folder / "model.xta"
    file.write_text(text, encoding="utf-8")
    networks = []
    for large in (1, 10**9):
        monkeypatch.setattr(edge_builder, "LARGE", large)
        networks.append(load_model(file)[0])
    return networks[0], networks[1]


def explored(network: Network, query: str) -> tuple[object, int]:
    found = verify(network, query, seed=1, jobs=1, walks=0.0)
    return found.verdict, found.answer.effort.stored


@pytest.mark.parametrize("n", [2, 3])
def test_gossip_has_the_same_states_matched_and_unfolded(n, monkeypatch, tmp_path):
    matched, unfolded = both(monkeypatch, GOSSIP.format(n=n), tmp_path)
    assert edges(matched) == n * (2 + 2 * (n - 1))
    assert edges(unfolded) == n * (2 + 2 * 4**n)
    everything = "A[] forall (i : id_t) Node(i).s <= ALL"
    assert explored(matched, everything) == explored(unfolded, everything)
    for query in ("E<> Node(0).s == ALL && Node(1).s != ALL", "E<> Node(0).d == N + 1", "A[] Node(0).d <= N"):
        assert explored(matched, query)[0] == explored(unfolded, query)[0]


@pytest.mark.parametrize("guard", ["v > 0", "v == 2 && x >= 2", "w == 1 || v < 2"])
@pytest.mark.parametrize("values", ["t", "int[1,2]"])
def test_guards_ranges_and_other_selected_names_mean_the_same(guard, values, monkeypatch, tmp_path):
    matched, unfolded = both(monkeypatch, MIXED.format(guard=guard, range=values), tmp_path)
    assert edges(matched) < edges(unfolded)
    everything = "A[] got <= 20"
    assert explored(matched, everything) == explored(unfolded, everything)
    for got in (5, 6, 7, 9, 10, 20):
        assert explored(matched, f"E<> got == {got}")[0] == explored(unfolded, f"E<> got == {got}")[0]
        assert explored(matched, f"E<> sent == {got}")[0] == explored(unfolded, f"E<> sent == {got}")[0]


def test_names_that_do_not_follow_from_the_partner_are_unfolded(monkeypatch, tmp_path):
    text = MIXED.format(guard="true", range="t").replace("c[u][b]?", "c[a][u]?")
    matched, unfolded = both(monkeypatch, text, tmp_path)
    assert edges(matched) == edges(unfolded)


def test_a_large_gossip_is_read_and_searched_at_once(tmp_path):
    """Unfolded, this has 229,390 edges."""
    file = tmp_path / "gossip.xta"
    file.write_text(GOSSIP.format(n=7), encoding="utf-8")
    network, _ = load_model(file)
    assert edges(network) == 98
    found = reach(network, "E<> Node(0).s == ALL", seed=1, jobs=1, timeout=20)
    assert found.finding is not None
    assert "select" not in str(found.in_words())
