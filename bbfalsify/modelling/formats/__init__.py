"""Readers and writers of models: YAML files, UPPAAL files, and a builder in Python."""
