"""Observations of a check: a line `{"inputs": […], "outputs": […]}` per executed word (`line_file.py`).

A check that begins in a directory begins with what is here, whatever its bound and requirements.  One that is continued
is given its recorded answers again (`recorded_answers.py`); its lines are then written anew after those that it began
with.  A later line overrules an earlier one: a wrong answer may have been corrected.

Lines `[[inputs], [outputs]]` of logs of use are read, too, and those of older versions, which end with a checksum.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from bbfalsify.automata.mealy import Word
from bbfalsify.automata.observation_tree import Contradiction, ObservationTree
from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.checksums import crc
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.foreign_files import LARGEST_DATA, read_text
from bbfalsify.core.query import Answer, AnyQuery, Ask, WordQuery
from bbfalsify.records.event_log import damage_at_end
from bbfalsify.records.line_file import LineFile, line_of, read_line
from bbfalsify.records.recording import RunRecord
from bbfalsify.records.run_files import OBSERVATIONS


class ObservationLog:
    """Wraps `ask`: every answer is written before it is returned."""

    def __init__(self, record: RunRecord, observed: Callable[[Word, Answer], Word]) -> None:
        self.path = None if record.path is None else record.path / OBSERVATIONS
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
        self._file.append(b"".join(line_of({"inputs": w, "outputs": self._observed(w, a)}) for w, a in pairs))


def load_observations(
    logs: Sequence[Path], alphabet: Sequence[str], sent: Sequence[str], *, continued: Path | None = None
) -> ObservationTree:
    """Read logs of use and of earlier checks, then the record of the check that is `continued`.

    Words with symbols that the box does not know are refused, those with symbols that are not sent end before them.
    """
    tree, problems = ObservationTree(), []
    for path in logs:
        for word, outputs in read_log(path).words():
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


def read_log(path: str | Path) -> ObservationTree:
    """Read a file of observations that agree with each other; problems name the line."""
    tree = ObservationTree()
    problems: list[Problem] = []
    for number, line in enumerate(read_text(path, largest=LARGEST_DATA).split("\n"), start=1):
        if not line.strip():
            continue
        entry = _entry(line.encode())
        if entry is None:
            message = "expected [[inputs], [outputs]], two lists of words of the same length, undamaged."
            problems.append(Problem(message, file=str(path), line=number))
            continue
        try:
            tree.add(*entry)
        except Contradiction as error:
            problems.append(Problem(f"{error}.", file=str(path), line=number))
    if problems:
        raise UserError(problems[:20])
    return tree


def _add(tree: ObservationTree, word: Word, outputs: Word, sent: Sequence[str]) -> None:
    length = next((i for i, symbol in enumerate(word) if symbol not in sent), len(word))
    tree.overrule(word[:length], outputs[:length])


def _lines(path: Path | None) -> Iterator[tuple[Word, Word]]:
    if path is None or not path.is_file():
        return
    data = path.read_bytes()
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].split(b"\n")[:-1], start=1):
        entry = _entry(line)
        if entry is None:
            text = f"damaged: not an observation; the {number - 1} before it are whole (--observations reads them)."
            raise UserError(Problem(text, file=str(path), line=number))
        yield entry


def _is_line(line: bytes) -> bool:
    return _entry(line) is not None


def _entry(line: bytes) -> tuple[Word, Word] | None:
    """Read one observation; None where it is none, or damaged."""
    try:
        word, outputs = _members(line)
        fits = len(word) == len(outputs) and all(isinstance(s, str) for s in (*word, *outputs))
        return (tuple(word), tuple(outputs)) if fits else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _members(line: bytes) -> tuple[Any, Any]:
    if not line.lstrip().startswith(b"["):
        content = read_line(line) or {}
        return content["inputs"], content["outputs"]
    word, outputs, *checksum = json.loads(line)
    if checksum and checksum != [crc(json.dumps([word, outputs], ensure_ascii=False, separators=(",", ":")).encode())]:
        raise ValueError
    return word, outputs
