"""Checkpoints: the state of a search that asks no system, on disk, so that a killed search continues.

A checkpoint is one line of a record (`line_file.py`) in `standing.json` of the run directory, written whole or not at
all, so that no kill can leave parts of two moments.  It names the requirement that was being searched; the search
decides what else is in it.  Where a checkpoint cannot be used, the search says so, begins anew, and ends the same.
"""

from __future__ import annotations

import base64
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bbfalsify.records.json_files import write_atomically
from bbfalsify.records.line_file import line_of, read_line
from bbfalsify.records.run_files import CHECKPOINT

FORMAT_VERSION = 1
EVERY_S = 2.0
"""Seconds between two checkpoints: a kill costs at most the work of so long, and of the turn in which it comes."""


class Checkpoint:
    """The checkpoint of one requirement; without a folder nothing is written or read."""

    def __init__(self, folder: Path | None, requirement: str) -> None:
        self.path = None if folder is None else folder / CHECKPOINT
        self._requirement = requirement
        self._written = time.monotonic()

    @property
    def due(self) -> bool:
        return self.path is not None and time.monotonic() - self._written >= EVERY_S

    def write(self, content: Mapping[str, Any]) -> None:
        self._written = time.monotonic()
        if self.path is not None:
            head = {"format_version": FORMAT_VERSION, "requirement": self._requirement}
            write_atomically(self.path, line_of({**head, **content}))

    def read(self) -> tuple[dict[str, Any] | None, str]:
        """Return what was written for this requirement, or None and, where there is something, the damage."""
        if self.path is None or not self.path.is_file():
            return None, ""
        data = read_line(self.path.read_bytes())
        if data is None:
            return None, "damaged"
        if "requirement" not in data or data.get("format_version") != FORMAT_VERSION:
            return None, f"a checkpoint of format {data.get('format_version')}"
        return (data if data["requirement"] == self._requirement else None), ""

    def remove(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def pack_array(array: np.ndarray) -> dict[str, Any]:
    content = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 1)).decode("ascii")
    return {"type": array.dtype.str, "shape": list(array.shape), "content": content}


def unpack_array(data: Mapping[str, Any]) -> np.ndarray:
    content = zlib.decompress(base64.b64decode(data["content"]))
    return np.frombuffer(content, np.dtype(data["type"])).reshape(data["shape"]).copy()
