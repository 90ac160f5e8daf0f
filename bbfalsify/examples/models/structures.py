"""State spaces of the study of highway search (Engels et al., 2009): hard to search, small, and without time.

The first three are those of the paper's appendix, and the philosophers have the single deadlock that it describes.  The
protocols have the names and faults of its Table 1, but are models of our own.
"""

from __future__ import annotations

from bbfalsify.modelling import Network, NetworkBuilder


def diamond(size: int) -> Network:
    """A grid of (size + 1)² states; report states are on the diagonal i + j = size."""
    b = NetworkBuilder("diamond")
    b.declare(f"const int N = {size}; int[0,N] i, j;")
    p = b.automaton("X").location("Here")
    p.edge("Here", "Here", action="report", guard="i + j == N")
    p.edge("Here", "Here", action="down", guard="j < N", update="j = j + 1")
    p.edge("Here", "Here", action="up", guard="i < N", update="i = i + 1")
    return b.build()


def back_loops(size: int) -> Network:
    """One way of `size` steps to a deadlock; from each state on it another way leads back to the beginning."""
    b = NetworkBuilder("back_loops")
    b.declare(f"const int N = {size}; int[0,N] n, m;")
    p = b.automaton("P").location("Way").location("Back").location("Stuck")
    p.edge("Way", "Way", action="on", guard="n < N", update="n = n + 1")
    p.edge("Way", "Stuck", action="end", guard="n == N", update="n = 0")
    p.edge("Way", "Way", action="stay", guard="n == 0")
    p.edge("Way", "Way", action="return", guard="n == 1", update="n = 0")
    p.edge("Way", "Back", action="return", guard="n > 1", update="m = n - 1, n = n - 2")
    p.edge("Back", "Back", action="back", guard="n > 0", update="n = n - 1")
    p.edge("Back", "Way", action="again", guard="n == 0", update="m = 0")
    return b.build()


def components(size: int) -> Network:
    """As many strongly connected components as each has states; one state of each leads out."""
    b = NetworkBuilder("components")
    b.declare(f"const int N = {size}; typedef int[1,N] id_t; int[0,N] id, pos;")
    p = b.automaton("C").location("Start").location("In").location("Out")
    p.edge("Start", "In", action="enter", select="k : id_t", update="id = k, pos = 1")
    p.edge("In", "In", action="move", select="k : id_t", guard="k != pos", update="pos = k")
    p.edge("In", "Out", action="report", guard="pos == N")
    return b.build()


def philosophers(count: int) -> Network:
    """Each takes the left fork, takes the right one, eats, puts down the left one and then the right one."""
    b = NetworkBuilder("philosophers")
    b.declare(f"const int N = {count}; typedef int[0,N-1] id_t; bool taken[N];")
    p = b.automaton("P", parameters="const id_t id").location("Thinks").location("HasLeft").location("HasBoth")
    p.location("Fed").location("HasRight")
    p.edge("Thinks", "HasLeft", action="left", guard="!taken[id]", update="taken[id] = true")
    p.edge("HasLeft", "HasBoth", action="right", guard="!taken[(id + 1) % N]", update="taken[(id + 1) % N] = true")
    p.edge("HasBoth", "Fed", action="eat")
    p.edge("Fed", "HasRight", action="put_left", update="taken[id] = false")
    p.edge("HasRight", "Thinks", action="put_right", update="taken[(id + 1) % N] = false")
    b.instance("P")
    return b.build()
