"""Build networks in Python; texts are resolved as in files.

    b = NetworkBuilder("fischer")
    b.declare("int id = 0; const int K = 2;")
    p = b.automaton("P", parameters="const int pid", declarations="clock x;")
    p.location("A")
    p.location("req", invariant="x <= K")
    p.edge("A", "req", guard="id == 0", update="x = 0")
    b.instance("P", 1)
    network = b.build()

The first location is the initial one unless another has `initial=True`.  Without `instance` every automaton is
instantiated once for each value of its parameters.  Problems name the call that caused them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.modelling.language.model_text import (
    BranchText,
    EdgeText,
    InstanceText,
    LocationText,
    ModelText,
    TemplateText,
)
from bbfalsify.modelling.language.resolve import assemble
from bbfalsify.modelling.network.network import Network
from bbfalsify.records.documents import Text

Value = str | int | float | Fraction | bool


def _written(value: Value) -> str:
    """Write a Python value in the modelling language."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return str(value) if value.denominator == 1 else f"({value.numerator}.0/{value.denominator})"
    return str(value)


def _text(value: Value | None, place: Place) -> Text | None:
    return None if value is None else Text(_written(value), place)


class AutomatonBuilder:
    """Builder of one template; made by `NetworkBuilder.automaton`."""

    def __init__(self, template: TemplateText, problems: list[Problem]) -> None:
        self._template = template
        self._problems = problems

    def _place(self, call: str) -> Place:
        return Place(f"builder call {call} of '{self._template.name}'")

    def declare(self, text: str) -> AutomatonBuilder:
        self._template.declarations.append(Text(text, self._place("declare(…)")))
        return self

    def location(
        self,
        name: str,
        *,
        initial: bool = False,
        invariant: Value | None = None,
        rates: Mapping[str, Value] | None = None,
        exponential_rate: Value | None = None,
        urgent: bool = False,
        committed: bool = False,
        cost_rate: Value | None = None,
    ) -> AutomatonBuilder:
        place = self._place(f"location('{name}')")
        if any(location.name == name for location in self._template.locations):
            self._problems.append(place.problem(f"there is already a location '{name}'."))
        if initial:
            self._template.initial = name
        self._template.locations.append(
            LocationText(
                name,
                place,
                _text(invariant, place),
                tuple((Text(clock, place), Text(_written(rate), place)) for clock, rate in (rates or {}).items()),
                _text(exponential_rate, place),
                urgent,
                committed,
                _text(cost_rate, place),
            )
        )
        return self

    def edge(
        self,
        source: str,
        target: str | None = None,
        *,
        action: str | None = None,
        guard: Value | None = None,
        sync: str | None = None,
        select: str | None = None,
        update: str | None = None,
        weight: Value | None = None,
        cost: Value | None = None,
        branches: Iterable[tuple[str, Value, str]] = (),
    ) -> AutomatonBuilder:
        """Add an edge to `target`, or to one of several `branches` (target, weight, update)."""
        place = self._place(f"edge('{source}', {target!r})" if target is not None else f"edge('{source}')")
        ends = [BranchText(to, place, _text(odds, place), _text(then or None, place)) for to, odds, then in branches]
        if (target is None) == (not ends):
            self._problems.append(place.problem("an edge needs either a target or branches."))
        if target is not None:
            ends = [BranchText(target, place, None, _text(update, place))]
        elif update is not None:
            self._problems.append(place.problem("with branches, updates belong to the branches."))
        self._template.edges.append(
            EdgeText(
                source,
                place,
                tuple(ends),
                _text(guard, place),
                _text(sync, place),
                _text(select, place),
                action,
                _text(weight, place),
                _text(cost, place),
            )
        )
        return self


class NetworkBuilder:
    def __init__(self, name: str, *, ode_step: float | None = None) -> None:
        self._model = ModelText(name, Place(None), ode_step=ode_step)
        self._problems: list[Problem] = []

    def declare(self, text: str) -> NetworkBuilder:
        """Add global declarations."""
        self._model.declarations.append(Text(text, Place("builder call declare(…)")))
        return self

    def automaton(self, name: str, *, parameters: str | None = None, declarations: str = "") -> AutomatonBuilder:
        place = Place(f"builder call automaton('{name}')")
        if any(template.name == name for template in self._model.templates):
            self._problems.append(place.problem(f"there is already an automaton '{name}'."))
        template = TemplateText(name, place, None, _text(parameters, place))
        if declarations:
            template.declarations.append(Text(declarations, place))
        self._model.templates.append(template)
        return AutomatonBuilder(template, self._problems)

    def instance(self, automaton: str, *arguments: Value, name: str | None = None) -> NetworkBuilder:
        """Add a process; without arguments, one for each value of the automaton's bounded parameters."""
        shown = f"{automaton}({', '.join(_written(a) for a in arguments)})" if arguments else automaton
        place = Place(f"builder call instance('{automaton}'{''.join(f', {a!r}' for a in arguments)})")
        if self._model.system is None:
            self._model.system = []
        self._model.system.append(InstanceText(Text(shown, place), name))
        return self

    def build(self) -> Network:
        network, assembly = assemble(self._model)
        problems = [*self._problems, *assembly.problems]
        for template in self._model.templates:
            if not template.locations:
                problems.append(template.place.problem(f"automaton '{template.name}' has no location."))
        if not self._model.templates:
            problems.append(Problem("the network has no automaton.", file="builder call build()"))
        if problems:
            raise UserError(problems)
        return network
