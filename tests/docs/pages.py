"""The pages as data: texts, headings, links and code blocks."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
# What .gitignore leaves out, and Git's own folder.
_MADE = frozenset({".git", *(line.strip("/") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines() if line.endswith("/"))})


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block with its language and the heading it stands under."""

    page: str
    heading: str
    language: str
    text: str


def page(name: str) -> str:
    """A page by its path from the repository's root."""
    return (ROOT / name).read_text("utf-8")


def files() -> Iterator[Path]:
    """Everything that belongs to the repository, committed or not."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in _MADE]
        yield from (Path(folder) / name for name in names if not name.endswith((".pyc", ".pyo")))


@cache
def pages() -> tuple[str, ...]:
    return tuple(sorted(str(path.relative_to(ROOT)) for path in files() if path.suffix == ".md"))


def blocks(name: str) -> list[Block]:
    text = page(name)
    return [Block(page=name, heading=_heading_before(text, found.start()), language=found[1], text=found[2]) for found in _FENCE.finditer(text)]


def block(name: str, heading: str, language: str, place: int = 0) -> str:
    """The text of one block of a page, counted under its heading."""
    return [one.text for one in blocks(name) if (one.heading, one.language) == (heading, language)][place]


def links(name: str) -> list[str]:
    return [found[1] for found in _LINK.finditer(prose(name))]


def prose(name: str) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", page(name))


def anchors(name: str) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(prose(name))}


def rows(name: str, first: str) -> list[list[str]]:
    """The table rows of a page whose first cell names `first` in backticks, cell by cell."""
    split = [re.split(r"(?<!\\)\|", line)[1:-1] for line in page(name).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in cells] for cells in split if cells and re.search(rf"`{re.escape(first)}`", cells[0])]


def section(name: str, heading: str) -> str:
    """What stands under a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}$\n(.*?)(?=^#|\Z)", page(name), re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def _heading_before(text: str, place: int) -> str:
    return next(reversed(_HEADING.findall(_FENCE.sub("", text[:place]))), "")
