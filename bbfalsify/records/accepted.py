"""Failures that a team has decided to live with, so that continuous integration tells only of others.

    format_version: 1
    accepted:
      - requirement: R1
        actions: [on, on, on, off]       # the key of one counterexample …
        max_probability: 2.0e-3          # … as long as it is not certainly more probable than this
        reason: "the fuse trips first"
        expires: 2027-03-31              # the last day on which it counts
      - {requirement: R2, pattern: "open ** close", reason: "valve of the old series"}
      - {requirement: R1, mode: "on×3", typical: [on, on, on, off], reason: "the fuse trips first"}

In a `pattern`, * is any one action and ** any number of them, also none.  A `mode` is the name of a failure mode: all
its counterexamples are accepted, as long as the mode is not certainly more probable than allowed.  Names may change
with the version: where no mode has the name any more, the one that holds the `typical` counterexample is meant.  A
counterexample is

    accepted        an entry matches that neither has expired nor says that it should be rarer
    too probable    it should be rarer: the lower end of the probability's interval lies above `max_probability`
    expired         the entries that match have expired
    new             no entry matches

Accepting does not change the outcome, which stays falsified; it changes what the outcome means to the caller.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.estimate import Estimate
from bbfalsify.records.documents import Document, read_yaml
from bbfalsify.records.yaml_node import Node

FORMAT_VERSION = 1
ACCEPTED, TOO_PROBABLE, EXPIRED, NEW = "accepted", "too probable", "expired", "new"

_KEYS = ("requirement", "actions", "pattern", "mode", "typical", "max_probability", "reason", "expires")
_ONE, _ANY = "*", "**"


class Failure(NamedTuple):
    """A counterexample to be judged, and the failure mode that it belongs to."""

    requirement: str
    actions: Sequence[str]
    probability: Estimate
    mode: str | None = None
    mode_probability: Estimate | None = None
    mode_words: Sequence[tuple[str, ...]] = ()
    """The counterexamples of that mode, the most probable first."""
    modes: Collection[str] = ()
    """Names of all modes of the requirement."""


@dataclass(frozen=True)
class Acceptance:
    requirement: str
    actions: tuple[str, ...]
    """Empty where a mode is accepted."""
    reason: str
    pattern: bool = False
    """In `actions`, * is any action and ** any number of them."""
    max_probability: float | None = None
    expires: datetime.date | None = None
    line: int | None = None
    mode: str | None = None
    """Name of an accepted failure mode."""
    typical: tuple[str, ...] = ()
    """A counterexample of that mode."""

    @property
    def shown(self) -> tuple[str, ...]:
        """The accepted thing in words."""
        return self.actions if self.mode is None else ("mode", self.mode)

    def matches(self, failure: Failure) -> bool:
        if failure.requirement != self.requirement:
            return False
        if self.mode is not None:
            renamed = self.mode not in failure.modes and self.typical in failure.mode_words
            return failure.mode == self.mode or renamed
        actions = tuple(failure.actions)
        return _matches(self.actions, actions) if self.pattern else actions == self.actions

    def verdict(self, failure: Failure, today: datetime.date) -> str:
        probability = failure.probability
        if self.mode is not None and failure.mode_probability is not None:
            probability = failure.mode_probability
        if self.expires is not None and today > self.expires:
            return EXPIRED
        if self.max_probability is not None and probability.low > self.max_probability:
            return TOO_PROBABLE
        return ACCEPTED

    def as_json(self) -> dict[str, Any]:
        return {"requirement": self.requirement, "actions": list(self.actions), "mode": self.mode, "line": self.line}


@dataclass(frozen=True)
class Judged:
    """Verdicts of the entries on the counterexamples of one run."""

    file: str
    verdicts: tuple[str, ...]
    """One per counterexample."""
    unmet: tuple[Acceptance, ...]
    """Entries that matched nothing: fixed perhaps, or no longer found."""

    @property
    def all_accepted(self) -> bool:
        return all(verdict == ACCEPTED for verdict in self.verdicts)


@dataclass(frozen=True)
class Acceptances:
    file: str
    entries: tuple[Acceptance, ...]

    def judge(self, counterexamples: Iterable[Failure], today: datetime.date | None = None) -> Judged:
        """Judge each counterexample; the kindest entry that matches decides."""
        today = today or datetime.date.today()
        verdicts: list[str] = []
        met: set[int] = set()
        for failure in counterexamples:
            matching = [entry for entry in self.entries if entry.matches(failure)]
            met.update(map(id, matching))
            said = {entry.verdict(failure, today) for entry in matching}
            verdicts.append(next((v for v in (ACCEPTED, TOO_PROBABLE, EXPIRED) if v in said), NEW))
        return Judged(self.file, tuple(verdicts), tuple(e for e in self.entries if id(e) not in met))

    def problems(self, requirements: Iterable[str], actions: Iterable[str]) -> list[Problem]:
        """Names that the run does not know: a typo would silently accept nothing."""
        requirements, actions = list(requirements), list(actions)
        found = []
        for entry in self.entries:
            if entry.requirement not in requirements:
                name = entry.requirement
                found.append(unknown_name("requirement", name, requirements, file=self.file, line=entry.line))
            for action in dict.fromkeys(entry.actions):
                if action not in actions and not (entry.pattern and action in (_ONE, _ANY)):
                    found.append(unknown_name("action", action, actions, file=self.file, line=entry.line))
        return found


def _matches(pattern: tuple[str, ...], actions: tuple[str, ...]) -> bool:
    """Match from left to right: `reached` are the prefixes of the actions that the pattern so far can be."""
    reached = {0}
    for element in pattern:
        if element == _ANY:
            reached = set(range(min(reached), len(actions) + 1)) if reached else reached
        else:
            reached = {i + 1 for i in reached if i < len(actions) and element in (_ONE, actions[i])}
    return len(actions) in reached


def load_acceptances(path: str | Path) -> Acceptances:
    """Read a file of accepted failures; all its problems at once."""
    return read_acceptances(read_yaml(path))


def read_acceptances(document: Document) -> Acceptances:
    problems: list[Problem] = []
    root = Node(document, (), document.data, problems)
    entries: list[Acceptance] = []
    if root.mapping(("format_version", "accepted"), required=("format_version",)):
        version = root.value.get("format_version", FORMAT_VERSION)
        if version != FORMAT_VERSION or isinstance(version, bool):
            root.child("format_version").problem(
                f"format_version {version!r} is not known to this version of bbfalsify.", allowed=(str(FORMAT_VERSION),)
            )
        if "accepted" not in root:
            root.problem("the key 'accepted' is missing: the list of accepted failures.")
        elif (section := root.get("accepted")) is not None:  # an empty list is fine: nothing is accepted yet
            entries = [e for e in map(_entry, section.elements()) if e is not None]
    if problems:
        raise UserError(problems)
    return Acceptances(document.file, tuple(entries))


def _entry(node: Node) -> Acceptance | None:
    if not node.mapping(_KEYS, required=("requirement", "reason")):
        return None
    if sum(key in node for key in ("actions", "pattern", "mode")) != 1:
        node.problem(
            "an entry needs one of 'actions', a list, 'pattern', a text such as \"on ** off\", and 'mode', the name of "
            "a failure mode."
        )
        return None
    mode = _name(node.get("mode"))
    actions = _actions(node) if "mode" not in node else ()
    if "typical" in node and "mode" not in node:
        node.child("typical").problem("'typical' is the counterexample of a 'mode'.")
    typical = _listed(node.child("typical")) if "typical" in node else ()
    requirement, reason = _name(node.get("requirement")), _name(node.get("reason"))
    limit_node, expires_node = node.get("max_probability"), node.get("expires")
    limit = None if limit_node is None else limit_node.number()
    if limit_node is not None and limit is not None and not 0 <= limit <= 1:
        limit_node.problem(f"'max_probability' must lie between 0 and 1, found {limit_node.value}.")
    expires = None if expires_node is None else _date(expires_node)
    if requirement is None or not reason:
        return None
    return Acceptance(requirement, actions, reason, "pattern" in node, limit, expires, node.place.line, mode, typical)


def _name(node: Node | None) -> str | None:
    return None if node is None else node.string()


def _actions(node: Node) -> tuple[str, ...]:
    if "pattern" in node:
        text = node.child("pattern").string()
        words = () if text is None else tuple(text.split())
        if text is not None and not words:
            node.child("pattern").problem("the pattern is empty; ** matches everything.")
        return words
    return _listed(node.child("actions"))


def _listed(node: Node) -> tuple[str, ...]:
    names = [child.string() for child in node.elements()]
    if node.value == []:
        node.problem(f"'{node.path[-1]}' is empty; a counterexample has at least one.")
    return tuple(name for name in names if name is not None)


def _date(node: Node) -> datetime.date | None:
    value = node.value
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        return datetime.date.fromisoformat(str(value))
    except ValueError:
        node.problem(f"'expires' must be a day such as 2027-03-31, found '{value}'.")
        return None
