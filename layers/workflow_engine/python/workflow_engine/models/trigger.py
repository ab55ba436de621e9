"""Trigger: request and answer."""

from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue, model_validator

from workflow_engine.models.base import GivenTime, WorkFlowModel
from workflow_engine.models.instance import EventView

EnvCode = Annotated[int, Field(strict=True, ge=0, le=2_147_483_647, description="environment code")]
# In a query string everything is text.
QueryEnvCode = Annotated[int, Field(ge=0, le=2_147_483_647, description="environment code")]
DefName = Annotated[str, Field(min_length=1, max_length=120, description="definition name, compared trimmed and without case")]
ExternalRef = Annotated[str, Field(min_length=1, max_length=200, description="the application's own key of the instance, compared exactly")]
RESERVED_PREFIX = "timeout:"


def _not_reserved(request_id: str) -> str:
    if request_id.startswith(RESERVED_PREFIX):
        raise ValueError("must not begin with 'timeout:', which is the engine's own")
    return request_id


RequestId = Annotated[
    str,
    Field(min_length=1, max_length=128, description="makes retries safe: the same request_id always gets the first answer"),
    AfterValidator(_not_reserved),
]
EventRef = Annotated[int, Field(strict=True, ge=0, le=2_147_483_647)] | Annotated[str, Field(min_length=1, max_length=120)]
# Another alphabet is never compared with a stored guid: both servers refuse to.
Guid = Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{36}$", description="a guid that the engine gave out")]


class LifeCycleTriggerRequest(WorkFlowModel):
    """Raise an event; name the instance by (env_code, def_name, external_ref) or by instance_guid."""

    env_code: EnvCode | None = None
    def_name: DefName | None = None
    external_ref: ExternalRef | None = None
    instance_guid: Guid | None = None
    event: Annotated[EventRef, Field(description="event code, or name; a text of digits is a code")]
    request_id: RequestId | None = None
    actor: Annotated[str, Field(max_length=120)] | None = None
    payload: JsonValue = None
    ack_required: Annotated[bool, Field(strict=True)] = True
    occurred_at: Annotated[GivenTime | None, Field(description="when it happened, with a time zone; default: now")] = None

    @model_validator(mode="after")
    def check_target(self) -> "LifeCycleTriggerRequest":
        """Exactly one way to name the instance."""
        by_ref = (self.env_code, self.def_name, self.external_ref)
        if self.instance_guid is None and None in by_ref:
            raise ValueError("give env_code, def_name and external_ref, or instance_guid")
        if self.instance_guid is not None and by_ref != (None, None, None):
            raise ValueError("give instance_guid alone, or env_code, def_name and external_ref")
        return self


class LifeCycleTriggerResult(WorkFlowModel):
    """What became of the event; a refusal is an answer, not an error."""

    applied: bool
    reason: str | None
    replayed: bool
    instance_guid: str
    external_ref: str
    definition: str
    def_version: int
    from_state: str
    to_state: str | None
    current_state: str
    event: EventView | None
    lifecycle_id: int | None
    seq: int
    ack_guid: str | None
    hook_ack_guids: list[str]
