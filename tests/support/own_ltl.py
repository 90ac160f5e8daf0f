"""Linear temporal logic on small transition systems, decided by its definition: a judge of verdicts and of lassos.

A run together with the truth of every temporal part at each of its positions is a path in a graph of (state, step,
truths): neighbours agree by the laws of expansion (p U q is q, or p and p U q in the next position), and what is
promised is kept infinitely often.  A formula is satisfied by some run if such a path leads into a component that keeps
every promise.  The library's tableau and automata have no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from bbfalsify.logic.ltl.ltl_formula import Atom, Binary, Formula, Truth, Unary

Letter = tuple[str, str]
System = Mapping[int, Sequence[tuple[str, str, int]]]
"""State → steps (input, output, next state)."""
Truths = dict[Formula, bool]
TEMPORAL = "XFGUWRM"


def temporal(formula: Formula) -> list[Formula]:
    """The parts that speak about later positions, each once."""
    match formula:
        case Unary(operator, body):
            inner = temporal(body)
        case Binary(operator, left, right):
            inner = list(dict.fromkeys([*temporal(left), *temporal(right)]))
        case _:
            return []
    return [*inner, *([formula] if operator in TEMPORAL and formula not in inner else [])]


def holds(formula: Formula, letter: Letter, truths: Truths) -> bool:
    """The truth at a position, given that of the temporal parts."""
    match formula:
        case Truth(value):
            return value
        case Atom(side):
            return formula.holds(letter[side == "out"])
        case Unary("!", body):
            return not holds(body, letter, truths)
        case Binary("&" | "|" | "->" | "<->" as operator, left, right):
            one, other = holds(left, letter, truths), holds(right, letter, truths)
            return {"&": one and other, "|": one or other, "->": other or not one, "<->": one == other}[operator]
    return truths[formula]


def expanded(part: Formula, letter: Letter, truths: Truths, later: bool) -> tuple[bool, bool]:
    """The truth of a temporal part (not X) now, given that in the next position; and whether it promises nothing."""
    if isinstance(part, Unary):
        now = holds(part.body, letter, truths)
        return (
            (now or later, now or not truths[part])
            if part.operator == "F"
            else (now and later, truths[part] or not now)
        )
    assert isinstance(part, Binary)
    one, other = holds(part.left, letter, truths), holds(part.right, letter, truths)
    if part.operator in "UW":
        fulfilled = (
            other or (part.operator == "U" and not truths[part]) or (part.operator == "W" and (truths[part] or not one))
        )
        return other or (one and later), fulfilled
    kept = truths[part] or not other if part.operator == "R" else not truths[part] or (one and other)
    return other and (one or later), kept


def some_run(system: System, start: int, formula: Formula) -> bool:
    """Tell whether an infinite run from a state satisfies the formula."""
    parts = temporal(formula)
    choices = [dict(zip(parts, values, strict=True)) for values in product([False, True], repeat=len(parts))]
    nodes = [(state, step, truths) for state, steps in system.items() for step in steps for truths in choices]
    number: dict[int, list[int]] = {}
    for place, (state, _, _) in enumerate(nodes):
        number.setdefault(state, []).append(place)
    links: list[tuple[int, int]] = []
    for place, (_, step, truths) in enumerate(nodes):
        for after in number.get(step[2], ()):
            _, following, then = nodes[after]
            if all(agrees(part, step[:2], truths, following[:2], then) for part in parts):
                links.append((place, after))
    rows, columns = np.array(links, np.int64).reshape(-1, 2).T
    graph = csr_matrix((np.ones(len(rows), bool), (rows, columns)), shape=(len(nodes), len(nodes)))
    _, component = connected_components(graph, connection="strong")
    good = lasting(nodes, links, component, parts)
    pending = [k for k in number[start] if holds(formula, nodes[k][1][:2], nodes[k][2])]
    seen = set(pending)
    while pending:
        place = pending.pop()
        if component[place] in good:
            return True
        for after in graph.indices[graph.indptr[place] : graph.indptr[place + 1]].tolist():
            if after not in seen:
                seen.add(after)
                pending.append(after)
    return False


def agrees(part: Formula, letter: Letter, truths: Truths, following: Letter, then: Truths) -> bool:
    if isinstance(part, Unary) and part.operator == "X":
        return truths[part] == holds(part.body, following, then)
    return truths[part] == expanded(part, letter, truths, then[part])[0]


def lasting(nodes: list, links: list[tuple[int, int]], component: np.ndarray, parts: list[Formula]) -> set[int]:
    """The components in which a run can stay and keep every promise."""
    promising = [part for part in parts if not (isinstance(part, Unary) and part.operator == "X")]
    kept: dict[int, set[Formula]] = {}
    for place, (_, step, truths) in enumerate(nodes):
        found = kept.setdefault(int(component[place]), set())
        found |= {part for part in promising if expanded(part, step[:2], truths, False)[1]}
    cyclic = {int(component[a]) for a, b in links if component[a] == component[b]}
    return {number for number in cyclic if len(kept[number]) == len(promising)}


def on_lasso(formula: Formula, letters: Sequence[Letter], cut: int) -> bool:
    """Tell whether letters[:cut] · letters[cut:] · letters[cut:] … satisfies the formula."""
    system = {k: [(*letter, k + 1 if k + 1 < len(letters) else cut)] for k, letter in enumerate(letters)}
    return some_run(system, 0, formula)
