"""Names of a package that are imported when they are first used: starting must not wait for what simulates.

    if TYPE_CHECKING:
        from bbfalsify.fitting.logs import read_logs as read_logs
    else:
        __all__, __getattr__ = lazy_names(__name__, __file__)

The imports are written once, for type checkers and editors; at run time the same lines say where each name is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^    from (\S+) import (\w+) as \2$", re.MULTILINE)


def lazy_names(package: str, file: str) -> tuple[list[str], Callable[[str], Any]]:
    """Return `__all__` and `__getattr__` of the package that this file begins."""
    homes = {name: module for module, name in _IMPORT.findall(Path(file).read_text(encoding="utf-8"))}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return sorted(homes), load
