"""Which version an imported definition becomes."""

from collections.abc import Sequence
from dataclasses import dataclass

from workflow_engine.engine.rules.document_limits import MAX_INT
from workflow_engine.errors import ConflictError
from workflow_engine.models.def_version import DefVersionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChoice:
    """`existing` is the version that has this content already; `is_other` says that the document claimed another number."""

    version: int
    existing: DefVersionRow | None
    is_other: bool


def choose_version(content_hash: str, explicit: int | None, versions: Sequence[DefVersionRow]) -> VersionChoice:
    """Same content, same version; new content, the next one or the higher one that the document names; anything else is a conflict."""
    existing = next((row for row in versions if row.content_hash == content_hash), None)
    if explicit is not None and any(row.version == explicit and row is not existing for row in versions):
        raise ConflictError("VERSION_CONFLICT", f"version {explicit} exists with other content")
    if existing is not None:
        return VersionChoice(version=existing.version, existing=existing, is_other=explicit not in (None, existing.version))
    following = max((row.version for row in versions), default=0) + 1
    if explicit is not None and explicit < following:
        raise ConflictError("VERSION_CONFLICT", f"version {explicit} is lower than {following}, the next one")
    if following > MAX_INT:
        raise ConflictError("VERSION_CONFLICT", f"version {MAX_INT} was the last number that a version can have")
    return VersionChoice(version=explicit or following, existing=None, is_other=False)
