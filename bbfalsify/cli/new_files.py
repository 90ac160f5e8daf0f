"""The campaign and the profile that `bbfalsify new` writes; with a `new adapter` of the same name both work at once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from bbfalsify.core.engine_kind import EngineKind
from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.core.settings import keys_of
from bbfalsify.registry import ENGINES

PROFILE = """# How people use NAME: states, how long they stay in each, and what they do then.
#   bbfalsify validate profiles/NAME.yaml        every mistake at once
#   bbfalsify simulate profiles/NAME.yaml        a few walks, as a table
format_version: 1
name: NAME
automata:
  User:
    declarations: |
      clock x;
    initial: Waiting
    locations:
      # The invariant says how long a stay lasts at most; the delay is uniform up to it.
      Waiting: {invariant: "x <= 5"}
      Using: {invariant: "x <= 3"}
    edges:
      # `action` is what the user does; weights say how often each is chosen (default 1).
      - {from: Waiting, to: Using, action: on, guard: "x >= 1", update: "x = 0"}
      - {from: Using, to: Waiting, action: off, guard: "x >= 1", update: "x = 0", weight: 3}
      - {from: Using, to: Using, action: more, guard: "x >= 1", update: "x = 0", weight: 1}
inputs:
  # What the actions mean for the system's inputs; between actions an input keeps its value.
  u: {actions: {on: 0.5, more: 1, off: 0}, initial: 0, unit: "1"}
outputs:
  y: {unit: "1"}
"""

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
CAMPAIGNS = {
    "falsify": (
        "Can people break NAME, and how probable is that?",
        """system: SYSTEM
profile: PROFILE
requirements:
  - {id: R1, text: "y stays below 0.9", stl: "always[0:20](y <= 0.9)", expected: falsified}
engine:
  kind: falsify
  horizon: 20
  counterexamples: 5
  simulations: 500
""",
    ),
    "check": (
        "Does NAME keep to its protocol, whatever it is sent?  (`bbfalsify new adapter NAME --kind symbols` fits.)",
        """system: SYSTEM
requirements:
  - {id: R1, text: "after a coin, a push goes through", ltl: "G(in == coin -> X (in == push -> out == go))"}
engine:
  kind: check
  max_states: 4
""",
    ),
    "estimate": (
        "How probable is it? Models that are Markov chains are computed, others simulated.",
        """model: example:hubble  # a model file (YAML, or UPPAAL's), or an example of 'bbfalsify list models'
requirements:
  - {id: Q1, text: "no crash within ten years", query: "P<=0.01 [ F<=10 crash ]"}
engine:
  kind: estimate
""",
    ),
    "reach": (
        "Can these states of a model be reached?",
        """# A model of your own: a YAML file, or one of UPPAAL (.xml, .xta, .ta).
model: example:fischer-faulty:4
requirements:
  - {id: Q1, text: "no two inside", query: "A[] (sum (i : id_t) P(i).cs) <= 1", expected: falsified}
  - {id: Q2, text: "one can get in", query: "E<> P(1).cs", expected: reached}
engine:
  kind: reach
  timeout: 60
""",
    ),
}

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
    question, content = CAMPAIGNS.get(engine) or _of_another_package(engine, kind)
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


def _of_another_package(engine: str, kind: EngineKind) -> tuple[str, str]:
    """Question and content for an engine that has none of its own: subject and requirements of one about the same."""
    like = {"signals": "falsify", "symbols": "check", "states": "reach"}[kind.about]
    sections = re.split(r"^(?=[a-z])", CAMPAIGNS[like][1].partition("engine:")[0], flags=re.MULTILINE)
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
