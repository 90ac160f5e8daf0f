"""Helpers for the tests of other people's adapters: `check_system` asserts what `bbfalsify doctor` examines."""

from bbfalsify.testing.systems import check_system

__all__ = ["check_system"]
