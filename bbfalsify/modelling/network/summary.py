"""Summarise a network in numbers, for `bbfalsify validate`."""

from __future__ import annotations

from bbfalsify.modelling.network.expressions import Kind
from bbfalsify.modelling.network.network import Network


def describe_network(network: Network) -> list[tuple[str, str]]:
    """The summary as pairs (label, value)."""

    def slots(*kinds: Kind) -> int:
        return sum(variable.size for variable in network.variables if variable.kind in kinds)

    actions = network.actions
    shown = ", ".join(actions[:8]) + (f", … {len(actions) - 8} more" if len(actions) > 8 else "")
    broadcast = sum(channel.broadcast for channel in network.channels)
    urgent = sum(channel.urgent for channel in network.channels)
    channels = f"{len(network.channels)} ({broadcast} broadcast, {urgent} urgent)" if network.channels else "0"
    return [
        ("name", network.name),
        ("automata", str(len(network.processes))),
        ("locations", str(sum(len(process.locations) for process in network.processes))),
        ("edges", str(sum(len(process.edges) for process in network.processes))),
        ("actions", f"{len(actions)} ({shown})" if actions else "0"),
        ("clocks", str(slots(Kind.CLOCK))),
        ("variables", f"{slots(Kind.INT, Kind.BOOL)} int or bool, {slots(Kind.DOUBLE)} double"),
        ("channels", channels),
        ("functions", str(len(network.functions))),
        ("largest clock constant", str(network.largest_constant)),
    ]
