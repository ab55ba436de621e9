"""Settings: what the template puts into a function's environment, read on first use."""

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from workflow_engine.options import WorkFlowEngineOptions

PREFIX = "WFE_"


def _list_of(text: object) -> object:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if isinstance(text, str) else text


CommaList = Annotated[tuple[str, ...], BeforeValidator(_list_of)]
Seconds = Annotated[int, Field(ge=1, le=31_536_000)]


class Settings(BaseModel):
    """One field a variable: WFE_DB_HOST is db_host. An empty variable counts as absent, as an empty template parameter does."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    database_url: str | None = None
    db_host: str | None = None
    db_port: Annotated[int, Field(ge=1, le=65_535)] = 3306
    db_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,64}$")] = "workflow_engine"
    db_user: str | None = None
    db_auth: Literal["iam", "secret"] = "iam"
    db_secret_arn: str | None = None
    db_master_secret_arn: str | None = None
    db_runtime_user: str | None = None

    work_topic_arn: str | None = None
    notice_topic_arn: str | None = None
    signing_secret_arn: str | None = None
    monitor_state: Literal["ENABLED", "DISABLED"] = "ENABLED"
    endpoint_accounts: CommaList = ()
    endpoint_hosts: CommaList = ()

    ack_pending_resend_seconds: Seconds = 40
    ack_delivered_resend_seconds: Seconds = 240
    max_retry_count: Annotated[int, Field(ge=1, le=1000)] = 12
    consumer_ttl_seconds: Seconds = 30
    consumer_down_recheck_seconds: Seconds = 60
    monitor_page_size: Annotated[int, Field(ge=1, le=1000)] = 200
    default_state_stale_seconds: Seconds = 86_400
    monitor_interval_seconds: Annotated[int, Field(ge=1, le=50)] = 10
    notice_ttl_days: Annotated[int, Field(ge=1, le=3650)] = 14
    backoff_factor: Annotated[float, Field(ge=1, le=100, allow_inf_nan=False)] = 2.0
    backoff_cap_seconds: Seconds = 900
    backoff_jitter_percent: Annotated[int, Field(ge=0, le=100)] = 10
    overdue_recheck_seconds: Seconds = 60

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        given = os.environ if environment is None else environment
        values = {name: given.get(PREFIX + name.upper(), "").strip() for name in cls.model_fields}
        return cls.model_validate({name: value for name, value in values.items() if value})

    def options(self) -> WorkFlowEngineOptions:
        return WorkFlowEngineOptions(**{field.name: getattr(self, field.name) for field in fields(WorkFlowEngineOptions)})
