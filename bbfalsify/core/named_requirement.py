"""The name of a requirement, which every shape of it begins with: read, stored, asked and reported."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NamedRequirement:
    id: str
    text: str
    """In the user's words; may be empty."""
