"""READMEs and pages of the manual, taken apart into code blocks."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
READMES = sorted([*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("*/*/README.md")])
MANUAL = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*READMES, *MANUAL]


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

    def marked(self, kind: str) -> str | None:
        """What the marker says after `kind:`; None where it is of another kind."""
        found, _, said = self.marker.partition(":")
        return said.strip() if found == kind else None


def blocks_of(page: Path) -> list[Block]:
    """Fenced code blocks with their places."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in re.finditer(
        r"(?:<!-- (?P<marker>[^\n]*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", text, re.M | re.S
    ):
        line = text.count("\n", 0, match.start("text")) + 1
        found.append(Block(page, line, match["language"], match["marker"] or "", match["text"]))
    return found


BLOCKS = [block for page in READMES for block in blocks_of(page)]


def command(name: str) -> str:
    """The README's command of that name: the first line of its block."""
    (block,) = [b for b in blocks_of(ROOT / "README.md") if b.marker == f"command: {name}"]
    return block.text.splitlines()[0]


def shape(text: str) -> str:
    """A line without its numbers, which a new random stream may change, and without spaces that only align."""
    text = re.sub(r"-?\d[\d.,e-]*%?", "#", text)
    return " ".join(re.sub(r"[▁▂▃▄▅▆▇█]+", "▁", text).split())
