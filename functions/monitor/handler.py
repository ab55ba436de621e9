"""Once a minute: resends, timeouts and overdue notices, pass after pass until the time is up."""

from typing import Any

from workflow_engine.entry.monitoring import run


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return run(event, context)
