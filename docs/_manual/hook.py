"""MkDocs hook: fill in what is made from the code, and turn formulas into MathML.

A page asks for generated text by a comment on a line of its own:

    <!-- generated: commands -->
    <!-- generated: settings falsify -->
    <!-- generated: api bbfalsify.systems -->

Formulas stand between dollar signs, in LaTeX.  They become MathML while the manual is built: readers need no script.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import api_pages
import command_pages
import json_pages
import setting_pages
from latex2mathml.converter import convert

MAKERS: dict[str, Callable[..., str]] = {
    "commands": command_pages.commands,
    "exit-codes": command_pages.exit_codes,
    "sections": setting_pages.sections,
    "requirement": setting_pages.requirement,
    "settings": setting_pages.settings,
    "engines": setting_pages.engines,
    "schemas": setting_pages.schemas,
    "api": api_pages.module,
    "results": json_pages.results,
}
_PLACE = re.compile(r"^<!-- generated: (?P<maker>[\w-]+)(?P<arguments>(?: [^\s]+)*) -->$", re.M)
_FORMULA = re.compile(r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.S)


def on_page_markdown(markdown: str, **_: Any) -> str:
    return _PLACE.sub(lambda place: MAKERS[place["maker"]](*place["arguments"].split()), markdown)


def on_page_content(content: str, **_: Any) -> str:
    return _FORMULA.sub(_mathml, content)


def _mathml(formula: re.Match[str]) -> str:
    display = "block" if formula["tag"] == "div" else "inline"
    return convert(html.unescape(formula["latex"]).strip(), display=display)
