"""Failures that a team has decided to live with, so that continuous integration tells only of others.

    format_version: 1
    accepted:
      - requirement: R1
        actions: [on, on, on, off]       # the key of one counterexample …
        max_probability: 2.0e-3          # … as long as it is not certainly more probable than this
        reason: "the fuse trips first"
        expires: 2027-03-31              # the last day on which it counts
      - {requirement: R2, pattern: "open ** close", reason: "valve of the old series"}

In a `pattern`, * is any one action and ** any number of them, also none.  A counterexample is

    accepted        an entry matches that neither has expired nor says that it should be rarer
    too probable    it should be rarer: the lower end of the probability's interval lies above `max_probability`
    expired         the entries that match have expired
    new             no entry matches

Accepting does not change the outcome, which stays falsified; it changes what the outcome means to the caller.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.estimate import Estimate
from bbfalsify.records.documents import Document, read_yaml
from bbfalsify.records.yaml_node import Node

FORMAT_VERSION = 1
ACCEPTED, TOO_PROBABLE, EXPIRED, NEW = "accepted", "too probable", "expired", "new"

_KEYS = ("requirement", "actions", "pattern", "max_probability", "reason", "expires")
_ONE, _ANY = "*", "**"


@dataclass(frozen=True)
class Acceptance:
    requirement: str
    actions: tuple[str, ...]
    reason: str
    pattern: bool = False
    """In `actions`, * is any action and ** any number of them."""
    max_probability: float | None = None
    expires: datetime.date | None = None
    line: int | None = None

    def matches(self, requirement: str, actions: Sequence[str]) -> bool:
        if requirement != self.requirement:
            return False
        return _matches(self.actions, tuple(actions)) if self.pattern else tuple(actions) == self.actions

    def verdict(self, probability: Estimate, today: datetime.date) -> str:
        if self.expires is not None and today > self.expires:
            return EXPIRED
        if self.max_probability is not None and probability.low > self.max_probability:
            return TOO_PROBABLE
        return ACCEPTED

    def as_json(self) -> dict[str, Any]:
        return {"requirement": self.requirement, "actions": list(self.actions), "line": self.line}


@dataclass(frozen=True)
class Judged:
    """What the entries say about the counterexamples of one run."""

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

    def judge(
        self,
        counterexamples: Iterable[tuple[str, Sequence[str], Estimate]],
        today: datetime.date | None = None,
    ) -> Judged:
        """(requirement, actions, probability) of each; the kindest entry that matches decides."""
        today = today or datetime.date.today()
        verdicts, met = [], set()
        for requirement, actions, probability in counterexamples:
            matching = [entry for entry in self.entries if entry.matches(requirement, actions)]
            met.update(map(id, matching))
            said = {entry.verdict(probability, today) for entry in matching}
            verdicts.append(next((v for v in (ACCEPTED, TOO_PROBABLE, EXPIRED) if v in said), NEW))
        return Judged(self.file, tuple(verdicts), tuple(e for e in self.entries if id(e) not in met))

    def problems(self, requirements: Iterable[str], actions: Iterable[str]) -> list[Problem]:
        """Names that the run does not know: a slip of the pen would accept nothing, and nobody would notice."""
        requirements, actions = list(requirements), list(actions)
        found = []
        for entry in self.entries:
            place = {"file": self.file, "line": entry.line}
            if entry.requirement not in requirements:
                found.append(unknown_name("requirement", entry.requirement, requirements, **place))
            for action in dict.fromkeys(entry.actions):
                if action not in actions and not (entry.pattern and action in (_ONE, _ANY)):
                    found.append(unknown_name("action", action, actions, **place))
        return found


def _matches(pattern: tuple[str, ...], actions: tuple[str, ...]) -> bool:
    """Which prefixes of the actions the pattern's beginning can be, one element of it at a time."""
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
    if ("actions" in node) == ("pattern" in node):
        node.problem("an entry needs either 'actions', a list, or 'pattern', a text such as \"on ** off\".")
        return None
    actions = _actions(node)
    requirement, reason = _name(node.get("requirement")), _name(node.get("reason"))
    limit_node, expires_node = node.get("max_probability"), node.get("expires")
    limit = None if limit_node is None else limit_node.number()
    if limit is not None and not 0 <= limit <= 1:
        limit_node.problem(f"'max_probability' must lie between 0 and 1, found {limit_node.value}.")
    expires = None if expires_node is None else _date(expires_node)
    if requirement is None or not reason:
        return None
    return Acceptance(requirement, actions, reason, "pattern" in node, limit, expires, node.place.line)


def _name(node: Node | None) -> str | None:
    return None if node is None else node.string()


def _actions(node: Node) -> tuple[str, ...]:
    if "pattern" in node:
        text = node.child("pattern").string()
        words = () if text is None else tuple(text.split())
        if text is not None and not words:
            node.child("pattern").problem("the pattern is empty; ** matches everything.")
        return words
    names = [child.string() for child in node.child("actions").elements()]
    if node.child("actions").value == []:
        node.child("actions").problem("'actions' is empty; a counterexample has at least one.")
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
