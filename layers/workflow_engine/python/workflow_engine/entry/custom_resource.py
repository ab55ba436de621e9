"""CloudFormation custom resources: the event, and the answer to its ResponseURL."""

import json
import time
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

# Constant: a new physical id would make CloudFormation delete the "old" schema.
PHYSICAL_ID = "workflow-engine-schema"
_TRIES = 3
_TIMEOUT_SECONDS = 5
# CloudFormation takes 4 KB in all.
_MAX_REASON = 1500


def _answerable(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname == "127.0.0.1"):
        raise ValueError("must be an https URL")
    return url


class CustomResourceEvent(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    request_type: Annotated[Literal["Create", "Update", "Delete"], Field(alias="RequestType")]
    response_url: Annotated[str, Field(alias="ResponseURL"), AfterValidator(_answerable)]
    stack_id: Annotated[str, Field(alias="StackId", min_length=1)]
    request_id: Annotated[str, Field(alias="RequestId", min_length=1)]
    logical_resource_id: Annotated[str, Field(alias="LogicalResourceId", min_length=1)]
    properties: Annotated[dict[str, Any], Field(alias="ResourceProperties")]
    old_properties: Annotated[dict[str, Any], Field(alias="OldResourceProperties", default_factory=dict)]


def answer(event: CustomResourceEvent, *, reason: str = "", data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Tell CloudFormation; with a reason it is a failure. Raises when the answer does not get through, so that Lambda tries again."""
    body: dict[str, Any] = {
        "Status": "FAILED" if reason else "SUCCESS",
        "Reason": reason[:_MAX_REASON] or "see the function's log",
        "PhysicalResourceId": PHYSICAL_ID,
        "StackId": event.stack_id,
        "RequestId": event.request_id,
        "LogicalResourceId": event.logical_resource_id,
        "Data": dict(data or {}),
    }
    _put(event.response_url, json.dumps(body).encode())
    return body


def _put(url: str, content: bytes) -> None:
    # The URL is signed for an empty content type.
    request = Request(url, data=content, method="PUT", headers={"content-type": ""})  # noqa: S310  # the scheme was checked
    for attempt in range(1, _TRIES + 1):
        try:
            with urlopen(request, timeout=_TIMEOUT_SECONDS):  # noqa: S310
                return
        except (URLError, OSError):
            if attempt == _TRIES:
                raise
            time.sleep(0.2 * attempt)
