"""Split a text into tokens with their places, to find the ends of declarations, edges and fields.

Their content is parsed by the grammar of the modelling language, from the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bbfalsify.core.errors import Place
from bbfalsify.records.documents import Text

_PIECES = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<word>[A-Za-z_$#][\w$#]*)
      | (?P<number>\d[\w.]*)
      | (?P<string>"[^"\n]*")
      | (?P<sign>-u->|->|:=|<=|>=|==|!=|&&|\|\||.)""",
    re.VERBOSE | re.DOTALL,
)
OPENING, CLOSING = "([{", ")]}"


class Token(NamedTuple):
    text: str
    kind: str
    """word, number, string, sign, or end"""
    begin: int
    end: int
    line: int


class Scanner:
    """The tokens of one text, and the current position."""

    def __init__(self, text: Text) -> None:
        self.source = text.text
        self.place = text.place
        self.tokens = list(self._tokens())
        self.position = 0

    def _tokens(self) -> Iterator[Token]:
        line = 1
        for match in _PIECES.finditer(self.source):
            if match.lastgroup != "skip":
                yield Token(match.group(), match.lastgroup or "", match.start(), match.end(), line)
            line += match.group().count("\n")
        yield Token("", "end", len(self.source), len(self.source), line)

    @property
    def current(self) -> Token:
        return self.tokens[self.position]

    @property
    def at_end(self) -> bool:
        return self.current.kind == "end"

    def ahead(self, count: int = 1) -> Token:
        return self.tokens[min(self.position + count, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.current
        if not self.at_end:
            self.position += 1
        return token

    def accept(self, *texts: str) -> Token | None:
        return self.take() if self.current.text in texts and not self.at_end else None

    def place_of(self, token: Token) -> Place:
        return Place(self.place.file, self.place.line_of(token.line))

    def text(self, begin: int, end: int) -> Text:
        """The text from token `begin` up to token `end`, exclusive."""
        first, last = self.tokens[begin], self.tokens[max(begin, end - 1)]
        stop = last.end if end > begin else first.begin
        return Text(self.source[first.begin : stop], self.place_of(first))

    def skip_to(self, *stops: str) -> int:
        """Move to the next of the signs outside all brackets, or to the end; return the position."""
        depth = 0
        while not self.at_end:
            sign = self.current.text
            if depth == 0 and sign in stops:
                break
            depth += (sign in OPENING) - (sign in CLOSING)
            if depth < 0:
                break
            self.position += 1
        return self.position

    def until(self, *stops: str) -> Text | None:
        """Take the text up to the next of the signs; None if it is empty."""
        begin = self.position
        end = self.skip_to(*stops)
        return self.text(begin, end) if end > begin else None


def split(text: Text, *signs: str) -> list[Text]:
    """Split at the signs outside all brackets."""
    scanner = Scanner(text)
    parts: list[Text] = []
    while not scanner.at_end:
        part = scanner.until(*signs)
        if part is not None:
            parts.append(part)
        if not scanner.accept(*signs) and not scanner.at_end:
            scanner.take()  # a bracket that nothing opened; the parser will complain
            return [text]
    return parts


def conjunction(text: Text | None) -> Text | None:
    """Join the lists of old models: the guard `x >= 2, y < 3` means both."""
    if text is None or "," not in text.text:
        return text
    parts = split(text, ",")
    if len(parts) < 2:
        return text
    return joined(parts, " && ", brackets=True)


def joined(parts: list[Text], glue: str, *, brackets: bool = False) -> Text:
    """Join texts; each stays on its line."""
    place, result, line = parts[0].place, "", parts[0].place.line or 0
    for number, part in enumerate(parts):
        result += glue if number else ""
        result += "\n" * max((part.place.line or 0) - line, 0)
        result += f"({part.text})" if brackets else part.text
        line = (place.line or 0) + result.count("\n")
    return Text(result, place)
