"""A violation of a requirement about symbols, as one file that says everything needed to see it again.

The word is a prefix and a loop that can be repeated without end; without a loop, the prefix alone is the violation.
Reading is strict: all problems at once.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.named_requirement import NamedRequirement
from bbfalsify.records.counterexample import SeedRecord, SystemRecord
from bbfalsify.records.json_files import read_json, write_json
from bbfalsify.records.stored import read_strictly

KIND = "word"
Word = tuple[str, ...]


@dataclass(frozen=True)
class PropertyRecord(NamedRequirement):
    form: str
    """ltl, ltlf, monitor, hoa, …: how `formula` is to be read."""
    formula: str


@dataclass(frozen=True)
class WordCounterexample:
    requirement: PropertyRecord
    prefix: Word
    loop: Word
    outputs: Word
    """The system's answers to the prefix and to the first round of the loop."""
    rounds: int
    """Executions of the loop; 0 without a loop."""
    status: Literal["confirmed", "flaky", "observed"]
    """observed: seen once, in a system that cannot be reset."""
    reproduced: int
    tries: int
    seed: SeedRecord
    system: SystemRecord
    versions: dict[str, str] = field(default_factory=dict)
    probability: Estimate | None = None
    """Probability that a use begins with the prefix (and one round of the loop), where there is a profile."""
    time_limit_s: float | None = None
    kind: Literal["word"] = "word"
    format_version: Literal[1] = 1

    @property
    def executed(self) -> Word:
        return self.prefix + self.loop * self.rounds

    @property
    def expected(self) -> Word:
        """The outputs to the whole word that was executed."""
        return self.outputs[: len(self.prefix)] + self.outputs[len(self.prefix) :] * self.rounds

    def write(self, path: str | Path) -> None:
        write_json(Path(path), {"format_version": 1, "kind": KIND} | asdict(self))

    @staticmethod
    def read(path: str | Path) -> WordCounterexample:
        return word_counterexample_from_json(read_json(path), file=str(path))


def word_counterexample_from_json(data: Any, *, file: str | None = None) -> WordCounterexample:
    found = read_strictly(WordCounterexample, data, file=file)
    problems = []
    if len(found.outputs) != len(found.prefix) + len(found.loop):
        problems.append(f"outputs: {len(found.outputs)} for {len(found.prefix)} + {len(found.loop)} symbols.")
    if bool(found.loop) != bool(found.rounds):
        problems.append("rounds: a loop needs at least one round, and without a loop there is none.")
    if not 0 <= found.reproduced <= found.tries:
        problems.append("reproduced: must lie between 0 and tries.")
    if problems:
        raise UserError([Problem(text, file=file) for text in problems])
    return found
