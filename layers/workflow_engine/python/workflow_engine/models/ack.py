"""Acks: the row a consumer's word changes, and the API's request and answers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, cast

from pydantic import BeforeValidator, Field, SkipValidation, ValidationError, model_validator

from workflow_engine.models.base import GivenTime, UtcTime, WorkFlowModel
from workflow_engine.models.enums import AckOutcome
from workflow_engine.models.trigger import EnvCode, Guid

MAX_BATCH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class AckConsumerRow:
    ack_id: int
    ack_guid: str
    consumer_id: int
    instance_id: int
    seq: int
    kind: int
    status: int
    next_due: datetime | None
    trigger_count: int
    sends: int
    retry_count: int
    first_sent_at: datetime | None
    delivered_at: datetime | None
    processed_at: datetime | None
    gave_up: int | None
    created: datetime
    modified: datetime

    @property
    def key(self) -> tuple[int, int]:
        return (self.ack_id, self.consumer_id)

    @property
    def lane(self) -> tuple[int, int]:
        return (self.consumer_id, self.instance_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class AckBodyRow:
    """A stored event with what its message attributes need."""

    ack_id: int
    ack_guid: str
    instance_id: int
    body: str
    route: str | None
    env_code: int | None
    definition: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AckInstanceRow:
    ack_guid: str
    instance_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRow:
    """A due ack row as the plain read of a page sees it."""

    ack_id: int
    consumer_id: int
    instance_id: int
    seq: int
    next_due: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OldestDueRow:
    consumer_id: int
    next_due: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLaneRow:
    consumer_id: int
    is_held: bool


def _any_case(outcome: object) -> object:
    return outcome.strip().capitalize() if isinstance(outcome, str) else outcome


Outcome = Annotated[AckOutcome, BeforeValidator(_any_case), Field(description="Delivered, Processed, Failed or Retry, without case")]
ConsumerName = Annotated[str, Field(min_length=1, max_length=120)]


class AckItem(WorkFlowModel):
    ack_guid: Guid
    outcome: Outcome
    message: Annotated[str, Field(max_length=500)] | None = None
    retry_at: Annotated[GivenTime | None, Field(description="with Retry: when to send again, at most seven days ahead")] = None

    @model_validator(mode="after")
    def check_retry(self) -> "AckItem":
        """retry_at belongs to Retry."""
        if self.retry_at is not None and self.outcome is not AckOutcome.RETRY:
            raise ValueError("retry_at is only for the outcome Retry")
        return self


class AckError(WorkFlowModel):
    status: int
    code: str
    detail: str


class AckAnswer(WorkFlowModel):
    ack_guid: str
    result: Literal["applied", "unchanged", "stale", "error"]
    status: str | None
    next_due: UtcTime | None
    error: AckError | None = None


class AckRequest(WorkFlowModel):
    """One ack (ack_guid, outcome …) or a batch (acks); the consumer by name with env_code, or by consumer_id."""

    env_code: EnvCode | None = None
    consumer: ConsumerName | None = None
    consumer_id: Annotated[int, Field(strict=True, ge=1)] | None = None
    ack_guid: Guid | None = None
    outcome: Outcome | None = None
    message: Annotated[str, Field(max_length=500)] | None = None
    retry_at: GivenTime | None = None
    # Checked one by one: a bad item fails alone.
    acks: Annotated[list[SkipValidation[AckItem]], Field(min_length=1, max_length=MAX_BATCH)] | None = None

    @model_validator(mode="after")
    def check_form(self) -> "AckRequest":
        """One consumer, one form."""
        if (self.consumer_id is None) == (self.consumer is None):
            raise ValueError("give consumer with env_code, or consumer_id")
        if self.consumer is not None and self.env_code is None:
            raise ValueError("consumer needs env_code")
        single = (self.ack_guid, self.outcome, self.message, self.retry_at)
        if self.acks is None and (self.ack_guid is None or self.outcome is None):
            raise ValueError("give ack_guid and outcome, or acks")
        if self.acks is not None and single != (None, None, None, None):
            raise ValueError("give either one ack or acks, not both")
        if self.retry_at is not None and self.outcome is not AckOutcome.RETRY:
            raise ValueError("retry_at is only for the outcome Retry")
        return self

    def items(self) -> "list[AckItem | AckAnswer]":
        """Return the items in their order, a malformed one as its answer."""
        if self.acks is not None:
            return [_item(raw) for raw in self.acks]
        return [AckItem.model_validate({"ack_guid": self.ack_guid, "outcome": self.outcome, "message": self.message, "retry_at": self.retry_at})]


class AckBatchAnswer(WorkFlowModel):
    items: list[AckAnswer]


def error_answer(ack_guid: str, status: int, code: str, detail: str) -> AckAnswer:
    return AckAnswer(ack_guid=ack_guid, result="error", status=None, next_due=None, error=AckError(status=status, code=code, detail=detail))


def _item(raw: object) -> AckItem | AckAnswer:
    try:
        return AckItem.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join(str(part) for part in first["loc"])
        guid = cast("dict[str, object]", raw).get("ack_guid") if isinstance(raw, dict) else None
        return error_answer(guid if isinstance(guid, str) else "", 400, "INVALID_REQUEST", f"{where}: {first['msg']}" if where else first["msg"])
