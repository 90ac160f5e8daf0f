"""Guides: searches over the choices of runs that learn from scores.

Each file is one guide, with the interface `Guide` of `core/choices.py`; `guide_table.py` has their
names.  `choice_rows.py` and `memory.py` are what they share; `scores.py` makes scores of answers.
"""
