"""Requirements as Büchi automata in the Hanoi Omega-Automata format (HOA, version 1), as Spot, Owl or ltl3ba write it.

    property = hoa("spec.hoa", accepts="violations")     the automaton accepts the words that violate the requirement
    property = hoa("spec.hoa")                           it accepts the words that satisfy it
    hoa_text(property.bad_words(inputs))                 and back

Atomic propositions are conditions about one letter: AP: 2 "in == connect" "out =~ 'ack.*'".  An automaton of the
requirement's own words is complemented, which is possible if it is deterministic or if every state accepts.
"""

from __future__ import annotations

from pathlib import Path

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.logic.ltl.automaton import Automaton, Edges
from bbfalsify.logic.ltl.bad_prefixes import Watch
from bbfalsify.logic.ltl.hoa_format import HoaReader, Move
from bbfalsify.logic.ltl.ltl_formula import atoms
from bbfalsify.logic.ltl.properties import PropertyBase, text_of
from bbfalsify.logic.ltl.reduction import reduced

ACCEPTS = ("requirement", "violations")
MOST_SETS = 20_000


class HoaProperty(PropertyBase):
    def __init__(
        self,
        initial: tuple[int, ...],
        moves: tuple[tuple[Move, ...], ...],
        accepts: str,
        text: str,
        source: str,
        file: str | None = None,
    ) -> None:
        super().__init__(text, atoms(*(condition for row in moves for condition, _, _ in row)), file, None)
        self.initial, self.moves, self.accepts = initial, moves, accepts
        self.form, self.source = "hoa" if accepts == "requirement" else "hoa_violations", source

    def __reduce__(self) -> tuple:
        return HoaProperty, (self.initial, self.moves, self.accepts, self.text, self.source, self.file)

    def plain(self, inputs: tuple[str, ...]) -> Automaton:
        """The automaton as it is written, with acceptance moved from edges to their target states."""
        letters = self.letters(inputs)
        numbers: dict[tuple[int, bool], int] = {}
        pending: list[tuple[int, bool]] = []

        def number(state: int, good: bool) -> int:
            key = state, good
            if key not in numbers:
                numbers[key] = len(pending)
                pending.append(key)
            return numbers[key]

        initial = tuple(number(state, False) for state in self.initial)
        edges: Edges = []
        for state, _ in pending:
            row = [(letters.satisfying(c), number(target, good)) for c, target, good in self.moves[state]]
            edges.append([(bits, target) for bits, target in row if bits])
        return reduced(Automaton(letters, initial, edges, tuple(good for _, good in pending)))

    def _make_bad(self, inputs: tuple[str, ...]) -> Automaton:
        automaton = self.plain(inputs)
        if self.accepts == "violations":
            return automaton
        if automaton.deterministic:
            return reduced(complement(automaton))
        if all(automaton.accepting):
            return reduced(complement(determinised(automaton)))
        raise UserError(
            Problem(
                "this automaton of the requirement's words is not deterministic, and is not complemented: give a "
                "deterministic one (ltl2tgba -B -D), or one of the words that violate the requirement (ltl2tgba -B of "
                "the negated formula) with accepts='violations'.",
                file=self.file,
            )
        )

    def _make_watch(self, inputs: tuple[str, ...]) -> Watch:
        if self.accepts == "violations":
            return super()._make_watch(inputs)
        return Watch(self.plain(inputs), of_violations=False)


def complement(automaton: Automaton) -> Automaton:
    """Complement a deterministic automaton: guess the moment after which no accepting state is visited."""
    letters, n = automaton.letters, len(automaton)
    sink = n
    full: Edges = []
    for row in [*automaton.edges, []]:
        left = letters.all
        for bits, _ in row:
            left &= ~bits
        full.append([*row, *([(left, sink)] if left else [])])
    accepting = [*automaton.accepting, False]
    second = n + 1  # states from here on promise that no accepting state will come
    edges: Edges = [[*row, *((bits, second + target) for bits, target in row if not accepting[target])] for row in full]
    edges += [[(bits, second + target) for bits, target in row if not accepting[target]] for row in full]
    start = automaton.initial[0] if automaton.initial else sink
    initial = (start,) if accepting[start] else (start, second + start)
    return Automaton(
        letters, initial, edges, tuple(s >= second and not accepting[s - second] for s in range(2 * second))
    )


def determinised(automaton: Automaton) -> Automaton:
    """Determinise an automaton in which every state accepts, by sets of states."""
    watch = Watch(automaton, of_violations=False)
    edges: Edges = []
    while len(edges) < len(watch):
        state = len(edges)
        if len(watch) > MOST_SETS:
            raise UserError(f"the automaton has no deterministic form of less than {MOST_SETS} states.")
        steps = [] if watch.bad[state] else [(1 << c, watch.step(state, c)) for c in range(watch.letters.count)]
        edges.append(steps)
    edges = [[(bits, target) for bits, target in row if not watch.bad[target]] for row in edges]
    return Automaton(watch.letters, (0,), edges, tuple(not bad for bad in watch.bad))


def hoa(source: str | Path, *, accepts: str = "requirement", folder: str | Path | None = None) -> HoaProperty:
    """Read a requirement from HOA text or a file; `accepts`, one of `ACCEPTS`, are the words of the automaton."""
    if accepts not in ACCEPTS:
        raise UserError(unknown_name("kind of words", accepts, ACCEPTS))
    text, file = text_of(source, folder)
    reader = HoaReader(text, file)
    initial, moves = reader.read()
    shown = reader.name or (Path(file).name if file else "automaton")
    return HoaProperty(initial, moves, accepts, shown, text, file)
