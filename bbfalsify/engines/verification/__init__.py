"""Verification of models: all states, as zones."""
