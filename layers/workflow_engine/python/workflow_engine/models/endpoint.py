"""Endpoints that SNS delivers to, and what a valid address looks like."""

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator

from workflow_engine.models.base import WorkFlowModel

MAX_ADDRESS = 2048
_ARN_HEAD = r"arn:aws[a-z-]{0,20}"
_PLACE = r"[a-z0-9-]{1,30}:(?P<account>[0-9]{12})"
# A FIFO queue cannot subscribe to a standard topic.
_SQS = re.compile(rf"{_ARN_HEAD}:sqs:{_PLACE}:[A-Za-z0-9_-]{{1,80}}")
_LAMBDA = re.compile(rf"{_ARN_HEAD}:lambda:{_PLACE}:function:[A-Za-z0-9_-]{{1,64}}(?::[A-Za-z0-9$_-]{{1,128}})?")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_ARNS = {"sqs": _SQS, "lambda": _LAMBDA}


class ConsumerEndpoint(WorkFlowModel):
    protocol: Literal["sqs", "https", "lambda"]
    address: Annotated[str, Field(min_length=1, max_length=MAX_ADDRESS, description="ARN of the queue or function, or an https URL")]

    @field_validator("address")
    @classmethod
    def check_address(cls, address: str, info: ValidationInfo) -> str:
        """The address must have the shape that its protocol asks for."""
        protocol = info.data.get("protocol")
        if protocol == "https" and host_of(address) is None:
            raise ValueError("must be an https URL with a host name, without user and fragment")
        if protocol in _ARNS and account_of(protocol, address) is None:
            raise ValueError(f"must be the ARN of a {'standard queue' if protocol == 'sqs' else 'function'}")
        return address


def account_of(protocol: str, address: str) -> str | None:
    """Return the account of a queue or function; None for what is no such ARN."""
    found = _ARNS[protocol].fullmatch(address)
    return found["account"] if found else None


def host_of(address: str) -> str | None:
    """Return the host of a URL that SNS could post to, in lower case; None for any other text."""
    if not address.isascii() or not address.isprintable() or " " in address:
        return None
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    is_good = parts.scheme == "https" and _HOST.fullmatch(host) and port != 0 and "@" not in parts.netloc and not parts.fragment
    return host if is_good else None
