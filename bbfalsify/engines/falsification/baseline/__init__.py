"""Plain simulation beside the list: all violations, also those that the search has not found.

Start reading at `smc.py`.
"""
