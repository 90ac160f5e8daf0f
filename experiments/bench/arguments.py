"""Command lines of benchmarks whose options are whole numbers."""

from __future__ import annotations

import argparse


def whole_numbers(about: str | None, **defaults: int) -> argparse.Namespace:
    """Read the options of a script: their names with their defaults."""
    options = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in defaults.items():
        options.add_argument(f"--{name.replace('_', '-')}", type=int, default=default)
    return options.parse_args()
