"""Make a black box with symbols of one class: its methods are the input symbols, what they return the output symbols.

    @symbol_system
    class Turnstile:
        def __init__(self):
            self.open = False

        def coin(self):
            self.open = True
            return "ok"

        def push(self):
            passed, self.open = self.open, False
            return "go" if passed else "stop"

Every use makes a new object, and calls `close()` at its end if there is such a method.  Methods whose names begin with
an underscore are no symbols.  None is the output `-`; numbers and truths are written as text.
"""

from __future__ import annotations

import inspect
from typing import Any, overload

from bbfalsify.core.errors import UserError
from bbfalsify.systems.interface import Capabilities, NothingToClose
from bbfalsify.systems.symbols import check_symbol

_NO_SYMBOL = ("close",)
NO_OUTPUT = "-"


class SymbolClassSystem:
    """A class as a black box."""

    capabilities = Capabilities(stepwise=True)

    def __init__(self, made: type, name: str | None = None) -> None:
        self.made = made
        self.name = name or made.__name__
        self.__doc__ = made.__doc__
        classes = [cls for cls in reversed(made.__mro__) if cls is not object]
        named = dict.fromkeys(n for cls in classes for n, v in vars(cls).items() if inspect.isfunction(v))
        self.alphabet = tuple(n for n in named if not n.startswith("_") and n not in _NO_SYMBOL)
        if not self.alphabet:
            raise UserError(f"the class '{self.name}' has no methods, so there are no input symbols.")
        for symbol in self.alphabet:
            needed = list(inspect.signature(getattr(made, symbol)).parameters.values())[1:]
            if any(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in needed):
                raise UserError(f"'{self.name}.{symbol}' needs arguments; an input symbol has none.")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.made(*arguments, **named)

    def open(self, seed: int) -> _ObjectSession:
        return _ObjectSession(self.made())


class _ObjectSession(NothingToClose):
    def __init__(self, thing: Any) -> None:
        self._thing = thing

    def step(self, symbol: str) -> str:
        answer = getattr(self._thing, symbol)()
        if answer is None:
            return NO_OUTPUT
        return check_symbol(str(answer) if isinstance(answer, bool | int | float) else answer)

    def __exit__(self, *exception: Any) -> None:
        if hasattr(self._thing, "close"):
            self._thing.close()


@overload
def symbol_system(made: type) -> SymbolClassSystem: ...
@overload
def symbol_system(made: None = None, *, name: str) -> Any: ...
def symbol_system(made: type | None = None, *, name: str | None = None) -> Any:
    """Decorate a class to make it a system whose input symbols are its methods."""
    if made is None:
        return lambda cls: SymbolClassSystem(cls, name)
    return SymbolClassSystem(made, name)
