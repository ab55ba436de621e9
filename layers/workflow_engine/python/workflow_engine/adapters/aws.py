"""AWS clients, made on first use: importing boto3 costs more than all the rest of a cold start."""

import os
from functools import lru_cache
from importlib import import_module
from typing import Any

# Inside the deadline of a call: a database unit has to fit beside them.
CONNECT_SECONDS = 1
READ_SECONDS = 3
ATTEMPTS = 2
# What one call can take when nobody answers, the pause between the attempts included.
WORST_CALL_SECONDS = ATTEMPTS * (CONNECT_SECONDS + READ_SECONDS) + 1.0
# Empty in AWS. Ours rather than AWS_ENDPOINT_URL, which the template could not declare empty without telling boto3 something.
ENDPOINT = "WFE_AWS_ENDPOINT_URL"


@lru_cache(maxsize=8)
def client(service: str) -> Any:
    """Return the sandbox's one client of the service."""
    # Typed as Any: the stubs list every service by name, and we are given one.
    boto3: Any = import_module("boto3")
    from botocore.config import Config  # noqa: PLC0415  # see above

    config = Config(connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, retries={"total_max_attempts": ATTEMPTS, "mode": "standard"})
    return boto3.client(service, config=config, endpoint_url=os.environ.get(ENDPOINT) or None)


def errors() -> tuple[type[Exception], ...]:
    """What AWS calls raise: a refusal by the service, or no answer from it."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    return (BotoCoreError, ClientError)


def error_code(error: Exception) -> str:
    """The service's code, or the kind of transport failure; never the message, which may quote what was sent."""
    response: dict[str, Any] | None = getattr(error, "response", None)
    return type(error).__name__ if response is None else str(response.get("Error", {}).get("Code", "Unknown"))
