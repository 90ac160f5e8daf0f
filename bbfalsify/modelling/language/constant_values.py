"""Give constants of a model other values than its file does (`--set nu=6`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from bbfalsify.core.errors import Problem, unknown_name
from bbfalsify.modelling.language.model_text import ModelText

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CONSTANT = re.compile(r"\bconst\s+[^;{}()]*;")
_VALUE = re.compile(r"(\w+)\s*=\s*([^,;]+)")


def set_constants(model: ModelText, values: Mapping[str, object]) -> list[Problem]:
    """Replace the values of global constants in the model's texts; return problems with names that are none."""
    texts = [_COMMENT.sub(_blank, text.text) for text in model.declarations]
    known = {name for text in texts for part in _CONSTANT.findall(text) for name, _ in _VALUE.findall(part)}
    problems = [unknown_name("constant", n, known, file=model.place.file) for n in values if n not in known]
    for number, text in enumerate(texts):
        model.declarations[number] = replace(
            model.declarations[number], text=_CONSTANT.sub(lambda part: _with_values(part.group(), values), text)
        )
    return problems


def _blank(comment: re.Match[str]) -> str:
    """Remove a comment, and keep its lines: messages count them."""
    return "\n" * comment.group().count("\n")


def _with_values(declaration: str, values: Mapping[str, object]) -> str:
    def value(part: re.Match[str]) -> str:
        name = part.group(1)
        return f"{name} = {values[name]}" if name in values else part.group()

    return _VALUE.sub(value, declaration)
