"""Exact commands that reproduce a result, and the settings that decide it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from bbfalsify.records.json_files import format_json

_NOT_OPTIONS = {"kind", "batch", "fan"}
"""Engine keys without an option on the command line; none of them changes what is found."""
_ON_BY_DEFAULT = {"sensitivity"}


def how_to_reproduce(
    manifest: Mapping[str, Any], replay: str | None = None, what: str = "the first counterexample alone"
) -> dict[str, Any]:
    """Commands and facts from the manifest of a run or a campaign."""
    configuration = manifest.get("configuration") or {}
    origin = manifest.get("campaign") or configuration.get("campaign") or {}
    seed = manifest.get("seed", origin.get("drawn_seed"))
    commands = []
    if origin.get("file"):
        given = "" if origin.get("drawn_seed") is None else f" --seed {origin['drawn_seed']}"
        commands.append(("the whole campaign", f"bbfalsify run {shlex.quote(origin['file'])}{given}"))
    elif configuration.get("engine"):
        where = "the run" if not configuration.get("base") else f"the run, in {configuration['base']}"
        commands.append((where, command_line(configuration, seed)))
    if replay is not None:
        commands.append((what, replay))
    facts = [("seed", str(seed))] if seed is not None else []
    facts += [(name, str(version)) for name, version in (manifest.get("versions") or {}).items()]
    facts += [("platform", manifest["platform"])] if manifest.get("platform") else []
    hashes = {"campaign": origin.get("sha256"), "adapter": manifest.get("adapter_sha256")}
    hashes |= {name: sha for name, sha in (manifest.get("inputs") or {}).items()}
    hashes["profile"] = ((manifest.get("decided_by") or {}).get("profile") or {}).get("sha256")
    hashes["model"] = ((manifest.get("decided_by") or {}).get("model") or {}).get("model_sha256")
    facts += [(f"SHA-256 of {name}", sha) for name, sha in hashes.items() if sha]
    return {"commands": commands, "facts": facts, "configuration": format_json(configuration or dict(manifest))}


def command_line(configuration: Mapping[str, Any], seed: int | None) -> str:
    """`bbfalsify falsify …`, `check …` or `reach …` with every setting that was in force."""
    engine = configuration["engine"]
    if configuration.get("model"):
        return _about_model(configuration, seed)
    words = ["bbfalsify", engine["kind"], "--system", configuration["system"]]
    if configuration.get("profile"):
        words += ["--profile", configuration["profile"]]
    for requirement in configuration["requirements"]:
        forms = [value for key, value in requirement.items() if key not in ("id", "text", "time", "period", "expected")]
        words += ["--require", str(forms[0])] if forms else []
    for key, value in engine.items():
        words += [] if key in _NOT_OPTIONS else _option(key, value)
    for key in ("time_limit", "on_failure", "votes", "memory_limit", "early_stop", "store"):
        words += _option(key, configuration.get(key))
    words += _option("accept", configuration.get("accepted")) + _option("seed", seed)
    return shlex.join(words)


def _option(key: str, value: Any) -> list[str]:
    name = f"--{key.replace('_', '-')}"
    if value is None or value == [] or (value is False and key not in _ON_BY_DEFAULT):
        return []
    if value is False:
        return [f"--no-{name[2:]}"]
    if value is True:
        return [name]
    return [name, ",".join(map(str, value)) if isinstance(value, list) else f"{value}"]


def _about_model(configuration: Mapping[str, Any], seed: int | None) -> str:
    """The command of `reach`, `estimate` or `verify`.

    Only a campaign asks `reach` several queries at once, and then its file says how to do it again.
    """
    kind = configuration["engine"]["kind"]
    name = configuration["model"].removeprefix("example:")
    words = ["bbfalsify", kind, *([name] if name == configuration["model"] else ["--example", name])]
    for key, value in (configuration.get("constants") or {}).items():
        words += ["--set", f"{key}={value}"]
    for requirement in configuration["requirements"][: None if kind in ("estimate", "verify") else 1]:
        words += ["--query", requirement["query"]]
    options = [word for key, value in configuration["engine"].items() if key != "kind" for word in _option(key, value)]
    return shlex.join([*words, *options, *_option("seed", seed)])
