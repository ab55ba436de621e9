"""Consumers: requests, answers and rows of registration, heartbeat and the list."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from workflow_engine.models.base import UtcTime, WorkFlowModel
from workflow_engine.models.endpoint import ConsumerEndpoint
from workflow_engine.models.trigger import DefName, EnvCode, QueryEnvCode

# Half a surrogate pair cannot be stored; SNS refuses an attribute with a control character, and with it the event.
PLAIN_TEXT = r"^[^\u0000-\u001f\u007f-\u009f\ufffe\uffff]+$"
MAX_PRINCIPAL_BYTES = 1024
PageSize = Annotated[int, Field(ge=1, le=200)]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _printable(text: str) -> str:
    # A name that a path cannot carry could never be deleted.
    if not text.isprintable():
        raise ValueError("must have printable characters only")
    return text


def _fits_column(principal: str) -> str:
    if len(principal.encode()) > MAX_PRINCIPAL_BYTES:
        raise ValueError(f"must not be longer than {MAX_PRINCIPAL_BYTES} bytes")
    return principal


_NAME = Field(min_length=1, max_length=120, pattern=PLAIN_TEXT, description="the consumer's stable name, compared exactly")
ConsumerName = Annotated[str, _NAME, AfterValidator(_not_blank), AfterValidator(_printable)]
DefinitionChoice = Annotated[DefName, AfterValidator(_not_blank)]
RouteGlob = Annotated[str, Field(min_length=1, max_length=200, pattern=PLAIN_TEXT)]
Principal = Annotated[str, Field(min_length=1, max_length=600, pattern=PLAIN_TEXT), AfterValidator(_not_blank), AfterValidator(_fits_column)]
BeatSeconds = Annotated[int, Field(strict=True, ge=1, le=86_400, description="how often it beats; absent: the engine's time to live; null: always alive")]
KindName = Literal["transition", "hook"]
OnExhausted = Literal["suspend", "park", "skip"]


class RegisterConsumerRequest(WorkFlowModel):
    """Say who listens to what. Registering again replaces the registration and counts as a beat."""

    env_code: EnvCode
    consumer: ConsumerName
    definitions: Annotated[tuple[DefinitionChoice, ...], Field(min_length=1, max_length=100, description='definition names, or "*" for all')]
    kinds: Annotated[tuple[KindName, ...], Field(min_length=1, max_length=2)]
    routes: Annotated[tuple[RouteGlob, ...], Field(min_length=1, max_length=50, description="globs of hook routes; absent: all")] | None = None
    beat_seconds: BeatSeconds | None = None
    on_exhausted: OnExhausted = "suspend"
    endpoint: ConsumerEndpoint | None = None
    principals: Annotated[tuple[Principal, ...], Field(max_length=20, description="who may act for the consumer beside its owner")] = ()
    return_key: Annotated[bool, Field(strict=True, description="show the signing key again")] = False

    @property
    def is_always_live(self) -> bool:
        """A beat_seconds of null is a choice, an absent one is not."""
        return self.beat_seconds is None and "beat_seconds" in self.model_fields_set


class ConsumerRegistration(WorkFlowModel):
    consumer_id: int
    consumer: str
    env_code: int
    created: bool
    subscription: Annotated[str, Field(description="confirmed, pending or none")]
    signing_key: Annotated[str | None, Field(description="shown when created or asked for")]


class ConsumerDeletion(WorkFlowModel):
    consumer_id: int
    consumer: str
    env_code: int
    deleted: bool


class ConsumerProgress(WorkFlowModel):
    """What a consumer says of its own work."""

    outbox_depth: Annotated[int, Field(strict=True, ge=0, le=2**53)] | None = None
    oldest_seconds: Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)] | None = None
    last_ack_guid: Annotated[str, Field(min_length=1, max_length=36, pattern=PLAIN_TEXT)] | None = None


class HeartbeatRequest(WorkFlowModel):
    env_code: EnvCode
    consumer: ConsumerName
    progress: ConsumerProgress | None = None


class HeartbeatResult(WorkFlowModel):
    """`pending` counts rows with a next_due, to 1,000; `alive_until` is null for a consumer that is always alive."""

    alive_until: UtcTime | None
    pending: int
    oldest_pending_seconds: int | None


class ConsumerQuery(WorkFlowModel):
    """What the path of a consumer needs beside its name."""

    env_code: EnvCode


class ListConsumersRequest(WorkFlowModel):
    env_code: QueryEnvCode | None = None
    limit: PageSize = 50
    cursor: str | None = None


class ConsumerView(WorkFlowModel):
    """A consumer as lists and operators see it; `always_live` tells a beat_seconds of null from an absent one."""

    consumer_id: int
    consumer: str
    env_code: int
    definitions: list[str]
    kinds: list[str]
    routes: list[str] | None
    beat_seconds: int | None
    always_live: bool
    on_exhausted: str
    endpoint: ConsumerEndpoint | None
    owner: str
    principals: list[str]
    alive: bool
    last_beat: UtcTime
    alive_until: UtcTime | None
    pending: int
    oldest_pending_seconds: int | None
    progress: ConsumerProgress | None


class ConsumerPage(WorkFlowModel):
    items: list[ConsumerView]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerKey:
    env_code: int
    consumer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerMove:
    """An operator gives the consumer to `principal`."""

    env_code: int
    consumer: str
    principal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What a registration stores; lists are JSON texts."""

    consumer_id: int
    env_id: int
    consumer: str
    owner: str
    principals: str
    kinds: int
    definitions: str
    definition_keys: tuple[str, ...]
    routes: str | None
    beat_seconds: int | None
    is_always_live: bool
    on_exhausted: int
    endpoint_protocol: str | None
    endpoint_address: str | None
    endpoint_hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRow:
    """`deleted_id` is 0 while the consumer exists."""

    consumer_id: int
    env_id: int
    env_code: int
    consumer: str
    deleted_id: int
    owner: str
    principals: str
    kinds: int
    definitions: str
    routes: str | None
    beat_seconds: int | None
    is_always_live: bool
    on_exhausted: int
    endpoint_protocol: str | None
    endpoint_address: str | None
    endpoint_hash: str | None
    subscription_arn: str | None
    last_beat: datetime
    progress: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRow:
    """Rows with a next_due, counted to a bound, and when the oldest of those was made."""

    pending: int
    oldest_created: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    env_code: int
    consumer: str
    principal: str
    progress: str | None
    now: datetime
