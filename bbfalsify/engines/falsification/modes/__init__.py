"""Failure modes: patterns that violating uses share, learned on some simulations and estimated on fresh ones."""
