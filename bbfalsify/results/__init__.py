"""Conclusions of runs: one dataclass family per engine that writes and reads its own `results.json`."""
