"""What a check has seen of the box, on disk at every moment: one line per executed word, `[[inputs], [outputs]]`.

A check that is killed loses the words in flight and nothing else; the next one begins with what is here.  A later line
overrules an earlier one, because a wrong answer may have been corrected in between.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from bbfalsify.automata.mealy import Word
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.query import Answer, Ask, WordQuery

FILE = "observations.jsonl"


class ObservationLog:
    """Wraps `ask`: what is answered is written before anybody acts on it."""

    def __init__(self, path: Path | None, observed: Callable[[Word, Answer], Word]) -> None:
        self.path, self._observed = path, observed
        self._file: IO[str] | None = None

    def __enter__(self) -> ObservationLog:
        if self.path is not None:
            try:
                cut_unfinished_line(self.path)
                self._file = self.path.open("a", encoding="utf-8")
            except OSError as error:
                raise self._failure(error) from None
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.close()

    def around(self, ask: Ask) -> Ask:
        def asking(queries: Sequence[WordQuery]) -> Sequence[Answer]:
            try:
                answers = ask(queries)
            except BudgetSpent as spent:
                self.write(queries, spent.answers)
                raise
            self.write(queries, answers)
            return answers

        return asking

    def write(self, queries: Sequence[WordQuery], answers: Sequence[Answer]) -> None:
        if self._file is None:
            return
        lines = (
            json.dumps([q.word, self._observed(q.word, a)], separators=(",", ":"), ensure_ascii=False)
            for q, a in zip(queries, answers, strict=False)
        )
        try:
            self._file.write("".join(f"{line}\n" for line in lines))
            self._file.flush()
        except OSError as error:
            raise self._failure(error) from None

    def _failure(self, error: OSError) -> UserError:
        return UserError(Problem(f"observations cannot be recorded: {error.strerror}.", file=str(self.path)))


def load_observations(
    logs: Sequence[Path], alphabet: Sequence[str], sent: Sequence[str], *, continued: Path | None = None
) -> ObservationTree:
    """Everything in logs of use and earlier checks, then in the record of the check that is `continued`.

    Words with symbols that the box does not know are refused, those with symbols that are not sent end before them. A
    record that is continued may end in the middle of a line, where the check was killed.
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
    for line in _whole_lines(continued):
        _add(tree, *line, sent)
    return tree


def _add(tree: ObservationTree, word: Word, outputs: Word, sent: Sequence[str]) -> None:
    length = next((i for i, symbol in enumerate(word) if symbol not in sent), len(word))
    tree.overrule(word[:length], outputs[:length])


def _whole_lines(path: Path | None) -> Iterator[tuple[Word, Word]]:
    if path is None or not path.is_file():
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines(), start=1):
        try:
            word, outputs = json.loads(line)
            yield tuple(word), tuple(outputs)
        except (ValueError, TypeError):
            raise UserError(Problem("not an observation of bbfalsify.", file=str(path), line=number)) from None


def cut_unfinished_line(path: Path) -> None:
    """What was written when the check was killed; the next line must not be appended to it."""
    data = path.read_bytes() if path.is_file() else b""
    if data and not data.endswith(b"\n"):
        os.truncate(path, data.rfind(b"\n") + 1)
