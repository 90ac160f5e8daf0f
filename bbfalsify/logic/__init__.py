"""Requirements: signal temporal logic, read by RTAMT's grammar and judged by an evaluator of our own.

Reading formulas is light; judging (`bbfalsify.logic.monitor`) imports numba and is imported where traces are judged.
"""

from bbfalsify.logic.formula import Formula
from bbfalsify.logic.parser import parse_stl

__all__ = ["Formula", "parse_stl"]
