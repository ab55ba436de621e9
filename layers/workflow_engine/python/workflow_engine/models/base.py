"""Base of the API's models, and how times are written."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer


def time_text(moment: datetime) -> str:
    """`YYYY-MM-DDTHH:MM:SS.ffffffZ`, always in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def optional_time_text(moment: datetime | None) -> str | None:
    return time_text(moment) if moment else None


UtcTime = Annotated[datetime, PlainSerializer(time_text, return_type=str)]


class WorkFlowModel(BaseModel):
    """Requests and answers: frozen, strict about unknown fields, built by keyword."""

    model_config = ConfigDict(frozen=True, extra="forbid")
