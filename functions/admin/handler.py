"""Operators suspend, resume, fail, move owners and activate versions."""

from typing import Any

from workflow_engine.entry.operations import app


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
