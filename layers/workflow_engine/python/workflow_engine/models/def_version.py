"""Definitions and their versions: rows, and what callers see of them."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from workflow_engine.models.base import UtcTime, WorkFlowModel
from workflow_engine.models.imports import ImportFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionRow:
    """The row that imports and activations lock."""

    definition_id: int
    env_id: int
    def_name: str
    description: str | None
    active_version_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefVersionRow:
    def_version_id: int
    version: int
    content_hash: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DefVersionTextRow:
    def_version_id: int
    version: int
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionListRow:
    definition_id: int
    env_code: int
    def_name: str
    name_key: str
    description: str | None
    version: int
    def_version_id: int
    content_hash: str
    policy_hash: str | None
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DefVersionListRow:
    version: int
    def_version_id: int
    content_hash: str
    active_version_id: int | None
    policy_hash: str | None
    created: datetime


class DefinitionView(WorkFlowModel):
    """A definition with its active version and the policy that new instances get."""

    definition_id: int
    env_code: int
    name: str
    description: str | None
    version: int
    def_version_id: int
    hash: str
    policy_hash: str | None
    created: UtcTime


class DefinitionDetail(DefinitionView):
    """The same with the documents as their authors wrote them."""

    document: JsonValue
    policy_name: str | None
    policy: JsonValue
    policy_warnings: list[ImportFinding]


class DefinitionList(WorkFlowModel):
    items: list[DefinitionView]
    cursor: str | None


class DefinitionVersionView(WorkFlowModel):
    version: int
    def_version_id: int
    hash: str
    active: bool
    policy_hash: str | None
    created: UtcTime


class DefinitionVersionList(WorkFlowModel):
    items: list[DefinitionVersionView]
    cursor: str | None
