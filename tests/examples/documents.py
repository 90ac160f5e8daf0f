"""The READMEs, taken apart."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("*/README.md"), *ROOT.glob("*/*/README.md")])


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    marker: str
    """The text of the comment on the line before, as in <!-- command: run -->."""
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """Fenced code blocks with their places."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in re.finditer(
        r"(?:<!-- (?P<marker>.*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", text, re.M | re.S
    ):
        line = text.count("\n", 0, match.start("text")) + 1
        found.append(Block(page, line, match["language"], match["marker"] or "", match["text"]))
    return found


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def command(name: str) -> str:
    """The README's command of that name: the first line of its block."""
    (block,) = [b for b in blocks_of(ROOT / "README.md") if b.marker == f"command: {name}"]
    return block.text.splitlines()[0]
