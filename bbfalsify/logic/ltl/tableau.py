"""Translate LTL to Büchi automata: a state is a set of formulas still to be satisfied; only reachable ones are made.

    formula ──normal_form──► node ──obligations──► generalised automaton ──counter──► Büchi ──reduction──► small one

From a set of obligations a step leads, for some letters, to the set for the rest of the word; an until that is put off
leaves a *promise* on the step (Couvreur's construction, with the merging of Gastin and Oddoux).  A run accepts if it
makes no promise for ever.  On finite words there are no promises, but steps that may not be the last.
"""

from __future__ import annotations

from bbfalsify.core.errors import UserError
from bbfalsify.logic.ltl.automaton import Automaton, Edges, strong_components
from bbfalsify.logic.ltl.letters import Letters
from bbfalsify.logic.ltl.ltl_formula import Formula, deep_recursion
from bbfalsify.logic.ltl.normal_form import NormalForms
from bbfalsify.logic.ltl.reduction import reduced

MOST_STATES = 20_000
"""Limit of the generalised automaton; larger ones take too long."""


class TooLarge(UserError):
    def __init__(self, most: int) -> None:
        super().__init__(f"the formula needs an automaton of more than {most} states; split it into several.")


Term = tuple[int, int, int]
"""(letter classes, obligations for the next step, promises), each a set of bits."""


def translate(formula: Formula, letters: Letters, *, negated: bool = False, most: int = MOST_STATES) -> Automaton:
    """Build the automaton of the infinite words that satisfy the formula (or its negation).

    Raises `TooLarge` if more than `most` states are needed in between.
    """
    store = NormalForms(letters)
    with deep_recursion():
        general = _Generalised(store, store.read(formula, not negated), most)
    return reduced(_with_one_counter(general, letters))


def translate_finite(formula: Formula, letters: Letters, *, ends: Formula | None = None) -> Automaton:
    """Build the automaton of the infinite words that have a non-empty finite prefix satisfying the formula.

    With `ends` only prefixes count whose last letter satisfies it.  Not reduced: its last state is reached by exactly
    these prefixes, whereas a smaller automaton may foresee them.
    """
    store = NormalForms(letters, finite=True)
    with deep_recursion():
        general = _Generalised(store, store.read(formula))
    last = letters.all if ends is None else letters.satisfying(ends)
    sink = len(general.edges)
    edges: Edges = []
    for terms in general.edges:
        row = [(bits, target) for bits, target, _ in terms]
        row += [(bits & last, sink) for bits, _, strong in terms if not strong and bits & last]
        edges.append(row)
    edges.append([(letters.all, sink)])
    return Automaton(letters, (0,), edges, tuple(s == sink for s in range(sink + 1)))


class _Generalised:
    """The generalised automaton: states in order of discovery, 0 first; edges (letter classes, target, promises)."""

    def __init__(self, store: NormalForms, root: int, most: int = MOST_STATES) -> None:
        self.store = store
        self._terms: dict[int, list[Term]] = {}
        self._promises: dict[int, int] = {}
        """The number of each until that was ever postponed."""
        numbers = {self._obligations(root): 0}
        pending = list(numbers)
        self.edges: list[list[tuple[int, int, int]]] = []
        for obligations in pending:
            row = []
            for bits, following, promises in self._steps(obligations):
                if following not in numbers:
                    numbers[following] = len(pending)
                    pending.append(following)
                    if len(pending) > most:
                        raise TooLarge(most)
                row.append((bits, numbers[following], promises))
            self.edges.append(row)
        self.merge()

    @property
    def promises(self) -> int:
        """The number of different promises."""
        return len(self._promises)

    def _obligations(self, node: int) -> int:
        """Write a formula as a set: the parts of a conjunction; nothing for true."""
        kind, *parts = self.store.nodes[node]
        if kind == "&":
            return sum(1 << part for part in parts[0])
        return 0 if node == 1 else 1 << node

    def _steps(self, obligations: int) -> list[Term]:
        steps: list[Term] = [(self.store.letters.all, 0, 0)]
        while obligations:
            low = obligations & -obligations
            obligations ^= low
            steps = _product(steps, self._of(low.bit_length() - 1))
        return steps

    def _of(self, node: int) -> list[Term]:
        """Unfold one step of a formula: the condition on the letter, and the rest."""
        found = self._terms.get(node)
        if found is None:
            found = self._terms[node] = self._expanded(node)
        return found

    def _expanded(self, node: int) -> list[Term]:
        kind, *parts = self.store.nodes[node]
        every, finite = self.store.letters.all, self.store.finite
        match kind:
            case "p":
                return [(parts[0], 0, 0)] if parts[0] else []
            case "&":
                steps: list[Term] = [(every, 0, 0)]
                for part in parts[0]:
                    steps = _product(steps, self._of(part))
                return steps
            case "|":
                return _best([term for part in parts[0] for term in self._of(part)])
            case "X" | "N":
                return [(every, self._obligations(parts[0]), int(finite and kind == "X"))]
            case "U":
                again = 1 << node
                promise = 1 if finite else 1 << self._promises.setdefault(node, len(self._promises))
                later = [(bits, following | again, made | promise) for bits, following, made in self._of(parts[0])]
                return _best([*self._of(parts[1]), *later])
            case "R":
                later = [*self._of(parts[0]), (every, 1 << node, 0)]
                return _product(self._of(parts[1]), later)
        raise TypeError(f"not a node: {kind}")

    def merge(self) -> None:
        """Merge states with the same steps."""
        while True:
            seen: dict[tuple, int] = {}
            names = [seen.setdefault(tuple(sorted(row)), len(seen)) for row in self.edges]
            if len(seen) == len(self.edges):
                return
            kept = {name: row for name, row in reversed(list(zip(names, self.edges, strict=True)))}
            self.edges = [
                _edges_joined([(bits, names[target], promises) for bits, target, promises in kept[name]])
                for name in range(len(seen))
            ]


