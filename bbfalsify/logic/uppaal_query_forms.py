"""The forms of UPPAAL's queries, one class each.

    E<> φ   A[] φ   E[] φ   A<> φ                           StateQuery
    φ --> ψ                                                 LeadsTo
    sup: e, f    inf{φ}: e    bounds{φ}: e                  Extremes
    Pr[<=T; N](<> φ)   Pr[#<=K]([] φ)   Pr[x<=T](φ U ψ)     Probability
    Pr[<=T](<> φ) >= 0.9                                    ProbabilityTest
    Pr[<=T](<> φ) >= Pr[<=U]([] ψ)                          ProbabilityComparison
    E[<=T; N](max: e)                                       Expectation
    simulate [<=T; N] {e, f} : k : φ                        Simulation
    control:, strategy, minE, sat:, refinement: …           Elsewhere

`command` names the command that answers a query.
"""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from bbfalsify.core.tree import Node


class UppaalQuery(Node):
    text: str = field(default="", compare=False, kw_only=True)
    command: ClassVar[str | None]
    """The command that answers it; None: none of ours."""


class StateQuery(UppaalQuery):
    """Conditions on the states of runs: somewhere or everywhere, on some run or on all."""

    quantifier: str
    """E<>, A[], E[] or A<>."""
    condition: str
    command = "reach"


class LeadsTo(UppaalQuery):
    """Every state with the premise is followed by one with the conclusion."""

    premise: str
    conclusion: str
    word: ClassVar[str] = "-->"
    command = "reach"


class Extremes(UppaalQuery):
    """Largest and smallest values of expressions over the states that satisfy a condition."""

    word: str
    """sup, inf or bounds."""
    condition: str | None
    expressions: tuple[str, ...]
    command = "reach"


class RunBound(Node):
    """The end of each random run, and the number of runs."""

    limit: str
    of: str = "time"
    """What is limited: time, steps, or the text of a clock."""
    runs: str | None = None


class Probability(UppaalQuery):
    """The probability that a random run meets a condition."""

    bound: RunBound | None
    """None: the formula has bounds of its own (`mitl`), or there is none."""
    path: str
    """<> (at some time), [] (at all times), U (`before` holds until the condition does), or mitl."""
    condition: str
    before: str | None = None
    command = "estimate"


class ProbabilityTest(UppaalQuery):
    """A hypothesis about a probability."""

    probability: Probability
    operator: str
    """>= or <=."""
    threshold: str
    command = "estimate"


class ProbabilityComparison(UppaalQuery):
    """A hypothesis about two probabilities."""

    left: Probability
    operator: str
    right: Probability
    command = "estimate"


class Expectation(UppaalQuery):
    """The mean over random runs of the largest or smallest value of an expression."""

    bound: RunBound
    extreme: str
    """max or min."""
    expression: str
    command = "estimate"


class Simulation(UppaalQuery):
    """Values of expressions along random runs; with a condition only runs that meet it, `hits` of them."""

    bound: RunBound
    expressions: tuple[str, ...]
    condition: str | None = None
    hits: str | None = None
    command = "estimate"


class Elsewhere(UppaalQuery):
    """A query that belongs to another tool, or to a command that is named."""

    word: str
    reason: str
    command = None
