"""The numbered files of `sql/`, cut into statements."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow_engine.errors import WorkFlowError

_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")


class MigrationError(WorkFlowError):
    """A migration cannot run; the message names the file and the statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationFile:
    version: int
    name: str
    statements: tuple[str, ...]

    def checksum(self, count: int) -> str:
        """Of the first statements: comments and spaces at line ends may change, statements that ran may not."""
        return hashlib.sha256("\0".join(self.statements[:count]).encode()).hexdigest()


def read_migrations(folder: Path) -> list[MigrationFile]:
    """Return the files in order; a gap, a doubled number or a name of another form is refused before anything runs."""
    found = [_read(path) for path in sorted(folder.glob("*.sql"))]
    if [file.version for file in found] != list(range(len(found))) or not found:
        raise MigrationError(f"migrations must be numbered 0000, 0001, … without a gap: {[file.name for file in found]}")
    return found


def _read(path: Path) -> MigrationFile:
    name = _NAME.fullmatch(path.name)
    if name is None:
        raise MigrationError(f"not a migration's name: {path.name}")
    return MigrationFile(version=int(name[1]), name=path.name, statements=tuple(split_statements(path.read_text("utf-8"), path.name)))


def split_statements(text: str, name: str) -> Sequence[str]:
    """A statement ends with a semicolon at the end of a line; lines that begin with -- are comments."""
    statements: list[str] = []
    lines: list[str] = []
    for line in (line.rstrip() for line in text.splitlines()):
        if not line or line.lstrip().startswith("--"):
            continue
        lines.append(line.removesuffix(";"))
        if line.endswith(";"):
            statements.append("\n".join(lines))
            lines = []
    if lines:
        raise MigrationError(f"{name}: the last statement has no semicolon: {lines[0]}")
    return statements
