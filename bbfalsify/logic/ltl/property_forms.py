"""Read requirements from specification files and counterexample files, by the name of their form.

- {id: R1, ltl: "G(in == request -> F out == grant)"}
- {id: R2, ltlf: "F out == ready ends with in == quit"}
- {id: R3, monitor: door.yaml}
- {id: R4, hoa: fair.hoa}
- {id: R5, hoa_violations: never.hoa}
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.logic.ltl.hoa import hoa
from bbfalsify.logic.ltl.monitors import monitor
from bbfalsify.logic.ltl.properties import Property, ltl, ltlf

FORMS = ("ltl", "ltlf", "monitor", "dfa", "hoa", "hoa_violations", "stl")


def read_property(
    form: str, source: Any, *, folder: str | Path | None = None, file: str | None = None, line: int | None = None
) -> Property:
    """Read a requirement from a text, the name of a file in `folder`, or (monitors) a mapping.

    `file` and `line` are its place, for error messages.
    """
    readers: dict[str, Callable[[], Property]] = {
        "ltl": lambda: ltl(source, file=file, line=line),
        "ltlf": lambda: ltlf(source, file=file, line=line),
        "monitor": lambda: monitor(source, folder=folder, file=file, line=line),
        "dfa": lambda: monitor(source, folder=folder, file=file, line=line),
        "hoa": lambda: hoa(source, folder=folder),
        "hoa_violations": lambda: hoa(source, accepts="violations", folder=folder),
        "stl": lambda: _sampled(source, file, line),
    }
    if form not in readers:
        raise UserError(unknown_name("form of a requirement", form, FORMS, file=file, line=line))
    if not isinstance(source, str) and not (form in ("monitor", "dfa") and isinstance(source, dict)):
        raise UserError(Problem(f"{form}: a text is needed, not {source!r}.", file=file, line=line))
    return readers[form]()


def _sampled(source: str, file: str | None, line: int | None) -> Property:
    """Read STL over symbols, as `Sampling.source` writes it."""
    from bbfalsify.logic.ltl.sampled_stl import Sampling
    from bbfalsify.logic.stl.parser import parse_stl

    try:
        facts = json.loads(source)
        texts, number, period, inputs = (facts[key] for key in ("stl", "number", "period", "inputs"))
    except (ValueError, TypeError, KeyError):
        message = "stl: over symbols a formula needs its sampling: {stl: [...], number, period, inputs} as JSON."
        raise UserError(Problem(message, file=file, line=line)) from None
    return Sampling([parse_stl(text) for text in texts], period, inputs=inputs).properties[number]
