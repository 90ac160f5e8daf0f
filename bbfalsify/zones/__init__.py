"""Zone graphs of timed networks: sets of clock values as difference bound matrices, explored exhaustively."""

from bbfalsify.zones.explorer import Explored, Explorer
from bbfalsify.zones.model_conditions import Question
from bbfalsify.zones.zone_graph import SymbolicState, ZoneGraph
from bbfalsify.zones.zone_tables import ZoneTables, zone_tables

__all__ = ["Explored", "Explorer", "Question", "SymbolicState", "ZoneGraph", "ZoneTables", "zone_tables"]
