"""A class as a black box with symbols."""

import pytest

from bbfalsify import UserError, check
from bbfalsify.systems import symbol_system
from bbfalsify.testing import check_system


@symbol_system
class Turnstile:
    open = False

    def coin(self):
        self.open = True

    def push(self):
        passed, self.open = self.open, False
        return passed

    def _hidden(self):
        return "no symbol"


def test_methods_are_symbols_and_every_use_begins_anew():
    assert (Turnstile.name, Turnstile.alphabet) == ("Turnstile", ("coin", "push"))
    for _ in range(2):
        with Turnstile.open(0) as session:
            assert [session.step(symbol) for symbol in ("push", "coin", "push")] == ["False", "-", "True"]
    check_system(Turnstile)


def test_it_can_be_checked(tmp_path):
    result = check(Turnstile, "G(in == coin -> X (in == push -> out == True))", max_states=3, out=None)
    [row] = result.requirements
    assert (row.verdict, result.states) == ("satisfied_up_to_bound", 2)


def test_what_cannot_be_a_symbol_is_refused():
    class Empty:
        pass

    class Demanding:
        def press(self, button):
            return button

    with pytest.raises(UserError, match="'Empty' has no methods"):
        symbol_system(Empty)
    with pytest.raises(UserError, match="'Demanding.press' needs arguments"):
        symbol_system(Demanding)
