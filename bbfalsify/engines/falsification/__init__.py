"""Usage-aware falsification (Kiviriga, Paper D).  Start reading at `engine.py`.

search/     walks and guided runs that find counterexamples      guides/    searches that learn from scores
estimates/  how probable each is, and their order                baseline/  plain simulation beside the list
shrink/     the actions and values that matter                   modes/     patterns that violating uses share
"""
