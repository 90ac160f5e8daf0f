"""How probable a counterexample is: splitting along its word, and the order of the list.

Start reading at `estimating.py`.
"""
