"""Examples inside the package, so that the quick start works after a plain `pip install`."""

from __future__ import annotations

from pathlib import Path

from bbfalsify.core.errors import UserError, unknown_name

EXAMPLES = {"heater": "a heater that its users switch on and off; must it ever get hotter than 75 degrees?"}


def example_folder(name: str) -> Path:
    """The folder of an example: campaign.yaml, profile.yaml, specification.yaml, system.py."""
    if name not in EXAMPLES:
        raise UserError(unknown_name("example", name, EXAMPLES))
    return Path(__file__).parent / name
