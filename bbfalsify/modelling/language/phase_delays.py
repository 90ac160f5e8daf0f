"""Delays of several exponential phases, written as the rate of a location.

    exponential_rate: "erlang(3, 18)"                 three phases of rate 18
    exponential_rate: "hypoexponential(2, 5, 1)"      phases of rates 2, 5 and 1, one after the other

The location gets a counter of its phases: an edge to itself counts them, its output edges are possible in the last one
only, and every edge that enters or leaves the location sets the counter back.  So walks and chains need to know
exponential delays only; each phase is a step of a walk.
"""

from __future__ import annotations

import re

from bbfalsify.core.bracketed_text import split
from bbfalsify.modelling.language.model_text import BranchText, EdgeText, LocationText, ModelText, TemplateText
from bbfalsify.records.documents import Text

_FORM = re.compile(r"\s*(erlang|hypoexponential)\s*\((.*)\)\s*\Z", re.DOTALL)


def expand_phases(model: ModelText) -> None:
    """Replace all delays of several phases by counters and exponential delays, in place."""
    for template in model.templates:
        for location in template.locations:
            rate = location.exponential_rate
            match = None if rate is None else _FORM.match(rate.text)
            if rate is not None and match is not None:
                phases, law = _law(match.group(1), split(match.group(2), ","), _counter(location))
                if phases is not None:
                    _expand(template, location, rate, phases, law)


def _counter(location: LocationText) -> str:
    return f"{location.name}_phase"


def _law(word: str, given: list[str], counter: str) -> tuple[str | None, str]:
    """Number of phases, and their rate as an expression; None: not written as it must be (an unknown function then)."""
    arguments = [text.strip() for text in given]
    if word == "erlang":
        return (f"({arguments[0]})", arguments[1]) if len(arguments) == 2 and all(arguments) else (None, "")
    rate = arguments[-1]
    for number, each in reversed(list(enumerate(arguments[:-1]))):
        rate = f"{counter} == {number} ? ({each}) : ({rate})"
    return (str(len(arguments)), rate) if all(arguments) else (None, "")


def _expand(template: TemplateText, location: LocationText, rate: Text, phases: str, law: str) -> None:
    counter, place = _counter(location), rate.place
    template.declarations.append(Text(f"int[0, {phases} - 1] {counter} = 0;", place))
    location.exponential_rate = Text(law, place)
    for edge in template.edges:
        if edge.source == location.name and (edge.sync is None or edge.sync.text.strip().endswith("!")):
            last = f"{counter} == {phases} - 1"
            edge.guard = Text(last if edge.guard is None else f"({edge.guard.text}) && {last}",
                              place if edge.guard is None else edge.guard.place)  # fmt: skip
        for branch in edge.branches:
            if location.name in (edge.source, branch.target):
                before = "" if branch.update is None else f"{branch.update.text}, "
                branch.update = Text(f"{before}{counter} = 0", place if branch.update is None else branch.update.place)
    counting = BranchText(location.name, place, None, Text(f"{counter} = {counter} + 1", place))
    guard = Text(f"{counter} < {phases} - 1", place)
    template.edges.append(EdgeText(location.name, place, (counting,), guard, action=counter))
