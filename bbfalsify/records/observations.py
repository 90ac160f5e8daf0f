"""Observations of a check: one line per executed word, `[[inputs], [outputs]]`, on disk before the engine acts on it.

A check that is killed loses the words in flight and nothing else; the next one begins with what is here, whatever its
bound and requirements.  A later line overrules an earlier one: a wrong answer may have been corrected.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bbfalsify.automata.mealy import Word
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.query import Answer, AnyQuery, Ask, WordQuery
from bbfalsify.records.json_files import one_line
from bbfalsify.records.line_file import LineFile

FILE = "observations.jsonl"


class ObservationLog:
    """Wraps `ask`: every answer is written before it is returned."""

    def __init__(self, path: Path | None, observed: Callable[[Word, Answer], Word]) -> None:
        self.path, self._observed = path, observed
        self._file: LineFile | None = None

    def __enter__(self) -> ObservationLog:
        if self.path is not None:
            self._file = LineFile(self.path, "observations", lambda line: bool(line.strip(b"\0\n")))
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.close()

    def around(self, ask: Ask) -> Ask:
        def asking(queries: Sequence[AnyQuery]) -> Sequence[Answer]:
            try:
                answers = ask(queries)
            except BudgetSpent as spent:
                self.write(queries, spent.answers)
                raise
            self.write(queries, answers)
            return answers

        return asking

    def write(self, queries: Sequence[AnyQuery], answers: Sequence[Answer]) -> None:
        if self._file is None:
            return
        pairs = [(q.word, a) for q, a in zip(queries, answers, strict=False) if isinstance(q, WordQuery)]
        self._file.append("".join(one_line([word, self._observed(word, a)]) + "\n" for word, a in pairs).encode())


def load_observations(
    logs: Sequence[Path], alphabet: Sequence[str], sent: Sequence[str], *, continued: Path | None = None
) -> ObservationTree:
    """Read logs of use and of earlier checks, then the record of the check that is `continued`.

    Words with symbols that the box does not know are refused, those with symbols that are not sent end before them.
    """
    tree, problems = ObservationTree(), []
    for path in logs:
        for word, outputs in ObservationTree.load(path).words():
            unknown = sorted(set(word) - set(alphabet))
            if unknown:
                message = f"the symbols {', '.join(unknown)} are not in the system's alphabet."
                problems.append(Problem(message, file=str(path), allowed=tuple(alphabet)))
                break
            _add(tree, word, outputs, sent)
    if problems:
        raise UserError(problems)
    for line in _lines(continued):
        _add(tree, *line, sent)
    return tree


def _add(tree: ObservationTree, word: Word, outputs: Word, sent: Sequence[str]) -> None:
    length = next((i for i, symbol in enumerate(word) if symbol not in sent), len(word))
    tree.overrule(word[:length], outputs[:length])


def _lines(path: Path | None) -> Iterator[tuple[Word, Word]]:
    if path is None or not path.is_file():
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines(), start=1):
        try:
            word, outputs = json.loads(line)
            yield tuple(word), tuple(outputs)
        except (ValueError, TypeError):
            raise UserError(Problem("not an observation of bbfalsify.", file=str(path), line=number)) from None
