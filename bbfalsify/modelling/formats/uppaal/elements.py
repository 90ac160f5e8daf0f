"""XML elements with their lines, from untrusted files: entities are refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import ParseError

from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.core.foreign_files import read_bytes
from bbfalsify.records.documents import Text


@dataclass(eq=False)
class Element:
    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[Element] = field(default_factory=list)
    words: str = ""
    words_line: int | None = None

    @property
    def place(self) -> Place:
        return Place(self.file, self.line)

    @property
    def text(self) -> Text | None:
        """The element's text without surrounding space; None if it is empty."""
        bare = self.words.lstrip()
        if not bare:
            return None
        skipped = self.words[: len(self.words) - len(bare)]
        return Text(bare.rstrip(), Place(self.file, (self.words_line or self.line) + skipped.count("\n")))

    def child(self, tag: str) -> Element | None:
        return next(self.all(tag), None)

    def all(self, tag: str) -> Iterator[Element]:
        return (child for child in self.children if child.tag == tag)

    def text_of(self, tag: str) -> Text | None:
        child = self.child(tag)
        return None if child is None else child.text


class _Listener:
    """Builds elements with their lines while the parser runs."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Element | None = None
        self.open: list[Element] = []
        self.line = lambda: 1

    def start(self, tag: str, attributes: dict[str, str]) -> Element:
        element = Element(tag, dict(attributes), self.file, self.line())
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        return element

    def data(self, words: str) -> None:
        if self.open:
            element = self.open[-1]
            if element.words_line is None:
                element.words_line = self.line()
            element.words += words

    def end(self, tag: str) -> Element:
        return self.open.pop()

    def close(self) -> None: ...


def read_elements(path: Path) -> Element:
    """Read the root element; raise UserError with file and line if the XML is invalid or has entities."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    file = str(path)
    listener = _Listener(file)
    parser = DefusedXMLParser(target=listener)
    parser.parser.buffer_text = False  # text then arrives piece by piece, while its line is known
    listener.line = lambda: parser.parser.CurrentLineNumber
    try:
        parser.feed(read_bytes(path))
        parser.close()
    except ParseError as error:
        line = error.position[0] if getattr(error, "position", None) else None
        raise UserError(Problem(f"not valid XML: {str(error).split(':')[0]}.", file=file, line=line)) from None
    except DefusedXmlException:
        message = "the file declares entities; they are not read. Write out what they stand for."
        raise UserError(Problem(message, file=file, line=listener.line())) from None
    except (LookupError, ValueError) as error:
        raise UserError(Problem(f"not valid XML: {error}.", file=file, line=1)) from None
    if listener.root is None:
        raise UserError(Problem("not valid XML: there is no element.", file=file, line=1))
    return listener.root
