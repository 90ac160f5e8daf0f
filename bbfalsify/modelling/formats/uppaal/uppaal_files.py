"""Read an UPPAAL file as a ModelText."""

from __future__ import annotations

from pathlib import Path

from bbfalsify.core.errors import Place, Problem
from bbfalsify.modelling.formats.uppaal.query_files import queries_beside
from bbfalsify.modelling.language.model_text import ModelText

SUFFIXES = (".xml", ".xta", ".ta")


def is_uppaal(path: str | Path) -> bool:
    """Tell by the file's name whether it is an UPPAAL model."""
    return Path(path).suffix.lower() in SUFFIXES


def uppaal_text(path: str | Path, problems: list[Problem]) -> ModelText:
    """Read the model's texts, and add what is wrong to `problems`."""
    path = Path(path)
    model = ModelText(path.stem, Place(str(path), 1), as_uppaal=True)
    if path.suffix.lower() == ".xml":
        from bbfalsify.modelling.formats.uppaal.xml_reader import read_xml

        read_xml(path, model, problems)
    else:
        from bbfalsify.modelling.formats.uppaal.xta_reader import read_xta

        read_xta(path, model, problems)
    model.queries += queries_beside(path)
    return model
