"""Schema and runtime user, brought up to date when the stack is deployed."""

from typing import Any

from workflow_engine.entry.migration import handle, sql_folder


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle(event, context, sql_folder(__file__))
