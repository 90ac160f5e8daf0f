"""The black box for learner, model checker and tester: words in, outputs out, nothing executed twice.

    box = Box(ask, tree, repeat=driver.rerun)
    box.outputs(("connect", "publish"))       # ("connack", "puback"), from the tree or from the system

A use that fails is an observation, too: from the symbol on at which it hung, crashed or answered nonsense, the output
is the kind of failure (`timed_out`, `died`, …), whatever follows.  So a server that crashes is learned as one with a
dead state, and requirements may speak about it: `G(out != died)`.

If an answer contradicts an earlier one, the word is repeated on fresh processes, and the majority decides: the old
answer stays, or it was wrong and everything learned from it is dropped (`Relearn`), or the box is not deterministic
(`NonDeterministic`), which is a finding that ends the check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bbfalsify.automata.mealy import Word
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.core.query import Answer, Ask, WordQuery
from bbfalsify.core.verdict import SimulationStatus

REPETITIONS = 5
"""Executions of a word that was answered in two ways, to decide between them."""
FAILURES = tuple(
    s.value for s in SimulationStatus if s not in (SimulationStatus.OK, SimulationStatus.NON_DETERMINISTIC)
)
"""Output symbols of uses that failed."""

Repeat = Callable[[Sequence[WordQuery]], Sequence[Answer]]
"""A function that executes words again, outside the budget."""


@dataclass
class NonDeterministic(Exception):
    """The box answers this word in several ways, none of them most of the time."""

    word: Word
    answers: tuple[tuple[Word, int], ...]
    """Each way with its count; the one of the observation tree first."""

    def __str__(self) -> str:
        ways = "; ".join(f"{' '.join(outputs)} ({times} times)" for outputs, times in self.answers)
        return f"the word '{' '.join(self.word)}' is answered in several ways: {ways}"


class Relearn(Exception):
    """An observation was wrong and is removed; learning has to start again from the tree."""


@dataclass
class Box:
    ask: Ask
    tree: ObservationTree
    repeat: Repeat
    batch: int = 64
    """Words asked together, whatever the number of workers."""
    glitches: list[str] = field(default_factory=list)
    """Answers that did not repeat, in words."""
    failures: dict[str, str] = field(default_factory=dict)
    """Message of the first failure of each kind."""
    _asked: int = 0

    def outputs(self, word: Word) -> Word:
        """Outputs of the box for each symbol of the word, from reset on."""
        known = self.tree.outputs(word)
        return known if known is not None else self._execute([word])[0]

    def all_outputs(self, words: Iterator[Word]) -> Iterator[tuple[Word, Word]]:
        """Yield each word with its outputs, in the order given; words are asked in batches, for parallel workers."""
        pending: list[Word] = []
        for word in words:
            pending.append(word)
            if len(pending) == self.batch:
                yield from self._batch(pending)
                pending = []
        if pending:
            yield from self._batch(pending)

    def again(self, word: Word, times: int) -> list[Word]:
        """Execute a known word again, to check that its outputs repeat."""
        name = f"again/{self._asked}"
        self._asked += 1
        queries = [WordQuery(f"{name}/{i}", word) for i in range(times)]
        answers = self.repeat(queries)
        return [self._observed(word, answer) for answer in answers]

    def _batch(self, words: list[Word]) -> Iterator[tuple[Word, Word]]:
        unknown = list(dict.fromkeys(w for w in words if self.tree.outputs(w) is None))
        executed = dict(zip(unknown, self._execute(unknown), strict=True)) if unknown else {}
        for word in words:
            yield word, executed.get(word) or self.tree.outputs(word) or ()

    def _execute(self, words: list[Word]) -> list[Word]:
        queries = [WordQuery(f"word/{self._asked + i}", word) for i, word in enumerate(words)]
        self._asked += len(words)
        return [self._entered(query.word, answer) for query, answer in zip(queries, self.ask(queries), strict=True)]

    def _entered(self, word: Word, answer: Answer) -> Word:
        """Put an observation into the tree, after settling a contradiction."""
        if not answer.ok:
            self.failures.setdefault(answer.status.value, answer.message)
        outputs = self._observed(word, answer)
        if answer.status is SimulationStatus.NON_DETERMINISTIC or self.tree.contradicts(word, outputs):
            return self._settle(word, outputs)
        self.tree.add(word, outputs)
        return outputs

    def _observed(self, word: Word, answer: Answer) -> Word:
        return observed(word, answer if answer.ok or answer.symbols else self._located(word, answer))

    def _located(self, word: Word, failed: Answer) -> Answer:
        """Find the answers before a failure by executing prefixes, because a process that died has lost them."""
        bad, known = len(word), self.tree.known(word)
        good = known[: next((i for i, output in enumerate(known) if output in FAILURES), len(known))]
        while bad - len(good) > 1:
            middle = (len(good) + bad) // 2
            self._asked += 1
            answer = self.ask([WordQuery(f"word/{self._asked - 1}/prefix", word[:middle])])[0]
            if answer.ok:
                good = answer.symbols
            else:
                bad, good = middle, max(good, answer.symbols, key=len)
        return replace(failed, symbols=good)

    def _settle(self, word: Word, seen: Word) -> Word:
        known = self.tree.known(word)
        votes = Counter(self.again(word, REPETITIONS))
        if seen:
            votes[seen] += 1
        outputs, most = votes.most_common(1)[0]
        if 2 * most <= votes.total() or SimulationStatus.NON_DETERMINISTIC.value in outputs:
            ways = tuple((o, n) for o, n in votes.most_common() if o[: len(known)] != known)
            agreeing = sum(n for o, n in votes.items() if o[: len(known)] == known)
            raise NonDeterministic(word, ((known, 1 + agreeing), *ways) if known else ways)
        if not self.tree.contradicts(word, outputs):
            self.glitches.append(f"'{' '.join(word)}' was once answered '{' '.join(seen)}', which did not repeat")
            self.tree.add(word, outputs)
            return outputs
        wrong = next(i for i, (a, b) in enumerate(zip(known, outputs, strict=False)) if a != b)
        self.tree.overrule(word, outputs)
        self.glitches.append(
            f"'{' '.join(word[: wrong + 1])}' was once answered '{known[wrong]}', which did not repeat; "
            f"'{outputs[wrong]}' did"
        )
        raise Relearn


def observed(word: Word, answer: Answer) -> Word:
    """Return one output per symbol; after a failure all are that failure."""
    missing = len(word) - len(answer.symbols)
    return answer.symbols if not missing else (*answer.symbols, *(answer.status.value,) * missing)
