"""What applications say of their own work: requests, the answer, and rows."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from workflow_engine.models.base import WorkFlowModel


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


RuntimeStatus = Annotated[str, Field(min_length=1, max_length=60, description="the application's own word"), AfterValidator(_not_blank)]
ActivityName = Annotated[str, Field(min_length=1, max_length=120, description="compared trimmed and without case"), AfterValidator(_not_blank)]


class UpsertRuntimeRequest(WorkFlowModel):
    """Say how an activity stands. Its key is instance, step (or none), state, activity and actor; `data` that is not given stays as it is."""

    instance_guid: Annotated[str, Field(min_length=36, max_length=36)]
    activity: ActivityName
    status: RuntimeStatus
    actor: Annotated[str, Field(max_length=120, description="compared exactly")] | None = None
    lifecycle_id: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1, description="the step it belongs to; absent or 0: none")] | None = None
    data: JsonValue = None

    @property
    def has_data(self) -> bool:
        return "data" in self.model_fields_set


class RuntimeStatusRequest(WorkFlowModel):
    status: RuntimeStatus


class RuntimeResult(WorkFlowModel):
    """How the activity stands now; `changed` is false when the call found it so already, or frozen."""

    runtime_id: int
    changed: bool
    frozen: bool
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeRow:
    runtime_id: int
    status: str
    data: str | None
    is_frozen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimePlaceRow:
    """Where an activity belongs: the state its step led to, or the current one; `lifecycle_id` is None when there is no such step."""

    instance_id: int
    state_id: int
    lifecycle_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeKey:
    """The part of the key that the request gives."""

    instance_guid: str
    lifecycle_id: int
    activity_key: str
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRuntime:
    runtime_id: int
    instance_id: int
    state_id: int
    activity: str
    status: str
    data: str | None
