"""Write a model as YAML, whatever file it came from.

text = written_model(model)            yaml_reader.py reads it into the same network
text, notes = converted("gate.xml")    the file's model in this form
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem
from bbfalsify.modelling.formats.yaml_reader import FORMAT_VERSION, PORT_KEYS
from bbfalsify.modelling.language.model_text import BranchText, EdgeText, LocationText, ModelText, TemplateText
from bbfalsify.records.documents import Text, read_yaml
from bbfalsify.records.yaml_text import as_yaml


def converted(path: str | Path) -> tuple[str, list[Problem]]:
    """Convert the model or profile of a file to YAML; return it with notes on omitted parts."""
    from bbfalsify.modelling.formats.model_files import load_with_text
    from bbfalsify.modelling.formats.uppaal import is_uppaal
    from bbfalsify.modelling.profiles.profile import load_profile

    _, model = load_with_text(path)
    ports: dict[str, Any] = {}
    if not is_uppaal(path):
        data = read_yaml(path).data
        ports = {key: data[key] for key in PORT_KEYS if key in data}
        if "inputs" in ports:
            load_profile(path)
    return written_model(model, ports), model.notes


def written_model(model: ModelText, ports: dict[str, Any] | None = None) -> str:
    data: dict[str, Any] = {"format_version": FORMAT_VERSION, "name": model.name}
    if model.as_uppaal:
        data["dialect"] = "uppaal"
    if model.declarations:
        data["declarations"] = "\n".join(_clean(text.text) for text in model.declarations)
    if model.ode_step is not None:
        data["ode_step"] = model.ode_step
    data["automata"] = {template.name: _automaton(template) for template in model.templates}
    if model.definitions:
        data["instances"] = [_clean(text.text) for text in model.definitions]
    if model.system is not None:
        data["system"] = [
            _clean(entry.text.text if entry.name is None else f"{entry.name} = {entry.text.text}")
            for entry in model.system
        ]
    kinds = {"channels": model.channel_priorities, "processes": model.process_priorities}
    if any(kinds.values()):
        data["priorities"] = {kind: _clean(text.text) for kind, text in kinds.items() if text is not None}
    if model.alphabets:
        data["alphabets"] = {process: _clean(channels.text) for process, channels in model.alphabets}
    if model.queries:
        data["queries"] = [
            {"query": query.text, "comment": query.comment} if query.comment else query.text for query in model.queries
        ]
    data.update(ports or {})
    return as_yaml(data)


def _automaton(template: TemplateText) -> dict[str, Any]:
    data: dict[str, Any] = {}
    _put(data, "parameters", template.parameters)
    if template.declarations:
        data["declarations"] = "\n".join(_clean(text.text) for text in template.declarations)
    data["initial"] = template.initial if template.initial is not None else template.locations[0].name
    data["locations"] = {location.name: _location(location) for location in template.locations}
    if template.edges:
        data["edges"] = [_edge(edge) for edge in template.edges]
    return data


def _location(location: LocationText) -> dict[str, Any]:
    data: dict[str, Any] = {}
    _put(data, "invariant", location.invariant)
    if location.rates:
        data["rates"] = {clock.text: _clean(rate.text) for clock, rate in location.rates}
    _put(data, "exponential_rate", location.exponential_rate)
    for key in ("urgent", "committed"):
        if getattr(location, key):
            data[key] = True
    _put(data, "cost_rate", location.cost_rate)
    return data


def _edge(edge: EdgeText) -> dict[str, Any]:
    data: dict[str, Any] = {"from": edge.source}
    alone = edge.branches[0] if len(edge.branches) == 1 and edge.branches[0].weight is None else None
    if alone is not None:
        data["to"] = alone.target
    if edge.action is not None:
        data["action"] = edge.action
    _put(data, "select", edge.select)
    _put(data, "guard", edge.guard)
    _put(data, "sync", edge.sync)
    if alone is not None:
        _put_update(data, alone)
    _put(data, "weight", edge.weight)
    _put(data, "cost", edge.cost)
    if alone is None:
        data["branches"] = [_branch(branch) for branch in edge.branches]
    return data


def _branch(branch: BranchText) -> dict[str, Any]:
    data: dict[str, Any] = {"to": branch.target}
    _put(data, "weight", branch.weight)
    _put_update(data, branch)
    return data


def _put_update(data: dict[str, Any], branch: BranchText) -> None:
    texts = [_clean(text.text) for text in (branch.before, branch.update) if text is not None and text.text.strip()]
    if texts:
        data["update"] = "\n, ".join(texts)  # a new line: the first may end with a comment


def _put(data: dict[str, Any], key: str, text: Text | None) -> None:
    if text is not None and text.text.strip():
        data[key] = _clean(text.text)


def _clean(text: str) -> str:
    """Remove what a block of YAML cannot contain: tabs, and spaces at the ends of lines."""
    return "\n".join(line.expandtabs(4).rstrip() for line in text.strip("\n").splitlines()).strip()
