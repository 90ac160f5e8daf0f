"""Parsers made from a grammar once and then read from the user's cache: making one takes a tenth of a second."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import lark


def cached_parser(grammar: Path, **options: Any) -> lark.Lark:
    """Make an LALR parser, or read it; lark keeps grammar, options and versions in the file and compares them."""
    text = grammar.read_text(encoding="utf-8")
    try:
        folder = _user_cache() / "parsers"
        folder.mkdir(parents=True, exist_ok=True)
        return lark.Lark(text, parser="lalr", cache=str(folder / f"{grammar.stem}.parser"), **options)
    except (OSError, RuntimeError):  # no home, or nothing can be written there
        return lark.Lark(text, parser="lalr", **options)


def _user_cache() -> Path:
    """Folder of the user's cache, the same as that of compiled code."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
        return base / "bbfalsify/Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/bbfalsify"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bbfalsify"
