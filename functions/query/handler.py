"""GET: all reads, and the answer to every route that no function serves."""

from typing import Any

from workflow_engine.entry.reads import app


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
