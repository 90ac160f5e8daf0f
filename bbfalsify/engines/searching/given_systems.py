"""From what users give to a transition system: a model, a machine, a file of either, or a system of their own."""

from __future__ import annotations

from pathlib import Path

from bbfalsify.automata.mealy import MealyMachine, read_dot
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.engines.searching.transition_system import TransitionSystem
from bbfalsify.modelling import Network, load_model


def system_of(given: TransitionSystem | Network | MealyMachine | str | Path, asked: str | None) -> TransitionSystem:
    """Make the system; `asked` is a query about a model, or a requirement on a machine, or nothing."""
    if isinstance(given, str | Path):
        return _of_file(Path(given), asked)
    if isinstance(given, Network):
        from bbfalsify.engines.searching.untimed_system import UntimedSystem

        return UntimedSystem(given, asked)
    if isinstance(given, MealyMachine):
        return _product(given, asked)
    if asked is not None:
        raise UserError("the target of a transition system is a function of its states; found a text.")
    return given


def _product(machine: MealyMachine, asked: str | None) -> TransitionSystem:
    from bbfalsify.engines.searching.machine_product import MachineProduct
    from bbfalsify.logic.ltl import ltl

    return MachineProduct(machine, None if asked is None else ltl(asked))


def _of_file(path: Path, asked: str | None) -> TransitionSystem:
    if path.suffix == ".dot":
        return _product(read_dot(path), asked)
    network, stored = load_model(path)
    if asked is None and len(stored) > 1:
        raise UserError(Problem(f"{len(stored)} queries are stored; give one of them.", str(path)))
    return system_of(network, stored[0].text if asked is None and stored else asked)
