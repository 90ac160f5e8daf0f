"""Guides: searches over the choices of runs that learn from scores.

Each file is one guide, with the interface `Guide` of `core/choices.py`; `guide_table.py` beside this folder has their
names.  `layout.py` and `memory.py` are what they share; `scores.py` makes scores of answers.
"""
