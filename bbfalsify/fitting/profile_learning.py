"""Learn a profile from logs alone: its structure by Alergia, then its numbers.

Alergia (Carrasco and Oncina 1994; AALpy's `run_Alergia`) starts from the tree of all sessions and merges two situations
unless the shares of their next actions differ significantly (Hoeffding's bound, error `epsilon`).  It uses actions
only: situations that differ only in their delays are merged.  It is deterministic.

The result is a stochastic Mealy machine with one input, whose outputs are the actions.  Each of its states becomes a
location.  After the end of a session users are taken to begin again.  Delays follow an exponential or a uniform law,
whichever is more likely (Akaike's criterion).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.fitting.delays import delays_and_waits, exponential_or_uniform, fit_bounds
from bbfalsify.fitting.log_events import Log, LogSession
from bbfalsify.fitting.log_replay import LogFollower
from bbfalsify.fitting.logs import read_logs
from bbfalsify.fitting.profile_fit import Fit, Told, fit_structure
from bbfalsify.fitting.structure import Structure
from bbfalsify.fitting.waiting_times import outward
from bbfalsify.records.documents import KeyPath, read_yaml
from bbfalsify.records.yaml_text import as_yaml

LONGEST = 200
"""Number of actions of a session that are used: later ones hardly separate situations, and the tree grows."""
EPSILON = 0.05
"""Smaller values merge different situations (at 0.005, 300 sessions of a chain of 2 states became 1 state)."""
EDGE_KEYS = ("from", "to", "action", "guard", "update", "weight")
AUTOMATON = "User"
_NO_INPUT = "-"


def learn_profile(
    logs: Iterable[str | Path],
    *,
    inputs: str | Path | None = None,
    from_zero: bool = False,
    epsilon: float = EPSILON,
    confidence: float = 0.95,
    name: str = "learned",
    columns: Mapping[str, str] | None = None,
    told: Told = lambda done, total: None,
) -> Fit:
    """Learn a profile; the sections `inputs` and `outputs` are copied from the profile `inputs`."""
    if not 0 < epsilon <= 1:
        raise UserError(f"epsilon must lie between 0 and 1; found {epsilon:g}.")
    names = [str(path) for path in logs]
    log = read_logs(names, from_zero=from_zero, columns=columns)
    if log.events < 2:
        raise UserError(Problem(f"{log.events} actions to learn from; at least 2 are needed.", ", ".join(names)))
    notes = []
    cut = Log(tuple(_cut(session) for session in log.sessions))
    if cut.events < log.events:
        notes.append(
            f"the first {LONGEST} actions of each session are used, {cut.events} of {log.events}: "
            "divide long sessions where users start afresh"
        )
    if len(cut.sessions) < 20:
        notes.append(f"{len(cut.sessions)} sessions tell situations apart only where users behave very differently")
    edges = learn_edges([[e.action for e in s.events] for s in cut.sessions], epsilon)
    data = _profile_data(name, edges)
    comments: dict[KeyPath, list[str]] = {}
    _add_inputs(data, cut.actions, inputs, comments, notes)
    _choose_laws(data, cut, comments)
    locations = len(data["automata"][AUTOMATON]["locations"])
    plural = "s" * (locations != 1)
    header = [f"Learned from {', '.join(names)} by Alergia (epsilon {epsilon:g}): {locations} location{plural}."]
    structure = Structure.parse(as_yaml(data), "<learned>")
    return fit_structure(structure, cut, header, confidence=confidence, told=told, comments=comments, notes=notes)


def learn_edges(words: Sequence[Sequence[str]], epsilon: float = EPSILON) -> list[tuple[int, str, int]]:
    """Learn edges (from, action, to); situations are numbered, and sessions begin in 0."""
    from aalpy.learning_algs import run_Alergia  # takes half a second to import

    machine = run_Alergia([[(_NO_INPUT, action) for action in word] for word in words], "smm", eps=epsilon)
    numbers = {machine.initial_state: 0}
    for state in machine.states:
        numbers.setdefault(state, len(numbers))
    edges = [
        (numbers[state], action, numbers[target])
        for state in machine.states
        for target, action, _ in state.transitions.get(_NO_INPUT, ())
    ]
    return sorted(edges)


def _cut(session: LogSession) -> LogSession:
    if len(session.events) <= LONGEST:
        return session
    return replace(session, events=session.events[:LONGEST], end=session.events[LONGEST - 1].time)


def _profile_data(name: str, edges: Sequence[tuple[int, str, int]]) -> dict[str, Any]:
    numbers = sorted({n for source, _, target in edges for n in (source, target)})
    leaving = Counter(source for source, _, _ in edges)
    written = [
        {"from": f"Q{source}", "to": f"Q{target}", "action": action, "update": "x = 0", "weight": 1 / leaving[source]}
        for source, action, target in edges
    ]
    automaton = {
        "declarations": "clock x;",
        "initial": "Q0",
        "locations": {f"Q{n}": {} for n in numbers},
        "edges": written,
    }
    return {"format_version": 1, "name": name, "automata": {AUTOMATON: automaton}}


def _add_inputs(
    data: dict[str, Any],
    actions: Sequence[str],
    inputs: str | Path | None,
    comments: dict[KeyPath, list[str]],
    notes: list[str],
) -> None:
    if inputs is not None:
        document = read_yaml(inputs)
        if not isinstance(document.data, dict) or not document.data.get("inputs"):
            raise UserError(Problem("there is no section 'inputs'.", file=document.file))
        data |= {key: document.data[key] for key in ("inputs", "outputs") if key in document.data}
        return
    values = {action: number for number, action in enumerate(actions)}
    data["inputs"] = {"CHANGE_ME": {"actions": values, "initial": 0, "unit": "1"}}
    text = "TO FILL IN: the system's inputs, and the value that each action gives them; these are placeholders."
    comments[("inputs",)] = [text]
    notes.append("the section 'inputs' holds placeholders: fill in the system's inputs before you use the profile")


def _choose_laws(data: dict[str, Any], log: Log, comments: dict[KeyPath, list[str]]) -> None:
    """Replay the log through the structure without any law, and give each location the likelier one."""
    automaton = data["automata"][AUTOMATON]
    seen = LogFollower(Structure.parse(as_yaml(data), "<learned>").profile.network).follow(log)
    for number, (location, content) in enumerate(automaton["locations"].items()):
        delays, waits = delays_and_waits(seen.stays.get((0, number), ()))
        if len(delays) < 2:
            continue
        law, exponential, uniform = exponential_or_uniform(delays, waits)
        path = ("automata", AUTOMATON, "locations", location)
        comments[path] = [f"{law}: Akaike's criterion {exponential:.6g} exponential, {uniform:.6g} uniform"]
        bounds = fit_bounds(delays, waits=waits)
        if law == "uniform" and bounds is not None:
            content["invariant"] = f"x <= {outward(bounds.high, up=True)}"
            for edge in automaton["edges"]:
                if edge["from"] == location:
                    edge["guard"] = f"x >= {outward(bounds.low, up=False)}"
    automaton["edges"] = [{key: edge[key] for key in EDGE_KEYS if key in edge} for edge in automaton["edges"]]
