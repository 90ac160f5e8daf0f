"""Searches for counterexamples: walks, guided runs, and the search for the probable ones.

Start reading at `search.py`.
"""
