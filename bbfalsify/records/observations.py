"""Observations of a check: one line per executed word, `[[inputs], [outputs], checksum]`.

A check that begins in a directory begins with what is here, whatever its bound and requirements.  One that is continued
is given its recorded answers again (`recorded_answers.py`); its lines are then written anew after those that it began
with.  A later line overrules an earlier one: a wrong answer may have been corrected.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

from bbfalsify.automata.mealy import Word
from bbfalsify.automata.observation_tree import ObservationTree, read_entry
from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.checksums import crc
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.query import Answer, AnyQuery, Ask, WordQuery
from bbfalsify.records.event_log import damage_at_end
from bbfalsify.records.json_files import one_line
from bbfalsify.records.line_file import LineFile
from bbfalsify.records.recording import RunRecord

FILE = "observations.jsonl"


class ObservationLog:
    """Wraps `ask`: every answer is written before it is returned."""

    def __init__(self, record: RunRecord, observed: Callable[[Word, Answer], Word]) -> None:
        self.path = None if record.path is None else record.path / FILE
        self._record, self._observed = record, observed
        self._file: LineFile | None = None

    def __enter__(self) -> Self:
        if self.path is not None:
            self._file = LineFile(self.path, "observations", _is_line)
            if self._file.dropped:
                self._record.recorder.record(damage_at_end(self._file))
            if self._record.answers.started:
                self._keep(self._file, self._record.answers.known_lines)
            self._record.known_lines = self._file.lines
        return self

    def _keep(self, file: LineFile, began_with: int) -> None:
        """Keep the lines that a continued check began with; the others are written again."""
        if file.lines < began_with:
            text = f"damaged: {file.lines} of the {began_with} observations are left that this check began with."
            advice = "Start a new check with --observations and this file."
            raise UserError([Problem(text, file=str(file.path)), Problem(advice)])
        file.cut(began_with)

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
        self._file.append(b"".join(_line(word, self._observed(word, answer)) for word, answer in pairs))


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
    data = path.read_bytes()
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].split(b"\n")[:-1], start=1):
        try:
            yield read_entry(json.loads(line))
        except (ValueError, TypeError, RecursionError):
            text = f"damaged: not an observation; the {number - 1} before it are whole (--observations reads them)."
            raise UserError(Problem(text, file=str(path), line=number)) from None


def _line(word: Word, outputs: Word) -> bytes:
    body = one_line([word, outputs])
    return f'{body[:-1]},"{crc(body.encode())}"]\n'.encode()


def _is_line(line: bytes) -> bool:
    try:
        read_entry(json.loads(line))
        return True
    except (ValueError, TypeError, RecursionError):
        return False