def _edges_joined(row: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    labels: dict[tuple[int, int], int] = {}
    for bits, target, promises in row:
        labels[target, promises] = labels.get((target, promises), 0) | bits
    return [(bits, target, promises) for (target, promises), bits in labels.items()]


def _product(left: list[Term], right: list[Term]) -> list[Term]:
    if len(left) == 1 and left[0][1:] == (0, 0):
        every = left[0][0]
        return _best([(every & bits, following, made) for bits, following, made in right if every & bits])
    return _best([(a & b, n | m, p | q) for a, n, p in left for b, m, q in right if a & b])


def _best(terms: list[Term]) -> list[Term]:
    """Drop terms that ask for more, and promise more, than another one for the same letters."""
    labels: dict[tuple[int, int], int] = {}
    for bits, following, made in terms:
        labels[following, made] = labels.get((following, made), 0) | bits
    if len(labels) == 1:
        ((following, made), bits) = labels.popitem()
        return [(bits, following, made)]
    # From few obligations to many: a term that makes another superfluous comes before it.
    order = sorted(labels, key=lambda t: (t[0].bit_count() + t[1].bit_count(), t))
    kept: list[Term] = []
    for following, made in order:
        bits = labels[following, made]
        for other, less, fewer in kept:
            if not (less & ~following or fewer & ~made):
                bits &= ~other
                if not bits:
                    break
        if bits:
            kept.append((bits, following, made))
    return kept


def _with_one_counter(general: _Generalised, letters: Letters) -> Automaton:
    """Degeneralise: a counter waits for one promise after the other not to be made; after the last, accept."""
    rows, full = general.edges, general.promises
    parts = strong_components([[target for _, target, _ in row] for row in rows])
    # A component in which some promise is always made cannot accept: there the counter rests.
    open_promises = [(1 << full) - 1] * len(parts.cyclic)
    for state, terms in enumerate(rows):
        for _, target, made in terms:
            if parts.of[state] == parts.of[target]:
                open_promises[parts.of[state]] &= made
    dead = [not cyclic or bool(promised) for cyclic, promised in zip(parts.cyclic, open_promises, strict=True)]

    def entry(state: int) -> tuple[int, int]:
        return state, 0 if dead[parts.of[state]] else full

    numbers = {entry(0): 0}
    pending = list(numbers)
    edges: Edges = []
    for state, level in pending:
        row = []
        for bits, target, made in rows[state]:
            if parts.of[target] != parts.of[state] or dead[parts.of[target]]:
                node = entry(target)
            else:
                reached = 0 if level == full else level
                while reached < full and not made >> reached & 1:
                    reached += 1
                node = target, reached
            if node not in numbers:
                numbers[node] = len(pending)
                pending.append(node)
            row.append((bits, numbers[node]))
        edges.append(row)
    accepting = tuple(level == full and not dead[parts.of[state]] for state, level in pending)
    return Automaton(letters, (0,), edges, accepting)
