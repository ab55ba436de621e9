"""Base of the API's models, and how times are written."""

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, PlainSerializer

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]")
# The first year of a DATETIME column.
_FIRST_YEAR = 1000


def time_text(moment: datetime) -> str:
    """`YYYY-MM-DDTHH:MM:SS.ffffffZ`, always in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def optional_time_text(moment: datetime | None) -> str | None:
    return time_text(moment) if moment else None


def _in_utc(moment: datetime) -> datetime:
    """Stored times have no zone, so a caller's is turned into UTC before anything else sees it."""
    try:
        utc = moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("no such time in UTC") from None
    if utc.year < _FIRST_YEAR:
        raise ValueError("the year must be 1000 or later")
    return utc


def _time_like(given: object) -> object:
    """A number or digits would be taken for seconds since 1970, which nobody means."""
    if isinstance(given, str) and _DATE.match(given):
        return given
    if isinstance(given, datetime):
        return given
    raise ValueError("must be a time such as 2026-01-31T12:00:00Z")


GivenTime = Annotated[AwareDatetime, BeforeValidator(_time_like), AfterValidator(_in_utc)]
UtcTime = Annotated[datetime, PlainSerializer(time_text, return_type=str)]


class WorkFlowModel(BaseModel):
    """Requests and answers: frozen, strict about unknown fields, built by keyword."""

    # Errors are logged; what a caller sent is not.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
