"""Everything ever seen of a black box that answers symbols, as one tree of words.

    tree = ObservationTree()
    tree.add(("coin", "push"), ("click", "go"))
    tree.outputs(("coin",))                     # ("click",): prefixes are known, too
    tree.outputs(("push",))                     # None: nobody has tried
    tree.add(("coin",), ("broken",))            # raises Contradiction: the box is not deterministic, or was not reset

Learner, model checker and conformance tester share one, so that no word is executed twice.  Nodes are numbers and
symbols are numbered as they appear, which keeps a step through the tree to one look-up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from bbfalsify.core.errors import Problem, UserError

Word = tuple[str, ...]


class Contradiction(Exception):
    """Two executions of the same word were answered in different ways."""

    def __init__(self, word: Word, known: str, seen: str) -> None:
        self.word, self.known, self.seen = word, known, seen
        shown = " ".join(word if len(word) <= 12 else ("…", *word[-12:]))
        super().__init__(f"after '{shown}' the last answer was '{known}' before and '{seen}' now")


class ObservationTree:
    def __init__(self) -> None:
        self._inputs: dict[str, int] = {}
        self._children: list[dict[int, int]] = [{}]
        self._output: list[str] = [""]
        """Of the edge that leads to the node; outputs are shared strings."""

    def __len__(self) -> int:
        """The number of observations: one per symbol of a word that is not a prefix seen before."""
        return len(self._output) - 1

    def add(self, word: Sequence[str], outputs: Sequence[str]) -> int:
        """Enter what was seen (as far as answers came); gives the number of new observations."""
        node, new = 0, 0
        for position, (symbol, output) in enumerate(zip(word, outputs, strict=False)):
            number = self._inputs.setdefault(symbol, len(self._inputs))
            child = self._children[node].get(number)
            if child is None:
                child = len(self._output)
                self._children[node][number] = child
                self._children.append({})
                self._output.append(output)
                new += 1
            elif self._output[child] != output:
                raise Contradiction(tuple(word[: position + 1]), self._output[child], output)
            node = child
        return new

    def known(self, word: Sequence[str]) -> Word:
        """The outputs of the longest prefix that has been seen."""
        node, outputs = 0, []
        for symbol in word:
            child = self._children[node].get(self._inputs.get(symbol, -1))
            if child is None:
                break
            outputs.append(self._output[child])
            node = child
        return tuple(outputs)

    def outputs(self, word: Sequence[str]) -> Word | None:
        """The outputs along a word; None where it has not been seen to its end."""
        known = self.known(word)
        return known if len(known) == len(word) else None

    def words(self) -> Iterator[tuple[Word, Word]]:
        """The maximal words with their outputs, in the order of their first symbols' appearance."""
        names = list(self._inputs)
        stack: list[tuple[int, Word, Word]] = [(0, (), ())]
        while stack:
            node, word, outputs = stack.pop()
            children = self._children[node]
            if not children and word:
                yield word, outputs
            for number, child in sorted(children.items(), reverse=True):
                stack.append((child, (*word, names[number]), (*outputs, self._output[child])))

    def save(self, path: str | Path) -> None:
        """One line per maximal word: [[inputs], [outputs]]; written beside and moved, so that a file is never half."""
        file = Path(path)
        beside = file.with_name(file.name + ".new")
        with beside.open("w", encoding="utf-8") as out:
            for word, outputs in self.words():
                out.write(json.dumps([word, outputs], ensure_ascii=False) + "\n")
        beside.replace(file)

    @classmethod
    def load(cls, path: str | Path) -> ObservationTree:
        """From such a file, or from a log that somebody wrote in the same form; a wrong line is named."""
        tree, problems = cls(), []
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(Problem(f"the observations cannot be read: {error}.", file=str(path))) from None
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                word, outputs = _entry(json.loads(line))
                tree.add(word, outputs)
            except Contradiction as error:
                problems.append(Problem(f"{error}.", file=str(path), line=number))
            except (ValueError, TypeError):
                message = "expected [[inputs], [outputs]], two lists of words of the same length."
                problems.append(Problem(message, file=str(path), line=number))
        if problems:
            raise UserError(problems[:20])
        return tree


def _entry(data: object) -> tuple[Word, Word]:
    word, outputs = data
    if len(word) != len(outputs) or not all(isinstance(s, str) for s in (*word, *outputs)):
        raise ValueError
    return tuple(word), tuple(outputs)
