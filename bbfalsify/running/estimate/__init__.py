"""Estimates as recorded runs."""
