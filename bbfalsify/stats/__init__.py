"""Confidence intervals and sequential estimation of probabilities."""
