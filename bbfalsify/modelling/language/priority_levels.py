"""Read the declarations of priorities.

chan priority a, d[0] < default < b;       channels (and "default": all others, and edges without a channel)
system Slow < Fast;                        processes
"""

from __future__ import annotations

from bbfalsify.modelling.language.priorities import Priorities
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import Context
from bbfalsify.modelling.language.scopes import Assembly, Scope
from bbfalsify.modelling.network.network import Network
from bbfalsify.records.documents import Text


def with_priorities(network: Network, channels: Text | None, processes: Text | None, assembly: Assembly) -> Network:
    text = channels or processes
    if text is None:
        return network
    channel_levels = _channel_levels(network, channels, assembly)
    process_levels = _process_levels(network, processes, assembly)
    if assembly.problems:
        return network
    return Priorities(network, channel_levels, process_levels, text.place, assembly).applied()


def _groups(text: Text) -> list[list[str]]:
    return [[name.replace(" ", "") for name in group.split(",")] for group in " ".join(text.text.split()).split("<")]


def _channel_levels(network: Network, text: Text | None, assembly: Assembly) -> dict[int | None, int]:
    levels: dict[int | None, int] = {}
    if text is None:
        return {None: 0}
    assert isinstance(network.scope, Scope)
    resolver = ExpressionResolver(assembly, network.scope, text.place, Context("channel priorities"))
    for level, group in enumerate(_groups(text)):
        for name in group:
            if name == "default":
                levels[None] = level
                continue
            node = assembly.parse(Text(name, text.place), "expression", "channel priorities")
            found = None if node is None else resolver.fixed_channels(node)
            if found is not None:
                levels.update(dict.fromkeys(range(found.first, found.first + found.type.size), level))
    if None not in levels:
        levels[None] = 0
        assembly.note(text.place, "the channel priorities do not say where 'default' stands: the edges without channel "
                      "and all others. It is taken to be the lowest.")  # fmt: skip
    return levels


def _process_levels(network: Network, text: Text | None, assembly: Assembly) -> dict[int, int]:
    levels = dict.fromkeys(range(len(network.processes)), 0)
    for level, group in enumerate([] if text is None else _groups(text)):
        for name in group:
            known = [process.name for process in network.processes]
            found = [number for number, other in enumerate(known) if other == name or other.startswith(name + "(")]
            if not found and text is not None:
                assembly.report(text.place.unknown("process", name, known))
            levels.update(dict.fromkeys(found, level))
    return levels
