"""Load models from files; the file's name selects the reader.

network, queries = load_model("train_gate.xml")      YAML, or UPPAAL's .xml, .xta and .ta
model = model_text(path, problems)                    only the texts, for `convert` and for profiles
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.foreign_files import is_file
from bbfalsify.modelling.language.constant_values import set_constants
from bbfalsify.modelling.language.model_text import ModelText, StoredQuery
from bbfalsify.modelling.language.resolve import assemble
from bbfalsify.modelling.network.network import Network
from bbfalsify.records.documents import read_yaml

Constants = Mapping[str, object]
"""Values for global constants of a model, instead of those in its file."""


def load_model(path: str | Path, constants: Constants | None = None) -> tuple[Network, list[StoredQuery]]:
    """Load the network of a model or profile, and the queries in its file."""
    network, model = load_with_text(path, constants)
    return network, model.queries


def load_network(path: str | Path, constants: Constants | None = None) -> Network:
    """Load the network of a model or profile."""
    return load_with_text(path, constants)[0]


def load_with_text(path: str | Path, constants: Constants | None = None) -> tuple[Network, ModelText]:
    problems: list[Problem] = []
    model = model_text(path, problems)
    if constants:
        problems += set_constants(model, constants)
    network, assembly = assemble(model)
    raise_sorted([*problems, *assembly.problems])
    return network, model


def model_text(path: str | Path, problems: list[Problem]) -> ModelText:
    """Read the model's texts, and add what is wrong to `problems`."""
    from bbfalsify.modelling.formats.uppaal import is_uppaal, uppaal_text
    from bbfalsify.modelling.formats.yaml_reader import read_model

    return uppaal_text(path, problems) if is_uppaal(path) else read_model(read_yaml(path), problems)


def files_of(path: Path) -> list[Path]:
    """The file itself, and the one that it names as its `model`."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        return [path]
    named = _named_model(path, hashlib.sha256(path.read_bytes()).digest())
    other = path.parent / named if isinstance(named, str) else None
    return [path] if other is None or not is_file(other) else [path, other]


@functools.lru_cache(maxsize=64)  # every run of a campaign asks
def _named_model(path: Path, digest: bytes) -> object:
    """The model that a profile with this content names."""
    data = read_yaml(path).data
    return data.get("model") if isinstance(data, dict) else None


def model_hash(path: str | Path | None) -> str | None:
    """SHA-256 of a model's or profile's files, None if there is no file."""
    if path is None or not is_file(path):
        return None
    return hashlib.sha256(b"".join(file.read_bytes() for file in files_of(Path(path)))).hexdigest()


def raise_sorted(problems: Iterable[Problem]) -> None:
    """Raise UserError if there are problems: each once, in the order of their lines."""
    unique = list(dict.fromkeys(problems))
    if unique:
        raise UserError(sorted(unique, key=lambda problem: problem.line or 0))
