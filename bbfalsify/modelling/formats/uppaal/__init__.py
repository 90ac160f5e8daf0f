"""Read UPPAAL models: `.xml` (4.x and 5), `.xta` and the older `.ta`.

scanner.py       tokens of a text with their lines
sections.py      parts of declarations and of the system: variables, instances, the system line, priorities …
elements.py      XML elements with their lines
xml_reader.py    templates, locations, edges and branch points of an XML file
xta_reader.py    the same from `process … { state … init … trans … }`
uppaal_files.py  the file as a ModelText
"""

from __future__ import annotations

from bbfalsify.modelling.formats.uppaal.uppaal_files import is_uppaal, uppaal_text

__all__ = ["is_uppaal", "uppaal_text"]
