"""Requirements in signal temporal logic.

    text ──parser (stl.lark)──► Formula ──program──► dense │ discrete monitor ──► Judgement

Requirements about symbols instead of signals (LTL, monitors, Büchi automata) are in `bbfalsify.logic.ltl`.
Reading formulas is fast; judging (`bbfalsify.logic.stl.stl_monitor`) imports numba: import it where traces are judged.
"""

from bbfalsify.logic.stl.formula import Formula
from bbfalsify.logic.stl.parser import parse_stl
from bbfalsify.logic.stl.requirement import Requirement

__all__ = ["Formula", "Requirement", "parse_stl"]
