"""What campaign and specification files may contain (format_version 1).

The models describe shapes only: types, ranges, allowed words.  Whether a file exists, a formula parses or a signal is
known is checked in `plan`.  Every field of an engine, and `system`, `profile`, `model`, `seed`, `budget`,
`time_limit`, `on_failure`, `votes`, `memory_limit` and `early_stop` of a campaign may be a list: lists multiply into
runs (only what is `Together` is a list of its own, and one value).

Importing this module imports pydantic (0.1 s), so it is imported inside the functions that read files.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import AllowInfNan, BaseModel, BeforeValidator, ConfigDict, StringConstraints

T = TypeVar("T")


def _no_boolean(value: Any) -> Any:
    # Without this `true` would quietly become the number 1.
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


class _OneIsEnough:
    """In the JSON Schema, too, a list may be written as the one value that it has."""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        schema = handler(core_schema)
        return {"anyOf": [schema["items"], schema]}


Positive = Annotated[float, Gt(0), AllowInfNan(False), BeforeValidator(_no_boolean)]
NotNegative = Annotated[float, Ge(0), AllowInfNan(False), BeforeValidator(_no_boolean)]
Share = Annotated[float, Ge(0), Le(1), AllowInfNan(False), BeforeValidator(_no_boolean)]
Count = Annotated[int, Ge(1), BeforeValidator(_no_boolean)]
Natural = Annotated[int, Ge(0), BeforeValidator(_no_boolean)]
Word = Annotated[str, MinLen(1)]
OneOrMore = Annotated[list[T], MinLen(1), BeforeValidator(_as_list), _OneIsEnough()]
Together = Annotated[tuple[T, ...], BeforeValidator(_as_list), _OneIsEnough()]
"""A list that is one value: it does not multiply."""
Expected = Literal["falsified", "not_falsified", "reached", "not_reached", "model_error", "inconclusive", "error"]
OnFailure = Literal["violation", "inconclusive", "abort"]


ExecutorName = Annotated[str, StringConstraints(pattern=r"^(local|in-process|dask|dask:.+)$")]


class Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RequirementEntry(Entry):
    """One requirement: the sentence in words, and the formula that says the same."""

    id: Word
    stl: Word
    text: str = ""
    time: Literal["dense", "discrete"] = "dense"
    period: Positive | None = None
    expected: Expected | None = None


class BudgetEntry(Entry):
    """What a whole run may use: search, estimation and plain simulation together."""

    simulations: Natural | None = None
    seconds: NotNegative | None = None


class AnyEngine(BaseModel):
    """What every engine has."""

    kind: Word


FORMS = ("ltl", "ltlf", "monitor", "hoa", "hoa_violations")
"""Of a requirement about symbols; each has exactly one."""


class ClaimEntry(Entry):
    """One requirement about symbols: the sentence in words, and the formula or automaton that says the same."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [form]} for form in FORMS]})
    id: Word
    text: str = ""
    ltl: Word | None = None
    ltlf: Word | None = None
    monitor: Word | dict[str, Any] | None = None
    hoa: Word | None = None
    hoa_violations: Word | None = None
    expected: Expected | None = None


class QueryEntry(Entry):
    """One question about the states of a model; a number names one that is stored with the model, `stored` the only
    one."""

    id: Word
    query: Word | Count
    text: str = ""
    expected: Expected | None = None


class FalsifyEntry(Entry):
    """What searches, how far, and how carefully the probabilities are estimated."""

    kind: Literal["falsify"]
    horizon: OneOrMore[NotNegative]
    counterexamples: OneOrMore[Count] = [10]
    simulations: OneOrMore[Natural] = [2000]
    max_time: OneOrMore[NotNegative | None] = [None]
    passes: OneOrMore[Count] = [10]
    traces: OneOrMore[Count] = [100]
    estimator: OneOrMore[Literal["auto", "conditional", "splitting"]] = ["auto"]
    columns: Together[Literal["d6", "d8", "d9"]] = ()
    quasi_random: OneOrMore[bool] = [False]
    search: OneOrMore[Literal["probable", "first"]] = ["probable"]
    patience: OneOrMore[Natural] = [200]
    plain_walks: OneOrMore[Share] = [0.5]
    delays: OneOrMore[Literal["cycle", "two_points"]] = ["cycle"]
    guiding: OneOrMore[bool] = [False]
    adaptive_duration: OneOrMore[bool] = [False]
    smc: OneOrMore[Literal["none", "sequence", "clopper_pearson", "fixed"]] = ["none"]
    smc_epsilon: OneOrMore[Positive] = [0.005]
    smc_simulations: OneOrMore[Natural] = [20_000]
    sensitivity: OneOrMore[bool] = [True]
    shrink: OneOrMore[Natural] = [200]
    fan: OneOrMore[Natural] = [40]
    batch: OneOrMore[Count] = [44]
    period: OneOrMore[Positive | None] = [None]


class CheckEntry(Entry):
    """Black box checking: how the box is learned and tested, and what it may cost."""

    kind: Literal["check"]
    max_states: OneOrMore[Count | None] = [None]
    alphabet: Together[Word] = ()
    learner: OneOrMore[Literal["lsharp", "lstar", "kv", "hw"]] = ["lsharp"]
    tester: OneOrMore[Literal["h", "hsi", "wp", "w", "random-hsi", "random-wp", "random-w"]] = ["h"]
    stop_at_first: OneOrMore[bool] = [False]
    max_queries: OneOrMore[Natural | None] = [None]
    max_symbols: OneOrMore[Natural | None] = [None]
    max_time: OneOrMore[NotNegative | None] = [None]
    observations: Together[Word] = ()
    older: OneOrMore[Word | None] = [None]
    symbols: dict[Word, dict[Word, float]] | None = None
    period: OneOrMore[Positive | None] = [None]


class ReachEntry(Entry):
    """Random walks to states of a model: how they choose, and how long they go on."""

    kind: Literal["reach"]
    heuristic: OneOrMore[Literal["portfolio", "ret", "sem", "rlc", "rlc-a", "rcf"]] = ["portfolio"]
    trace: OneOrMore[Literal["some", "shortest", "fastest"]] = ["some"]
    depth: OneOrMore[Count | None] = [None]
    timeout: OneOrMore[NotNegative | None] = [300.0]
    walks: OneOrMore[Count | None] = [None]


CAMPAIGN_SECTIONS: dict[str, Any] = {
    "format_version": Literal[1],
    "name": Word,
    "system": OneOrMore[Word],
    "profile": OneOrMore[Word],
    "model": OneOrMore[Word],
    "requirements": Any,
    "engine": Any,
    "seed": OneOrMore[Natural],
    "budget": OneOrMore[BudgetEntry],
    "jobs": Count,
    "executor": ExecutorName,
    "time_limit": OneOrMore[Positive],
    "on_failure": OneOrMore[OnFailure],
    "votes": OneOrMore[Count],
    "memory_limit": OneOrMore[Positive],
    "early_stop": OneOrMore[bool],
    "store": Word,
    "accepted": Word,
    "expected": Expected,
}
"""The type of each section; validated one by one, so that a mistake in one does not hide those in another."""

REQUIRED_SECTIONS = ("format_version", "engine")
"""Of every campaign; what else is needed depends on its engines (`kinds.py`)."""

SPECIFICATION_SECTIONS: dict[str, Any] = {
    "format_version": Literal[1],
    "name": Word,
    "text": str,
    "requirements": Any,
}
