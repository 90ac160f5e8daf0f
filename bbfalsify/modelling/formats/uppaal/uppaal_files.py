"""An UPPAAL file as a ModelText, and the whole way to a network."""

from __future__ import annotations

from pathlib import Path

from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.modelling.formats.uppaal.query_files import queries_beside
from bbfalsify.modelling.language.model_text import ModelText, StoredQuery
from bbfalsify.modelling.network.network import Network

SUFFIXES = (".xml", ".xta", ".ta")


def is_uppaal(path: str | Path) -> bool:
    """By the file's name."""
    return Path(path).suffix.lower() in SUFFIXES


def read_uppaal(path: str | Path) -> tuple[Network, list[StoredQuery]]:
    """The network, and the queries stored in the file; raises UserError with every problem of the model."""
    from bbfalsify.modelling.formats.model_files import load_model

    if not is_uppaal(path):
        raise UserError(Problem(f"an UPPAAL model ends in {', '.join(SUFFIXES)}.", file=str(path)))
    return load_model(path)


def uppaal_text(path: str | Path, problems: list[Problem]) -> ModelText:
    """The model's texts as far as they can be read; what is wrong is noted in `problems`."""
    path = Path(path)
    if not path.is_file():
        raise UserError(Problem("there is no such file.", file=str(path)))
    model = ModelText(path.stem, Place(str(path), 1), as_uppaal=True)
    if path.suffix.lower() == ".xml":
        from bbfalsify.modelling.formats.uppaal.xml_reader import read_xml

        read_xml(path, model, problems)
    else:
        from bbfalsify.modelling.formats.uppaal.xta_reader import read_xta

        read_xta(path, model, problems)
    model.queries += queries_beside(path)
    return model
