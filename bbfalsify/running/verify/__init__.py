"""Verification as a run: portfolio, records, traces."""
