"""The files that `bbfalsify new` writes: an adapter, a profile and a campaign of one name work together at once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bbfalsify.core.engine_kind import EngineKind
from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.core.settings import keys_of
from bbfalsify.registry import ENGINES

TEMPLATES = Path(__file__).parent / "templates"
"""Adapters, campaigns and a profile that work as they are; NAME, SYSTEM and PROFILE are filled in."""
_HEAD = """# QUESTION
#   bbfalsify validate FILE        every mistake at once, runs nothing
#   bbfalsify run FILE             runs it; --resume continues what was interrupted
# Every key is explained in docs/reference/campaign.md; `bbfalsify schema campaign` describes them to your editor.
format_version: 1
name: NAME
"""
_TAIL = """SETTINGS
# A list makes several runs: seed: [1, 2, 3]
seed: 1
SECTIONS
"""
_GIVEN = ("format_version", "name", "system", "profile", "model", "constants", "requirements", "engine", "seed")
_EXAMPLES = {
    "signals": "{level: {range: [0, 1], every: 5}}",
    "parameters": "{mass: {uniform: [1, 2]}}",
    "budget": "{seconds: 3600}",
    "jobs": "2",
    "executor": "dask",
    "votes": "3",
    "memory_limit": "1000",
    "early_stop": "true",
    "store": "known",
    "accepted": "accepted.yaml",
    "expected": "falsified",
}


_REQUIREMENTS = re.compile(r"^requirements:\n((?:  - .*\n)+)", re.MULTILINE)
_SPECIFICATION = """# The requirements of NAME; campaigns name this file.
format_version: 1
requirements:
"""
ADAPTER_KINDS: Mapping[str, str] = defaultdict(lambda: "function", check="symbols")
"""Kind of the adapter that fits the campaign of an engine."""


def template(file: str, name: str) -> str:
    """Return the text of a template with this name filled in."""
    return (TEMPLATES / file).read_text(encoding="utf-8").replace("NAME", name)


def needs(engine: str) -> tuple[str, ...]:
    """Return the sections that a campaign of this engine must have."""
    return ENGINES.kind(engine).needs


def campaign_text(
    engine: str, name: str, system: str, profile: str, specification: str | None = None
) -> tuple[str, str]:
    """A campaign with everything that can be set: what is needed, and the rest as comments with its defaults.

    Where a specification file is named, it holds the requirements: the second text.
    """
    from bbfalsify.campaigns.schema import CAMPAIGN_SECTIONS

    if engine not in ENGINES.names():
        raise UserError(unknown_name("engine", engine, ENGINES.names()))
    kind = ENGINES.kind(engine)
    question, content = _campaign(engine) if _campaign_file(engine).is_file() else _of_another_package(engine, kind)
    requirements = _SPECIFICATION + "".join(_REQUIREMENTS.findall(content))
    if specification is not None:
        content = _REQUIREMENTS.sub(f"requirements: [{specification}]\n", content)
    settings = [
        f"  # {key}: {_yaml(declared.default)}"
        for key, declared in keys_of(kind.named("settings")).items()
        if not declared.required and f"\n  {key}:" not in content
    ]
    sections = [
        f"# {key}: {_EXAMPLES.get(key) or _yaml(declared.default):<22} # {declared.rules.sentence}"
        for key, declared in CAMPAIGN_SECTIONS.items()
        if key not in (*_GIVEN, *kind.ignores)
    ]
    tail = _TAIL.replace("SETTINGS", "\n".join(settings)).replace("SECTIONS", "\n".join(sections))
    text = _HEAD.replace("QUESTION", question) + content + tail
    text = text.replace("NAME", name).replace("SYSTEM", system).replace("PROFILE", profile)
    return text, requirements.replace("NAME", name)


def _campaign_file(engine: str) -> Path:
    return TEMPLATES / f"campaign_{engine}.yaml"


def _campaign(engine: str) -> tuple[str, str]:
    """The question that the campaign of an engine answers (the first line of its file), and its content."""
    question, _, content = _campaign_file(engine).read_text(encoding="utf-8").partition("\n")
    return question.removeprefix("# "), content


def _of_another_package(engine: str, kind: EngineKind) -> tuple[str, str]:
    """Question and content for an engine that has none of its own: subject and requirements of one about the same."""
    like = {"signals": "falsify", "symbols": "check", "states": "reach"}[kind.about]
    sections = re.split(r"^(?=[a-z])", _campaign(like)[1].partition("engine:")[0], flags=re.MULTILINE)
    needed = [section for section in sections if section.partition(":")[0] in kind.needs]
    required = [
        f"  {key}:  # {declared.rules.sentence}\n"
        for key, declared in keys_of(kind.named("settings")).items()
        if declared.required
    ]
    return f"NAME: {kind.says}", "".join([*needed, f"engine:\n  kind: {engine}\n", *required])


def _yaml(value: Any) -> str:
    if value is None:
        return "null"
    return str(list(value) if isinstance(value, tuple) else value).replace("True", "true").replace("False", "false")
