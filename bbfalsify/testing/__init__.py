"""For people who write adapters: `check_system` asserts in a test what `bbfalsify doctor` looks at."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bbfalsify.testing.systems import check_system

__all__ = ["check_system"]


def __getattr__(name: str) -> Any:
    """Loaded when it is used: the other files of this room do not need it."""
    if name == "check_system":
        from bbfalsify.testing.systems import check_system

        return check_system
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
