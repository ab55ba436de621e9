"""Rows of `schema_version`, and what a migration reports."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaVersionRow:
    version: int
    name: str
    checksum: str
    statements_done: int
    applied_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedVersionRow:
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport:
    """`applied` names the files that ran now; `version` is where the schema stands."""

    version: int
    applied: tuple[str, ...]
