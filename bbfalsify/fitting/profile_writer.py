"""A profile during fitting, and how it is written: a comment with the origin of each number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bbfalsify.core.estimate import Estimate
from bbfalsify.records.documents import KeyPath
from bbfalsify.records.yaml_text import as_yaml


@dataclass
class ProfileDraft:
    """A profile during fitting: its data, comments to write, and notes for the user."""

    data: dict[str, Any]
    header: list[str]
    comments: dict[KeyPath, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def comment(self, path: KeyPath, text: str) -> None:
        self.comments.setdefault(path, []).append(text)

    @property
    def text(self) -> str:
        return "".join(f"# {line}".rstrip() + "\n" for line in self.header) + "\n" + as_yaml(self.data, self.comments)


def interval_text(estimate: Estimate) -> str:
    return (
        f"{estimate.value:.4g} [{estimate.low:.4g}, {estimate.high:.4g}] ({estimate.confidence:.0%}, {estimate.method})"
    )
