"""The record of one simulation, written and read: all that the asker was told, bit by bit.

A record is short (well under 300 bytes); outputs are in it only where the query wanted its whole trace, and where
several answers to one batch have the same outputs, only in the first of them.  Numbers of signals are stored as the
bytes they are (little-endian doubles, compressed, base64), so that nothing is lost and nothing is parsed.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from bbfalsify.core.query import NOT_EXECUTED, Answer, AnyQuery, Query, UsesQuery, UseVerdicts, WordQuery
from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.core.verdict import VERDICTS, Judgement, SimulationStatus, Verdict
from bbfalsify.records.json_files import as_number, plain_number

MESSAGE_LIMIT = 500
"""Characters of the longest message from a worker."""
_NOTHING_TO_SAY: tuple[Any, ...] = (None, None, repr(math.inf), False, [], [])
"""Per place of a judgement's record: what need not be written."""


def answer_record(name: str, answer: Answer) -> dict[str, Any]:
    """The compact record of one simulation; `answer_from_record` is its inverse."""
    record: dict[str, Any] = {
        "query": name,
        "status": answer.status.value,
        "judgements": [_judgement_record(judgement) for judgement in answer.judgements],
        "seconds": round(answer.seconds, 6),
    }
    if answer.symbols:
        record["symbols"] = list(answer.symbols)
    if answer.cpu_seconds is not None or answer.memory_mb is not None:
        cpu_seconds, memory_mb = answer.cpu_seconds, answer.memory_mb
        record["cost"] = [
            None if cpu_seconds is None else round(cpu_seconds, 6),
            None if memory_mb is None else round(memory_mb),
        ]
    if answer.simulated is not None:
        record["simulated"] = answer.simulated
    if answer.message:
        record["message"] = _shortened(answer.message)
    if answer.dissent:
        record["dissent"] = _shortened(answer.dissent)
    if answer.uses is not None:
        columns = answer.uses
        record["uses"] = {
            "count": len(columns.verdicts),
            "verdicts": pack(columns.verdicts),
            "robustness": pack(columns.robustness),
            "moments": pack(columns.moments),
        }
    return record


def answer_from_record(record: Mapping[str, Any], trace: Trace | None = None) -> Answer:
    judgements = tuple(
        Judgement(
            Verdict(verdict),
            as_number(robustness),
            as_number(rest[0]) if rest else math.inf,
            len(rest) > 1 and rest[1],
            tuple(rest[2]) if len(rest) > 2 else (),
            _as_shortfalls(rest[3]) if len(rest) > 3 else (),
        )
        for verdict, robustness, *rest in record["judgements"]
    )
    cpu_seconds, memory_mb = record.get("cost", (None, None))
    return Answer(
        SimulationStatus(record["status"]),
        judgements,
        record.get("message", ""),
        trace,
        record["seconds"],
        tuple(record.get("symbols", ())),
        cpu_seconds,
        memory_mb,
        record.get("dissent", ""),
        uses=None if "uses" not in record else _use_verdicts(record["uses"]),
        simulated=record.get("simulated"),
    )


def _use_verdicts(record: Mapping[str, Any]) -> UseVerdicts:
    columns = [unpack(record[name]).reshape(record["count"], -1) for name in ("verdicts", "robustness", "moments")]
    return UseVerdicts(columns[0].astype(np.int8), *columns[1:])


def one_by_one(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The record itself; the record of many uses as records of single ones."""
    if "uses" not in record:
        yield record
        return
    columns = _use_verdicts(record["uses"])
    prefix, _, numbers = record["query"].rpartition("/")
    for row in np.flatnonzero(columns.verdicts[:, 0] != NOT_EXECUTED).tolist():
        yield {
            "query": f"{prefix}/{int(numbers.partition('-')[0]) + row}",
            "status": record["status"],
            "seconds": round(record["seconds"] / len(columns.verdicts), 6),
            "judgements": [
                [VERDICTS[code].value, robustness, moment]
                for code, robustness, moment in zip(
                    columns.verdicts[row].tolist(), columns.robustness[row].tolist(), columns.moments[row].tolist(),
                    strict=True,
                )
            ],
        }  # fmt: skip


def _shortened(text: str) -> str:
    return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 1] + "…"


def _judgement_record(judgement: Judgement) -> list[Any]:
    """[verdict, robustness], first violation time, vacuity, outliers, shortfalls; without an end that says nothing."""
    record: list[Any] = [
        judgement.verdict.value,
        plain_number(judgement.robustness),
        plain_number(judgement.first_violation_time),
        judgement.vacuous,
        list(judgement.outlier_times),
        [[plain_number(number) for number in row] for row in judgement.shortfalls],
    ]
    while len(record) > 2 and record[-1] == _NOTHING_TO_SAY[len(record) - 1]:
        del record[-1]
    return record


def _as_shortfalls(rows: list[list[Any]]) -> tuple[tuple[float, float, float], ...]:
    return tuple((as_number(amount), as_number(low), as_number(high)) for amount, low, high in rows)


# ---------------------------------------------------------------------- which query it answered


def with_checksums(asked: Iterable[tuple[AnyQuery, Answer]], *, traces: bool = False) -> tuple[dict[str, Any], ...]:
    """Make the records of a batch, each with the checksum of what was asked and, if wanted, with its outputs."""
    records: list[dict[str, Any]] = []
    stored: dict[tuple[tuple[str, bytes], ...], str] = {}
    for query, answer in asked:
        record = answer_record(query.name, answer)
        record["asked"] = checksum(query)
        if traces and answer.trace is not None and isinstance(query, Query):
            signals = answer.trace.signals.items()
            outputs = {name: values for name, values in signals if name not in query.stimulus.inputs}
            first = stored.setdefault(tuple((n, values.tobytes()) for n, values in outputs.items()), query.name)
            record["outputs"] = {n: pack(v) for n, v in outputs.items()} if first == query.name else first
        records.append(record)
    return tuple(records)


def recorded_trace(record: Mapping[str, Any], query: AnyQuery, others: Mapping[str, Any]) -> Trace | None:
    """Rebuild a recorded trace; `others` are records by name, for outputs that are stored with them."""
    outputs = record.get("outputs")
    if isinstance(outputs, str):
        outputs = others[outputs]["outputs"]
    if outputs is None or isinstance(query, WordQuery | UsesQuery):
        return None
    stimulus = query.stimulus
    return Trace(stimulus.times, {**stimulus.inputs, **{n: unpack(v) for n, v in outputs.items()}}, stimulus.events)


def checksum(query: AnyQuery) -> str:
    """Eight hexadecimal digits that change when the input does; cheap, because every query is given one."""
    if isinstance(query, WordQuery):
        return f"{zlib.crc32(chr(31).join(query.word).encode()):08x}"
    parts = query.source.parts() if not isinstance(query.source, Stimulus) else _parts(query.source)
    value = 0
    for part in parts:
        value = zlib.crc32(np.ascontiguousarray(part).data, value)
    return f"{value:08x}"


def _parts(stimulus: Stimulus) -> list[np.ndarray]:
    return [stimulus.times, *stimulus.inputs.values()]


# ---------------------------------------------------------------------- signals


def pack(values: np.ndarray) -> str:
    """Numbers as text, bit by bit."""
    data = np.ascontiguousarray(values, dtype="<f8").tobytes()
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def unpack(text: str) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<f8").astype(float)
