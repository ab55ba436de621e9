"""How the story looks: chapters, lines in columns, tables and boxes; a hundred columns at most, colours on a terminal only."""

import os
import textwrap
import threading
import time
from collections.abc import Sequence
from typing import TextIO

WIDTH = 100
INDENT = 3
_WHO, _VERB = 9, 12
_TEXT = INDENT + _WHO + _VERB
_RESET = "\x1b[0m"
_DIM, _BOLD, _RED = "2", "1", "1;31"
# On a terminal the story unfolds; in a file nobody waits for it.
_CHAPTER_SECONDS, _LINE_SECONDS = 0.8, 0.05
_COLOURS = {"portal": "34", "registry": "32", "audit": "35", "ops": "33", "clock": "1;36"}


def wants_colour(out: TextIO) -> bool:
    """Say yes for a terminal whose owner has not asked for plain text."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Printer:
    """Every part is laid out first and coloured afterwards, so that the columns stand with and without colours."""

    def __init__(self, out: TextIO, *, colour: bool = False, paced: bool = False) -> None:
        self._out = out
        self._colour = colour
        self._paced = paced
        self._lock = threading.Lock()

    def title(self, text: str, below: Sequence[str]) -> None:
        rule = self._styled("═" * WIDTH, _DIM)
        self._print("", rule, f" {self._styled(text, _BOLD)}", *(part for line in below for part in self._wrapped(line, 1)), rule)

    def chapter(self, number: int, title: str, explanation: str) -> None:
        self._wait(_CHAPTER_SECONDS)
        head = f"{number} ── {title} "
        self._print("", self._styled(head + "─" * (WIDTH - len(head)), _BOLD), *self._wrapped(explanation, INDENT), "")

    def heading(self, title: str, explanation: str) -> None:
        self._print("", self._styled(f"── {title} ".ljust(WIDTH, "─"), _BOLD), *self._wrapped(explanation, INDENT))

    def line(self, who: str, verb: str, text: str, remark: str = "") -> None:
        """Who did what; the remark stands at the right margin, below when there is no room."""
        self._wait(_LINE_SECONDS)
        room = WIDTH - _TEXT
        first, *others = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
        if others or len(first) + 2 + len(remark) > room:
            others += [remark.rjust(room)] if remark else []
            remark = ""
        head = " " * INDENT + self._styled(who.ljust(_WHO), _COLOURS.get(who, _BOLD)) + self._styled(verb.ljust(_VERB), _DIM)
        tail = self._styled(remark.rjust(room - len(first)), _DIM) if remark else ""
        self._print(head + first + tail, *(" " * _TEXT + other for other in others))

    def more(self, text: str, remark: str = "") -> None:
        """Go on with the line above."""
        self.line("", "", text, remark)

    def aside(self, text: str) -> None:
        """A word on what is done next."""
        self._print("", *(self._styled(line, _DIM) for line in self._wrapped(text, INDENT)))

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> None:
        """Columns as wide as their widest cell; those named in `right` hold numbers."""
        widths = [max(len(cell) for cell in column) for column in zip(heads, *rows, strict=True)]
        rule = ["─" * width for width in widths]
        for number, row in enumerate([list(heads), rule, *rows]):
            cells = [cell.rjust(width) if head in right else cell.ljust(width) for cell, width, head in zip(row, widths, heads, strict=True)]
            text = " " * INDENT + "  ".join(cells).rstrip()
            self._print(self._styled(text, _DIM) if number <= 1 else text)

    def box(self, title: str, lines: Sequence[str]) -> None:
        """A frame around lines, which are wrapped to it; spaces at a line's head are kept."""
        inner = WIDTH - INDENT - 4
        wrapped = [part for line in lines for part in (_hanging(line, inner) or [""])]
        margin = " " * INDENT
        self._print(margin + f"┌─ {title} ".ljust(inner + 3, "─") + "┐")
        for text in wrapped:
            self._print(f"{margin}│ {text.ljust(inner)} │")
        self._print(margin + "└" + "─" * (inner + 2) + "┘")

    def command(self, title: str, command: str) -> None:
        """A line to paste, with what it does above it."""
        self._print("", *(self._styled(line, _DIM) for line in self._wrapped(title, INDENT)), *command.splitlines())

    def failure(self, text: str) -> None:
        self._print("", *(self._styled(line, _RED) for line in self._wrapped(text, 0)))

    def plain(self, text: str) -> None:
        self._print(*self._wrapped(text, INDENT))

    def blank(self) -> None:
        self._print("")

    def _wait(self, seconds: float) -> None:
        if self._paced:
            time.sleep(seconds)

    def _wrapped(self, text: str, indent: int) -> list[str]:
        margin = " " * indent
        return textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}{_RESET}" if self._colour and text.strip() else text

    def _print(self, *lines: str) -> None:
        with self._lock:
            self._out.write("".join(f"{line}\n" for line in lines))
            self._out.flush()


def _hanging(line: str, width: int) -> list[str]:
    """Wrap below the second column, where a label and its value stand two spaces apart."""
    label = line.find("  ")
    indent = 0 if label < 0 else label + len(line[label:]) - len(line[label:].lstrip())
    return textwrap.wrap(line, width, subsequent_indent=" " * indent, break_on_hyphens=False, drop_whitespace=True)
