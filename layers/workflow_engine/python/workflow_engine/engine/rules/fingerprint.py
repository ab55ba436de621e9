"""What makes two requests with one request_id the same request."""

import hashlib
import json
from datetime import datetime

from pydantic import JsonValue

from workflow_engine.engine.rules.names import event_ref as ref_of
from workflow_engine.models.base import optional_time_text
from workflow_engine.models.blueprint import BlueprintEvent


def fingerprint(event: BlueprintEvent | None, event_ref: int | str, content: tuple[str | None, JsonValue, bool, datetime | None]) -> str:
    """Hash the canonical JSON of event code, actor, payload, ack_required and occurred_at; an unknown event stands for itself."""
    actor, payload, ack_required, occurred_at = content
    code = event.code if event else str(ref_of(event_ref))
    text = json.dumps([code, actor, payload, ack_required, optional_time_text(occurred_at)], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
