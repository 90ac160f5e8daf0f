"""The keys of campaign and specification files (format_version 1).

Declarations describe shapes only: types, ranges, allowed words.  `plan` checks whether a file exists, a formula parses
or a signal is known.  Keys of `engine:` are declared by the engine (`registry.py` names the class), keys about the
execution of simulations in `running/execution.py`.
"""

from __future__ import annotations

from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.settings import Settings, keys_of, setting
from bbfalsify.core.verdict import Outcome
from bbfalsify.running.execution import Execution

FORMS = ("ltl", "ltlf", "monitor", "hoa", "hoa_violations")
"""Forms of a requirement about symbols; each has exactly one."""


def _single(sentence: str, **rules: Any) -> Any:
    """Declare a key of which a file has one value."""
    return setting(sentence, single=True, **rules)


def _expected(sentence: str) -> Any:
    return _single(sentence, default=None, choices=tuple(outcome.value for outcome in Outcome))


class RequirementEntry(Settings):
    """One requirement about signals: the sentence in words, and the formula that says the same."""

    id: str = _single("Short name, unique in the run.")
    stl: str = _single("A formula of signal temporal logic.")
    text: str = _single("The requirement as a sentence.", default="")
    time: str = _single(
        "In dense time a signal holds its value between samples; in discrete time only the samples count.",
        default="dense",
        choices=("dense", "discrete"),
    )
    period: float | None = _single("Distance of the samples in discrete time.", default=None, above=0)
    expected: str | None = _expected("The expected outcome; `run` ends with 0 when every outcome is as expected.")


class ClaimEntry(Settings):
    """One requirement about symbols: the sentence in words, and the formula or automaton that says the same."""

    id: str = _single("Short name, unique in the run.")
    text: str = _single("The requirement as a sentence.", default="")
    ltl: str | None = _single("A formula of linear temporal logic over infinite words, or a pattern.", default=None)
    ltlf: str | None = _single("A formula over finite words.", default=None)
    monitor: str | dict[str, Any] | None = _single("A monitor automaton, or the name of its YAML file.", default=None)
    hoa: str | None = _single("A Büchi automaton in the HOA format that accepts the good words.", default=None)
    hoa_violations: str | None = _single(
        "A Büchi automaton in the HOA format that accepts the bad words.", default=None
    )
    expected: str | None = _expected(
        "The expected outcome: falsified is a violated requirement, not_falsified one that holds up to the bound."
    )


class QueryEntry(Settings):
    """One question about the states of a model."""

    id: str = _single("Short name, unique in the run.")
    query: str | int = _single(
        "A query such as `E<> P(1).cs`, the number of one that is stored with the model, or `stored` for the only one.",
        at_least=1,
    )
    text: str = _single("The question as a sentence.", default="")
    expected: str | None = _expected("The expected outcome.")


class _Subject(Settings):
    format_version: int = _single("The version of the file format.", choices=(1,))
    name: str = _single("Names the run directories.", default=None, absent="the file's name")
    system: str = setting(
        "The black box: an adapter folder, file.py:object, package.module:object, model.fmu, model.yaml, machine.dot "
        "or cmd:program; settings after a ?, as in model.fmu?outputs=x,y&step=0.01&set.mass=3.5.",
        default=None,
    )
    profile: str = setting("The file that describes the users.", default=None)
    signals: Any = _single(
        "Inputs that are drawn by a law, piece by piece: `{throttle: {range: [0, 100], every: 5}}`; alone, or beside a "
        "profile.",
        default=None,
    )
    parameters: Any = _single(
        "Parameters of the system, drawn by a law before each use: `{mass: {uniform: [900, 1500]}}`.", default=None
    )
    model: str = setting("A model file, or example:NAME:SIZE, for engines that need no system.", default=None)
    constants: dict[str, Any] = _single("Values of the model's constants, instead of those in its file.", default=None)
    requirements: Any = _single(
        "A list of requirements; plain text in it is the path of a specification file.", default=None
    )
    engine: Any = _single("The method and its settings; a list of engines makes several runs.")
    seed: int = setting("Decides every random choice.", default=None, at_least=0, absent="drawn")
    budget: Budget = setting(
        "Limits a whole run: search, estimation and plain simulation together.", default=None, absent="no limit"
    )


class _Memory(Settings):
    store: str = _single("A folder of counterexamples that lives across runs.", default=None)
    accepted: str = _single("A file of accepted failures.", default=None)
    expected: str = _expected("The expected outcome of every requirement that does not say its own.")


class _Specification(Settings):
    format_version: int = _single("The version of the file format.", choices=(1,))
    name: str = _single("The name of the specification.", default=None)
    text: str = _single("What it is about, as a sentence.", default="")
    requirements: Any = _single("A list of requirements.")


CAMPAIGN_SECTIONS = {**keys_of(_Subject), **keys_of(Execution), **keys_of(_Memory)}
"""Which of them are needed, besides those declared as required, depends on the engines (`registry.py`)."""
SPECIFICATION_SECTIONS = keys_of(_Specification)
