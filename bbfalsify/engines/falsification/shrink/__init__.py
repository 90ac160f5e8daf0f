"""From a counterexample to the actions and values that matter.

Start reading at `shrinking.py`.
"""
