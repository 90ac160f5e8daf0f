"""The task of a check, checked and completed; nothing of it changes while it runs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bbfalsify.automata.mealy import MealyMachine, dot_text, read_dot
from bbfalsify.core.budget import Budget
from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.seeds import draw_seed
from bbfalsify.engines.checking.claims import Claim
from bbfalsify.engines.checking.settings import RANDOM_METHODS, Options
from bbfalsify.logic import Requirement
from bbfalsify.logic.ltl import Property, ltl
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.records.manifest import file_hash
from bbfalsify.running.check.sampled_check import Symbols, sampled
from bbfalsify.running.terms import Terms
from bbfalsify.systems.interface import System
from bbfalsify.systems.symbols import MachineSystem, SymbolSystem, check_alphabet

RequirementLike = str | Property | Claim | Requirement


@dataclass(frozen=True)
class Settings:
    """Learning and testing, and where they start from."""

    options: Options = Options()
    alphabet: Sequence[str] | None = None
    """Symbols to send; None sends all."""
    observations: Sequence[str | Path] = ()
    """Files of words and answers seen before."""
    older: MealyMachine | str | Path | None = None
    """Model of an earlier version, to start from."""
    symbols: Symbols | None = None
    """Input values that each symbol sets; they and the period make symbols of a system of signals."""
    period: float | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """A check, checked and complete."""

    box: SymbolSystem
    claims: Sequence[Claim]
    sent: tuple[str, ...]
    settings: Settings
    older: MealyMachine | None
    terms: Terms
    notes: list[str] = field(default_factory=list)

    @property
    def record(self) -> SystemRecord:
        return self.terms.record(self.box.name)

    @property
    def options(self) -> Options:
        return self.settings.options

    def decided_by(self) -> dict[str, Any]:
        """Facts about the system; bound, requirements and budget may change when a check is continued."""
        sampling = {"symbols": self.settings.symbols, "period": self.settings.period}
        facts = {"system": self.record.reference, "adapter": self.record.sha256, "alphabet": self.box.alphabet}
        return {**facts, **sampling}

    def settings_facts(self) -> dict[str, Any]:
        """Everything else that decides the result; where it has changed, a check begins anew with all observations."""
        execution = self.terms.execution
        return {
            "requirements": [[claim.id, claim.property.form, claim.property.source] for claim in self.claims],
            "options": self.options.as_json(),
            "sent": self.sent,
            "observations": [file_hash(file) for file in self.settings.observations],
            "older": None if self.older is None else hashlib.sha256(dot_text(self.older).encode()).hexdigest(),
            "budget": asdict(self.terms.budget),
            "limits": [execution.time_limit, execution.memory_limit, execution.votes, execution.on_failure],
            # A use that cannot be reset cannot be continued either: it is another one each time.
            "session": draw_seed() if self.box.capabilities.single_session else None,
        }


def prepare(
    system: Any,
    requirements: RequirementLike | Sequence[RequirementLike],
    settings: Settings,
    terms: Terms,
) -> Task:
    """Check the arguments and complete them; all problems are told at once."""
    box = MachineSystem(system) if isinstance(system, MealyMachine) else system
    notes: list[str] = []
    listed = _listed(requirements)
    if settings.symbols is not None or settings.period is not None:
        if settings.symbols is None or settings.period is None or not isinstance(box, System):
            raise UserError("a system of signals is sampled with both symbols and a period; others need neither.")
        box, listed, notes = sampled(box, listed, symbols=settings.symbols, period=settings.period)
    claims, problems = _claims(listed)
    if not isinstance(box, SymbolSystem):
        what = "it takes signals; give a system with an alphabet" if isinstance(box, System) else "it has no alphabet"
        raise UserError(
            f"'{getattr(box, 'name', type(box).__name__)}' cannot be checked: {what} (see docs/how-to/server.md)."
        )
    sent = tuple(box.alphabet if settings.alphabet is None else settings.alphabet)
    problems += [*_box_problems(box, sent, claims), *_settings_problems(box, settings, terms.budget)]
    if problems:
        raise UserError(problems)
    older = read_dot(settings.older) if isinstance(settings.older, str | Path) else settings.older
    return Task(box, claims, sent, settings, older, terms, notes)


def _listed(requirements: Any) -> list[Any]:
    single = isinstance(requirements, str | Claim | Requirement) or hasattr(requirements, "bad_words")
    return [requirements] if single else list(requirements)


def _claims(requirements: Sequence[Any]) -> tuple[list[Claim], list[Problem]]:
    claims, problems = [], []
    for number, item in enumerate(requirements, start=1):
        if isinstance(item, Claim):
            claims.append(item)
            continue
        try:
            claims.append(Claim(f"R{number}", "", ltl(item) if isinstance(item, str) else item))
        except UserError as error:
            problems += [replace(p, message=f"requirement {number}: {p.message}") for p in error.problems]
    return claims, problems


def _box_problems(box: SymbolSystem, sent: Sequence[str], claims: Sequence[Claim]) -> list[Problem]:
    check_alphabet(box)
    problems = [unknown_name("input symbol", s, box.alphabet) for s in sent if s not in box.alphabet]
    if not sent or len(set(sent)) < len(sent):
        problems.append(Problem("the alphabet to send must name at least one symbol, and each once."))
    problems += [
        replace(problem, message=f"{claim.id}: {problem.message}")
        for claim in claims
        for problem in claim.property.problems(box.alphabet, None)
    ]
    twice = {c.id for c in claims if sum(d.id == c.id for d in claims) > 1}
    return problems + [Problem(f"two requirements have the id {name}.") for name in sorted(twice)]


def _settings_problems(box: SymbolSystem, settings: Settings, budget: Budget) -> list[Problem]:
    """Check for callers from Python what the command line checks in files."""
    problems, learner, tester = [], settings.options.learner, settings.options.tester
    endless = budget == Budget()
    if learner != "hw" and box.capabilities.single_session:
        problems.append(Problem(f"'{box.name}' cannot be reset: choose the learner hw."))
    if learner == "hw" and not box.capabilities.single_session:
        problems.append(Problem(f"'{box.name}' can be reset, as its capabilities say: choose another learner than hw."))
    if settings.older is not None and learner != "lsharp":
        problems.append(Problem(f"only lsharp can start from an older model, not {learner}."))
    if tester in RANDOM_METHODS and endless:
        problems.append(
            Problem(f"{tester} tests for ever: give a budget of queries, symbols or time that ends the check.")
        )
    elif settings.options.max_states is None and endless:
        problems.append(
            Problem("give a bound (max_states), or a budget of queries, symbols or time that ends the check.")
        )
    return problems
