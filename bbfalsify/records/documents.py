"""YAML files whose every value remembers its line.

`read_yaml(path)` gives a `Document`: plain Python data beside a map from key paths to line numbers, so that any later
complaint can say file and line.  Only the safe tags are read; a duplicate key is a problem, not a silent overwrite.
Nesting, aliases and sizes are limited.  As in YAML 1.2 only `true` and `false` are Booleans: `on` and `off` are the
most natural names of actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.core.foreign_files import read_text
from bbfalsify.records.json_files import MOST_DIGITS

KeyPath = tuple[str | int, ...]

PLAIN_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


LARGEST_YAML = 16 << 20
MOST_VALUES = 1_000_000
MOST_REPEATED = 100_000
"""Values that aliases may repeat: a few anchors of anchors would fill any memory."""
DEEPEST = 100
_INTEGER = "tag:yaml.org,2002:int"


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
        """The line of the key (in a list: of the value) at `path`, or of its nearest enclosing value."""
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
    return parse_yaml(read_text(path, largest=LARGEST_YAML), file=str(path))


def parse_yaml(text: str, *, file: str = "<text>") -> Document:
    try:
        _check_size(text, file)
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        tab = mark is not None and text.splitlines()[mark.line : mark.line + 1] and "\t" in text.splitlines()[mark.line]
        hint = "; there is a tab in this line, and YAML wants spaces" if tab else ""
        raise UserError(
            Problem(f"not valid YAML: {error.problem or error}{hint}.", file=file, line=mark.line + 1 if mark else None)
        ) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise UserError(Problem(f"not valid YAML: {_first_line(error)}.", file=file)) from None
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
        if isinstance(node, yaml.ScalarNode) and node.tag == _INTEGER and len(node.value) > MOST_DIGITS:
            raise yaml.YAMLError(f"a number of {len(node.value)} digits; at most {MOST_DIGITS} are read")
        try:
            value = constructor.construct_object(node)
        except (ValueError, LookupError, ArithmeticError, TypeError, AttributeError):  # 2026-13-45, !!int x
            kind = node.tag.rpartition(":")[2]
            raise yaml.YAMLError(f"'{str(node.value)[:40]}' is not a valid {kind} (quote it if it is a text)") from None
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
            lines[at] = line
        return result

    data = build(root, ())
    if problems:
        raise UserError(problems)
    return Document(file, data, lines, text_lines)


def _check_size(text: str, file: str) -> None:
    """Refuse texts that would take too much memory or too deep a stack, before anything is built."""
    values = repeated = 0
    begun: list[tuple[str | None, int]] = []  # of each open list or mapping: its anchor, values before it
    sizes: dict[str, int] = {}
    for event in yaml.parse(text, Loader=_Loader):
        found = ""
        if isinstance(event, yaml.AliasEvent):
            size = sizes.get(str(event.anchor), 0)
            repeated, values = repeated + size, values + size + 1
        elif isinstance(event, yaml.ScalarEvent):
            values += 1
        elif isinstance(event, yaml.CollectionStartEvent):
            begun.append((event.anchor, values))
            values += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = begun.pop()
            if anchor is not None:
                sizes[anchor] = values - before
        if len(begun) > DEEPEST:
            found = f"lists and mappings are nested more than {DEEPEST} levels deep"
        elif repeated > MOST_REPEATED:
            found = f"aliases repeat more than {MOST_REPEATED} values"
        elif values > MOST_VALUES:
            found = f"more than {MOST_VALUES} values"
        if found:
            line = event.start_mark.line + 1 if event.start_mark is not None else None
            raise UserError(Problem(f"{found}; such a file is not read.", file=file, line=line))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
