"""Admin: what operators ask for, and the audit row that each action leaves."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from workflow_engine.models.base import WorkFlowModel
from workflow_engine.models.consumer import Principal
from workflow_engine.models.trigger import EnvCode

Reason = Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S", description="why; kept in the audit")]


class AdminRequest(WorkFlowModel):
    reason: Reason


class OwnerRequest(WorkFlowModel):
    env_code: EnvCode
    principal: Annotated[Principal, Field(description="the new owner, for example iam:123456789012:role/orders")]
    reason: Reason


class ActivateRequest(WorkFlowModel):
    env_code: EnvCode
    version: Annotated[int, Field(strict=True, ge=1, le=2_147_483_647)]
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    audit_id: int
    action: str
    actor: str
    reason: str
    env_code: int | None
    target: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditIdRow:
    audit_id: int
