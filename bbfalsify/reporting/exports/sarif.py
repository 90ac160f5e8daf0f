"""SARIF 2.1.0, the form in which code scanners (and GitHub's code scanning) read findings.

A requirement is a rule, a counterexample a result.  Its fingerprint is made of requirement and actions alone, so that
the same failure is recognised from run to run.  Results point to where the requirement is written, in the campaign or
the specification: that is where a reader begins.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from bbfalsify.records.stored import to_json
from bbfalsify.reporting.exports.cases import Case, CaseFinding, Suite
from bbfalsify.reporting.exports.source_lines import Place, Places, in_repository, place_of

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_text(suites: Sequence[Suite], places: Places) -> str:
    from bbfalsify import __version__

    rules = {case.id: case for suite in suites for case in suite.cases}
    driver = {
        "name": "bbfalsify",
        "version": __version__,
        "rules": [
            {
                "id": case.id,
                "shortDescription": {"text": case.text or case.formula or case.id},
                "fullDescription": {"text": case.formula or case.text or case.id},
            }
            for case in rules.values()
        ],
    }
    results = [result for suite in suites for case in suite.cases for result in _results(suite, case, places)]
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, allow_nan=False) + "\n"


def _results(suite: Suite, case: Case, places: Places) -> Iterator[dict[str, Any]]:
    place = place_of(suite, case, places)
    for found in case.findings:
        # Nothing that was expected or is accepted is an alarm.
        level = "note" if found.accepted or case.status == "passed" else "error"
        about = f"{case.text or case.id}: {found.text}"
        text = "\n".join([case.summary, *case.modes, about]) if case.modes else about
        result = _result(suite, case, level, text, place, found)
        if found.accepted:
            result["suppressions"] = [{"kind": "external", "justification": "accepted"}]
        yield result
    if not case.findings and case.status != "passed":
        yield _result(suite, case, "error" if case.status == "failed" else "warning", "\n".join(case.lines), place)


def _result(
    suite: Suite, case: Case, level: str, text: str, place: Place | None, found: CaseFinding | None = None
) -> dict[str, Any]:
    key = json.dumps([case.id, case.formula, *(found.key if found is not None else ())])
    properties: dict[str, Any] = {"run": suite.name, "run_directory": suite.directory, "seed": suite.seed}
    if found is not None:
        properties |= {"probability": to_json(found.probability), "file": found.file}
    result: dict[str, Any] = {
        "ruleId": case.id,
        "level": level,
        "message": {"text": text},
        "partialFingerprints": {"bbfalsify/v1": hashlib.sha256(key.encode()).hexdigest()},
        "properties": properties,
    }
    if place is None and found is not None and found.file is not None:
        place = found.file, 1
    if place is not None:
        location = {"artifactLocation": {"uri": _uri(place[0])}, "region": {"startLine": place[1]}}
        result["locations"] = [{"physicalLocation": location}]
    return result


def _uri(path: str) -> str:
    from urllib.parse import quote

    where = in_repository(path)
    return where.as_uri() if where.is_absolute() else quote(where.as_posix())
