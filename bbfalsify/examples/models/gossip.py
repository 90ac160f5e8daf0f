"""Gossiping girls: each knows a secret, and a call between two of them exchanges all that both know.

There are three encodings of the problem, as its difficulty for a heuristic depends on the encoding.
A call takes 10 to 20 time units; `t <= T` asks for nearly the fewest rounds of parallel calls.
"""

from __future__ import annotations

from math import ceil, log2

from bbfalsify.modelling import Network, NetworkBuilder


def _girls(name: str, girls: int) -> NetworkBuilder:
    b = NetworkBuilder(name)
    rounds = ceil(log2(girls)) + girls % 2
    b.declare(f"const int N = {girls}; typedef int[0,N-1] id_t; const int ALL = {2**girls - 1};")
    b.declare(f"const int T = {10 * (rounds + max(1, girls // 4))}; clock t; bool done;")
    return b


def by_masks(girls: int) -> Network:
    """Secrets as bit masks; `call[i][j]` is a handshake, and the callee does the work at the end."""
    b = _girls("gossip_masks", girls)
    b.declare("chan call[N][N], hang_up[N][N]; int k[N];")
    b.declare("bool all_know() { for (i : id_t) { if (k[i] != ALL) return false; } return true; }")
    girl = b.automaton("Girl", parameters="const id_t id", declarations="clock x; int[0,N] other = 0;")
    girl.location("Start", committed=True)
    girl.location("Free")
    girl.location("Calling")
    girl.location("Called", invariant="x <= 20")
    girl.edge("Start", "Free", action="learn", update="k[id] = 1 << id")
    girl.edge("Free", "Calling", select="j : id_t", guard="j != id", sync="call[id][j]!", update="other = j")
    girl.edge("Free", "Called", select="j : id_t", guard="j != id", sync="call[j][id]?", update="other = j, x = 0")
    girl.edge("Called", "Free", select="j : id_t", guard="x >= 10 && j == other", sync="hang_up[id][j]!",
              update="k[id] = k[id] | k[j], k[j] = k[id], done = all_know(), other = 0")  # fmt: skip
    girl.edge("Calling", "Free", select="j : id_t", guard="j == other", sync="hang_up[j][id]?", update="other = 0")
    b.instance("Girl")
    return b.build()


def by_table(girls: int) -> Network:
    """Secrets in a table of Booleans, merged by a function; one channel to ring, and the caller leaves its name."""
    b = _girls("gossip_table", girls)
    b.declare("chan ring; broadcast chan bye; bool knows[N][N]; id_t caller, leaver;")
    b.declare(
        """
        void learn(id_t me) { knows[me][me] = true; }
        void share(id_t a, id_t b) {
            for (s : id_t) { bool either = knows[a][s] || knows[b][s]; knows[a][s] = either; knows[b][s] = either; }
            done = true;
            for (g : id_t) { for (s : id_t) { if (!knows[g][s]) done = false; } }
        }
        """
    )
    girl = b.automaton("Girl", parameters="const id_t id", declarations="clock x; id_t partner;")
    girl.location("Start", committed=True)
    girl.location("Free")
    girl.location("Talks", invariant="x <= 20")
    girl.location("Listens")
    girl.edge("Start", "Free", action="learn", update="learn(id)")
    girl.edge("Free", "Talks", sync="ring!", update="caller = id, x = 0")
    girl.edge("Free", "Listens", sync="ring?", update="partner = caller")
    girl.edge("Talks", "Free", guard="x >= 10", sync="bye!", update="leaver = id")
    girl.edge("Listens", "Ended", sync="bye?")
    girl.location("Ended", committed=True)
    girl.edge("Ended", "Free", action="share", guard="leaver == partner", update="share(id, partner)")
    girl.edge("Ended", "Listens", action="wrong", guard="leaver != partner")
    b.instance("Girl")
    return b.build()


def by_exchange(girls: int) -> Network:
    """An exchange with a few lines chooses who talks to whom; the girls are data."""
    b = _girls("gossip_exchange", girls)
    b.declare("int k[N]; bool busy[N];")
    b.declare(
        """
        bool all_know() { for (i : id_t) { if (k[i] != ALL) return false; } return true; }
        void begin() { for (i : id_t) k[i] = 1 << i; }
        """
    )
    b.declare(f"typedef int[0,{max(0, girls // 2 - 1)}] line_t; bool ready;")
    setup = b.automaton("Setup")
    setup.location("Start", committed=True)
    setup.location("Done")
    setup.edge("Start", "Done", action="begin", update="begin(), ready = true")
    line = b.automaton("Line", parameters="const line_t id", declarations="clock x; id_t a, c;")
    line.location("Free")
    line.location("Call", invariant="x <= 20")
    line.edge("Free", "Call", action="call", select="i : id_t, j : id_t",
              guard="ready && i < j && !busy[i] && !busy[j]",
              update="a = i, c = j, busy[i] = true, busy[j] = true, x = 0")  # fmt: skip
    line.edge("Call", "Free", action="hang_up", guard="x >= 10",
              update="k[a] = k[a] | k[c], k[c] = k[a], busy[a] = false, busy[c] = false, done = all_know(), "
                     "a = 0, c = 0")  # fmt: skip
    b.instance("Setup").instance("Line")
    return b.build()
