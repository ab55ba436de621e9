"""The list of instances: request, answer, and the rows it is made from."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from workflow_engine.models.base import WorkFlowModel
from workflow_engine.models.enums import InstanceStatus
from workflow_engine.models.instance import InstanceView
from workflow_engine.models.trigger import DefName, ExternalRef, QueryEnvCode

_CENTURY = 3_155_760_000


def _any_case(status: object) -> object:
    return status.strip().capitalize() if isinstance(status, str) else status


StatusName = Annotated[Literal["Active", "Suspended", "Completed", "Failed", "Archived"], BeforeValidator(_any_case)]


class ListInstancesRequest(WorkFlowModel):
    """Which instances, newest first; every filter that is given must hold."""

    env_code: QueryEnvCode | None = None
    def_name: DefName | None = None
    state: Annotated[str, Field(min_length=1, max_length=120, description="state name, compared trimmed and without case")] | None = None
    status: Annotated[StatusName | None, Field(description="without case")] = None
    external_ref: ExternalRef | None = None
    external_ref_prefix: Annotated[str, Field(min_length=1, max_length=200, description="how the external_ref begins, compared exactly")] | None = None
    older_than_seconds: Annotated[int, Field(ge=0, le=_CENTURY, description="created at least so long ago")] | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: str | None = None

    @property
    def instance_status(self) -> InstanceStatus | None:
        return InstanceStatus[self.status.upper()] if self.status else None


class InstancePage(WorkFlowModel):
    """A page may be shorter than `limit` while `cursor` says that the list goes on: filters that no index serves read a bounded number of rows a page."""

    items: list[InstanceView]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceViewRow:
    instance_id: int
    instance_guid: str
    env_code: int
    external_ref: str
    definition: str
    def_version: int
    policy_hash: str | None
    current_state: str
    flags: int
    message: str | None
    seq: int
    event_code: int | None
    event_name: str | None
    created: datetime
    modified: datetime
    state_entered_at: datetime
    state_due_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceKeyRow:
    """Where an instance stands in the list, and what filters look at."""

    instance_id: int
    created: datetime
    definition_id: int
    state_id: int
    flags: int
    external_ref: str

    @property
    def place(self) -> tuple[datetime, int]:
        return (self.created, self.instance_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRow:
    """A definition that the filters mean; with a state filter, one of the states too."""

    definition_id: int
    state_id: int | None
