"""The declaration of a system in the text of an adapter: a decorator, a class, or a call with `inputs=` and `outputs=`.

The text is parsed, and imports are followed to other texts; nothing is executed.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any, NoReturn

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.systems.interface import Capabilities, Port, as_ports
from bbfalsify.systems.parameters import ParameterInfo, as_parameters

_MOST_FILES = 8
"""Files that imports are followed through."""
_SIDES = ("inputs", "outputs")
_MADE: Mapping[str, type[Any]] = {"Port": Port, "Capabilities": Capabilities, "ParameterInfo": ParameterInfo}
"""Objects that a declaration may make."""


@dataclass(frozen=True)
class _Declared:
    name: str
    capabilities: Capabilities | None
    """None where they are computed."""

    def open(self, seed: int) -> NoReturn:
        raise UserError(f"the system '{self.name}' was only read, not loaded.")


@dataclass(frozen=True)
class DeclaredSignals(_Declared):
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    parameters: Mapping[str, ParameterInfo] | None = None
    """None where they are not written out."""


@dataclass(frozen=True)
class DeclaredSymbols(_Declared):
    alphabet: tuple[str, ...]


class NotWritten(Exception):
    """Something is not written out in the text."""


def file_of(module: str, folder: Path | None) -> Path | None:
    """Return the source of a module; looking for a package imports nothing as long as its parent is not asked."""
    first, *inner = module.split(".")
    spec = top_spec(first) if folder is None else PathFinder.find_spec(first, [str(folder)])
    for name in inner:
        if spec is None or spec.submodule_search_locations is None:
            return None
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


def top_spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ValueError:  # a module that was made without a specification
        return None


class PythonText:
    """The text of one file: its names, and the declarations among them."""

    def __init__(self, file: Path, depth: int = 0) -> None:
        self.file, self._depth = file, depth
        try:
            tree = ast.parse(file.read_bytes(), str(file))
        except SyntaxError as error:
            problem = Problem(f"the adapter is not valid Python: {error.msg}.", file=str(file), line=error.lineno)
            raise UserError(problem) from None
        except (ValueError, RecursionError, MemoryError, OSError) as error:
            raise UserError(Problem(f"the adapter cannot be read: {error}.", file=str(file))) from None
        self._names: dict[str, list[ast.AST]] = {}
        self._complete = True
        for node in _top_level(tree.body):
            self._note(node)

    def _note(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._names.setdefault(node.name, []).append(node)
            self._complete &= node.name != "__getattr__"
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    self._names.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                self._complete &= alias.name != "*"
                self._names.setdefault((alias.asname or alias.name).partition(".")[0], []).append(node)

    def declaration(self, attribute: str | None) -> DeclaredSignals | DeclaredSymbols:
        return self._declared(self._chosen() if attribute is None else attribute)

    def _chosen(self) -> str:
        """Return `Adapter`, `system`, or the only name that declares a system, as loading does."""
        for name in ("Adapter", "system"):
            if name in self._names and not self._is_our_decorator(name):
                return name
        found = []
        for name, nodes in self._names.items():
            if isinstance(nodes[-1], ast.FunctionDef) and _decorator(nodes[-1]) is not None:
                found.append(name)
            elif isinstance(nodes[-1], ast.Call) and _called(nodes[-1]).endswith("System"):
                found.append(name)
        if len(found) > 1:
            text = "several systems; name one of them after a colon."
            raise UserError(Problem(text, file=str(self.file), allowed=tuple(found)))
        if not found:
            raise NotWritten("its file does not show which of its objects is the system")
        return found[0]

    def _is_our_decorator(self, name: str) -> bool:
        node = self._names[name][-1]
        return isinstance(node, ast.ImportFrom) and (node.module or "") in ("bbfalsify", "bbfalsify.systems")

    def _declared(self, name: str) -> DeclaredSignals | DeclaredSymbols:
        node = self._one(name)
        if isinstance(node, ast.ImportFrom):
            return self._imported(node)._declared(_original(node, name))
        if isinstance(node, ast.ClassDef):
            written = {t.id: v for t, v in _assignments(node.body)}
            return self._made(written, node.name if "name" not in written else None)
        if isinstance(node, ast.FunctionDef) and (call := _decorator(node)) is not None:
            arguments = node.args
            seeded = any(a.arg in ("seed", "seeds") for a in (*arguments.args, *arguments.kwonlyargs))
            written = {"parameters": ast.Dict([], []), **_keywords(call)}
            return self._made(written, node.name, seedable=seeded)
        if isinstance(node, ast.Call) and _called(node).endswith("System"):
            return self._made(_keywords(node), name)
        raise NotWritten(f"'{name}' is computed")

    def _one(self, name: str) -> ast.AST:
        nodes = self._names.get(name)
        if nodes is None:
            if self._complete and "." not in name:
                known = [known for known in self._names if not known.startswith("_")]
                raise UserError(unknown_name("name", name, known, file=str(self.file)))
            raise NotWritten(f"'{name}' is not written in {self.file.name}")
        if len(nodes) > 1:
            raise NotWritten(f"'{name}' is given several times")
        return nodes[0]

    def _imported(self, node: ast.ImportFrom) -> PythonText:
        module = node.module or ""
        file = None
        if self._depth < _MOST_FILES and module:
            file = file_of(module, self.file.parent) or (file_of(module, None) if not node.level else None)
        if file is None:
            raise NotWritten(f"it comes from the module '{'.' * node.level}{module}'")
        return PythonText(file, self._depth + 1)

    def _made(
        self, written: dict[str, ast.expr], name: str | None, *, seedable: bool = False
    ) -> DeclaredSignals | DeclaredSymbols:
        shown = str(self._value(written["name"])) if "name" in written else name or ""
        capabilities = self._capabilities(written, seedable)
        if "alphabet" in written:
            return DeclaredSymbols(shown, capabilities, tuple(map(str, self._value(written["alphabet"]))))
        missing = [side for side in _SIDES if side not in written]
        if missing:
            raise NotWritten(f"its {' and '.join(missing)} are not written out")
        try:
            inputs, outputs = (as_ports(self._value(written[side])) for side in _SIDES)
        except (TypeError, AttributeError):
            raise NotWritten("its inputs and outputs are computed") from None
        return DeclaredSignals(shown, capabilities, inputs, outputs, self._parameters(written, shown))

    def _parameters(self, written: dict[str, ast.expr], name: str) -> Mapping[str, ParameterInfo] | None:
        try:
            return as_parameters(self._value(written["parameters"]), name)
        except (NotWritten, KeyError, TypeError, AttributeError):
            return None

    def _capabilities(self, written: dict[str, ast.expr], seedable: bool) -> Capabilities | None:
        try:
            stated = self._value(written["capabilities"]) if "capabilities" in written else Capabilities()
            if stated is None:
                return None
            step = self._value(written["step"]) if "step" in written else None
            return replace(
                stated,
                seedable=stated.seedable or seedable,
                batch=stated.batch or ("batch" in written and self._truth_or_function(written["batch"])),
                step_s=stated.step_s if step is None else step,
            )
        except (NotWritten, TypeError):
            return None

    def _truth_or_function(self, node: ast.expr) -> bool:
        """Evaluate `batch=True`, or `batch=heaters` where `heaters` is a function of this file."""
        if isinstance(node, ast.Name) and isinstance(self._names.get(node.id, [None])[-1], ast.FunctionDef):
            return True
        return bool(isinstance(node, ast.Lambda) or self._value(node))

    def _value(self, node: ast.AST) -> Any:
        """Evaluate what is written out: texts, numbers, collections, names of such, and `_MADE`."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return -self._value(node.operand)
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(self._value(item) for item in node.elts)
        if isinstance(node, ast.Dict) and None not in node.keys:
            return {
                self._value(key): self._value(value)
                for key, value in zip(node.keys, node.values, strict=True)
                if key is not None
            }
        if isinstance(node, ast.Name) and node.id in self._names:
            meant = self._one(node.id)
            if isinstance(meant, ast.ImportFrom):
                return self._imported(meant)._value(ast.Name(_original(meant, node.id)))
            if isinstance(meant, ast.expr):
                return self._value(meant)
        if isinstance(node, ast.Call) and (kind := _MADE.get(_called(node))):
            named = {keyword: self._value(value) for keyword, value in _keywords(node).items()}
            return kind(*map(self._value, node.args), **named)
        raise NotWritten("its declaration is computed")


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module, also those under `if`, `try` and `with`."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody") if isinstance(node, ast.If | ast.Try | ast.With) else ():
            yield from _top_level(getattr(node, part, []))
        for handler in node.handlers if isinstance(node, ast.Try) else ():
            yield from _top_level(handler.body)


def _assignments(body: list[ast.stmt]) -> Iterator[tuple[ast.Name, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target, node.value


def _original(node: ast.ImportFrom, name: str) -> str:
    return next(alias.name for alias in node.names if (alias.asname or alias.name) == name)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _decorator(node: ast.FunctionDef) -> ast.Call | None:
    return next((d for d in node.decorator_list if isinstance(d, ast.Call) and _called(d) == "system"), None)


def _keywords(node: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
