"""Breadth-first search: all states after one step, after two, and so on.  The first trace is a shortest one."""

from __future__ import annotations

from bbfalsify.engines.searching.bookkeeping import Search, in_batches


def breadth_first(search: Search) -> str | None:
    layer, depth = search.first(), 0
    while layer:
        if depth == search.settings.depth:
            return f"there are states after more than {depth:,} steps"
        following = []
        for batch in in_batches(layer):
            for state, successors in zip(batch, search.expand(batch), strict=True):
                for successor in successors:
                    if successor not in search.parent:
                        search.look_at(successor, state)
                        search.remember(successor, state)
                        following.append(successor)
        layer, depth = following, depth + 1
        search.deepest = max(search.deepest, depth if layer else 0)
    return None
