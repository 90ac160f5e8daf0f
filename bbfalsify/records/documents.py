"""YAML files whose every value remembers its line.

`read_yaml(path)` gives a `Document`: plain Python data beside a map from key paths to line numbers, so that any later
complaint can say file and line.  Only the safe tags are read; a duplicate key is a problem, not a silent overwrite.
As in YAML 1.2 only `true` and `false` are Booleans: `on` and `off` are the most natural names of actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from bbfalsify.core.errors import Place, Problem, UserError

KeyPath = tuple[str | int, ...]

PLAIN_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(eq=False)
class Text:
    text: str
    place: Place


@dataclass(frozen=True)
class Document:
    file: str
    data: Any
    lines: dict[KeyPath, int] = field(repr=False)
    text_lines: dict[KeyPath, int] = field(repr=False, default_factory=dict)
    """Lines of block scalars (`|`, `>`): the line of the first line of text, one below the key's."""

    def line(self, path: Sequence[str | int]) -> int | None:
        """The line of the value at `path`, or of its nearest enclosing value."""
        path = tuple(path)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)

    def text_line(self, path: Sequence[str | int]) -> int | None:
        """The line on which the text of the scalar at `path` begins."""
        return self.text_lines.get(tuple(path), self.line(path))

    def problem(self, path: Sequence[str | int], message: str, **facts: Any) -> Problem:
        return Problem(message, file=self.file, line=self.line(path), **facts)


def read_yaml(path: str | Path) -> Document:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(Problem("there is no such file.", file=str(path))) from None
    except IsADirectoryError:
        inside = sorted(file.name for file in Path(path).glob("*.y*ml"))
        raise UserError(Problem("this is a folder; name a file.", file=str(path), allowed=tuple(inside))) from None
    except OSError as error:
        raise UserError(Problem(f"the file cannot be read: {error.strerror}.", file=str(path))) from None
    except UnicodeDecodeError as error:
        raise UserError(Problem(f"the file cannot be read: {error}.", file=str(path))) from None
    return parse_yaml(text, file=str(path))


def parse_yaml(text: str, *, file: str = "<text>") -> Document:
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UserError(
            Problem(f"not valid YAML: {error.problem or error}.", file=file, line=mark.line + 1 if mark else None)
        ) from None
    except yaml.YAMLError as error:
        raise UserError(Problem(f"not valid YAML: {error}.", file=file)) from None
    if root is None:
        raise UserError(Problem("the file is empty.", file=file, line=1))
    lines: dict[KeyPath, int] = {}
    text_lines: dict[KeyPath, int] = {}
    problems: list[Problem] = []
    constructor = yaml.SafeLoader("")
    open_nodes: set[int] = set()

    def build(node: yaml.Node, path: KeyPath) -> Any:
        lines[path] = node.start_mark.line + 1
        if id(node) in open_nodes:
            problems.append(Problem("an anchor refers to itself.", file=file, line=lines[path]))
            return None
        open_nodes.add(id(node))
        try:
            if not isinstance(node, yaml.ScalarNode) and node.tag not in PLAIN_TAGS:
                raise yaml.constructor.ConstructorError(problem=f"the tag {node.tag}")
            if isinstance(node, yaml.MappingNode):
                return build_mapping(node, path)
            if isinstance(node, yaml.SequenceNode):
                return [build(child, (*path, i)) for i, child in enumerate(node.value)]
            if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
                text_lines[path] = node.start_mark.line + 2
            return scalar(node)
        except yaml.YAMLError as error:
            problems.append(Problem(f"not allowed: {getattr(error, 'problem', error)}.", file=file, line=lines[path]))
            return None
        finally:
            open_nodes.discard(id(node))

    def scalar(node: yaml.Node) -> Any:
        value = constructor.construct_object(node)
        return node.value if isinstance(value, bool) and node.value.lower() not in ("true", "false") else value

    def build_mapping(node: yaml.MappingNode, path: KeyPath) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key: Any = scalar(key_node)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str | int | float):  # a number may be a name, too
                problems.append(Problem("a key must be a plain name.", file=file, line=line))
                continue
            at: KeyPath = (*path, cast(str | int, key))
            if key in result:
                first = lines[at]
                problems.append(Problem(f"key '{key}' is given twice (first on line {first}).", file=file, line=line))
                continue
            result[key] = build(value_node, at)
            lines[at] = line if isinstance(value_node, yaml.ScalarNode) else lines[at]
        return result

    data = build(root, ())
    if problems:
        raise UserError(problems)
    return Document(file, data, lines, text_lines)
