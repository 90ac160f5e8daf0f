"""A service behind HTTP as a black box with symbols: calls are the input symbols, answers the output symbols.

    format_version: 1                      # service.http.yaml, used as  http:service.http.yaml
    base: http://127.0.0.1:8080
    reset: {post: /reset}                  # called at the beginning of every use
    calls:
      create: {post: /items, json: {name: "a"}, headers: {Accept: application/json}}
      read: {get: /items/1, shows: [name]}  # the output is the status, and these members of the JSON answer
    openapi: openapi.json                  # instead of `calls`, or beside them: one call for each operation in it

The output is the status (`200`), followed by what `shows` names (`200 name=a`).  Cookies are kept within a use.  An
operation of an OpenAPI file (3.x, JSON or YAML) is named by its `operationId`; examples and defaults fill its
parameters and its body, and one without them is refused by name.  A service that does not answer is a failure.
"""

from __future__ import annotations

import http.client
import http.cookiejar
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.foreign_files import closest_file, not_a_file
from bbfalsify.records.documents import read_yaml
from bbfalsify.records.yaml_node import Node
from bbfalsify.systems.failures import NoAnswer, SystemDied
from bbfalsify.systems.interface import Capabilities, NothingToClose

METHODS = ("get", "post", "put", "patch", "delete", "head", "options")
_CALL_KEYS = (*METHODS, "json", "text", "headers", "shows")
_KEYS = ("format_version", "name", "base", "reset", "calls", "openapi", "timeout")
LONGEST_ANSWER = 1_000_000
_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class HttpCall:
    """One request."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    shows: tuple[str, ...] = ()
    """Members of the JSON answer that belong to the output; `a.b` is a member of a member."""


class HttpSystem:
    """A service, and the calls that may be made."""

    capabilities = Capabilities(stepwise=True, real_time=True)

    def __init__(
        self,
        base: str,
        calls: Mapping[str, HttpCall],
        *,
        reset: HttpCall | None = None,
        name: str = "http",
        timeout: float = 5.0,
    ) -> None:
        parts = urllib.parse.urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UserError(f"the base of a service is http://HOST[:PORT] or https://…, found '{base}'.")
        self.base, self.calls, self.reset = base.rstrip("/"), dict(calls), reset
        self.name, self.timeout = name, timeout
        self.alphabet = tuple(self.calls)

    def open(self, seed: int) -> HttpSession:
        return HttpSession(self)


class HttpSession(NothingToClose):
    """One use: cookies of its own, after the call that resets the service."""

    def __init__(self, system: HttpSystem) -> None:
        self._system = system
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        # Environment variables must not send the calls elsewhere, and a redirection is an answer like any other.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), cookies, _NoRedirection())
        if system.reset is not None and not (status := self._call(system.reset)).startswith("2"):
            raise SystemDied(f"the call that resets the service was answered with {status}")

    def step(self, symbol: str) -> str:
        return self._call(self._system.calls[symbol])

    def _call(self, call: HttpCall) -> str:
        address = self._system.base + call.path
        request = urllib.request.Request(address, call.body, dict(call.headers), method=call.method.upper())  # noqa: S310
        try:
            with self._opener.open(request, timeout=self._system.timeout) as answer:
                status, content = answer.status, answer.read(LONGEST_ANSWER)
        except urllib.error.HTTPError as error:
            with error:
                status, content = error.code, error.read(LONGEST_ANSWER)
        except TimeoutError:
            raise NoAnswer(f"no answer to {call.method} {call.path} within {self._system.timeout:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise SystemDied(f"{call.method} {call.path} failed: {getattr(error, 'reason', error)}") from None
        return " ".join([str(status), *_shown(content, call.shows)])

    def __exit__(self, *exception: Any) -> None:
        self._opener.close()


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        return None


def _shown(content: bytes, names: tuple[str, ...]) -> Iterator[str]:
    if not names:
        return
    try:
        data = json.loads(content)
    except ValueError:
        yield "not JSON"
        return
    for name in names:
        value = data
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        yield f"{name}={value if isinstance(value, str) else json.dumps(value, sort_keys=True)}"


def load_http(file: str | Path) -> HttpSystem:
    """Read the description of a service; all problems are told at once."""
    file, problems = Path(file), list[Problem]()
    document = read_yaml(file)
    root = Node(document, (), document.data, problems)
    calls: dict[str, HttpCall] = {}
    reset, base, timeout = None, "", _TIMEOUT_S
    if root.mapping(_KEYS, required=("base",)):
        base = root.child("base").string() or ""
        if (node := root.get("timeout")) is not None:
            timeout = node.number() or _TIMEOUT_S
        if (node := root.get("openapi")) is not None and (named := node.string()):
            calls |= _operations(node, file.parent / named)
        if (node := root.get("calls")) is not None and node.mapping():
            calls |= {symbol: made for symbol, child in node.items() if (made := _call(child)) is not None}
        if (node := root.get("reset")) is not None:
            reset = _call(node)
        if not calls and not problems:
            root.problem("there are no calls.", allowed=("calls: {NAME: {get: /path}}", "openapi: FILE"))
    if problems:
        raise UserError(problems)
    return HttpSystem(base, calls, reset=reset, name=file.name.split(".")[0], timeout=timeout)


def _call(node: Node) -> HttpCall | None:
    if not node.mapping(_CALL_KEYS):
        return None
    methods = [method for method in METHODS if method in node]
    if len(methods) != 1:
        node.problem("a call has exactly one method.", allowed=METHODS)
        return None
    path = node.child(methods[0]).string()
    headers = {name: str(child.value) for name, child in node.child("headers").items()} if "headers" in node else {}
    body = None
    if "json" in node:
        body = json.dumps(node.child("json").value).encode()
        headers.setdefault("Content-Type", "application/json")
    elif "text" in node:
        body = (node.child("text").string() or "").encode()
    shows = node.child("shows").value if "shows" in node else []
    if not isinstance(shows, list) or not all(isinstance(name, str) for name in shows):
        node.child("shows").problem("'shows' is a list of names of members.")
        return None
    if path is not None and not path.startswith("/"):
        node.child(methods[0]).problem(f"a path begins with '/', found '{path}'.")
    return None if path is None else HttpCall(methods[0], path, body, headers, tuple(shows))


def _operations(node: Node, file: Path) -> dict[str, HttpCall]:
    """Return one call for each operation of an OpenAPI file; its examples fill it."""
    if not file.is_file():
        node.problem(not_a_file(file), closest=closest_file(file))
        return {}
    data = read_yaml(file).data  # JSON is YAML
    paths = data.get("paths") if isinstance(data, dict) else None
    if not isinstance(paths, dict):
        node.problem(f"'{file}' has no 'paths', so it is no OpenAPI file.")
        return {}
    calls: dict[str, HttpCall] = {}
    for path, item in paths.items():
        for method, operation in (item or {}).items():
            if method in METHODS and isinstance(operation, dict):
                name = str(operation.get("operationId") or f"{method} {path}")
                made = _operation(node, name, str(path), method, operation, [*item.get("parameters", [])])
                if made is not None:
                    calls[name] = made
    return calls


def _operation(
    node: Node, name: str, path: str, method: str, operation: Mapping[str, Any], parameters: list[Any]
) -> HttpCall | None:
    queries, headers, body = [], {}, None
    for parameter in (*parameters, *operation.get("parameters", [])):
        value = _example(parameter) if isinstance(parameter, dict) else None
        if value is None:
            if parameter.get("required") or parameter.get("in") == "path":
                node.problem(f"operation '{name}': parameter '{parameter.get('name')}' has no example and no default.")
                return None
            continue
        place, key = parameter.get("in"), str(parameter.get("name"))
        text = urllib.parse.quote(str(value), safe="")
        if place == "path":
            path = path.replace(f"{{{key}}}", text)
        elif place == "query":
            queries.append(f"{urllib.parse.quote(key)}={text}")
        elif place == "header":
            headers[key] = str(value)
    content = (operation.get("requestBody") or {}).get("content", {}).get("application/json")
    if content is not None:
        value = _example(content)
        if value is None and operation["requestBody"].get("required"):
            node.problem(f"operation '{name}': the body has no example and no default.")
            return None
        body, headers["Content-Type"] = json.dumps(value).encode(), "application/json"
    return HttpCall(method, path + ("?" + "&".join(queries) if queries else ""), body, headers)


def _example(thing: Mapping[str, Any]) -> Any:
    """Return the example or the default of a parameter or a body; None where there is none."""
    schema = thing.get("schema") or {}
    several = [v.get("value") for v in (thing.get("examples") or {}).values() if isinstance(v, dict)]
    given = (thing.get("example"), *several, schema.get("example"), schema.get("default"), *(schema.get("enum") or ()))
    return next((value for value in given if value is not None), None)
