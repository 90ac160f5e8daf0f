"""Finite Mealy machines, and what systems answered to words.

mealy.py             machines and their DOT files
equivalence.py       minimise, and shortest separating words between two machines
identification.py    access words, and words that tell the states of one machine apart
words.py             many words as two arrays, and compiled walks along all of them
observation_tree.py  all answers of a system, as one tree
"""

from bbfalsify.automata.mealy import MealyMachine, parse_dot, read_dot

__all__ = ["MealyMachine", "parse_dot", "read_dot"]
