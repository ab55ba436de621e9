"""The JSON body of a work event: made once, stored, sent byte for byte."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from workflow_engine.models.base import time_text
from workflow_engine.models.blueprint import BlueprintEvent, LifeCycleBlueprint
from workflow_engine.models.enums import EventKind
from workflow_engine.models.transition import NewHook

MAX_BODY_BYTES = 200 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFacts:
    """What all events of one transition share."""

    blueprint: LifeCycleBlueprint
    policy_hash: str | None
    instance_id: int
    instance_guid: str
    external_ref: str
    lifecycle_id: int
    seq: int
    occurred_at: datetime
    event: BlueprintEvent
    from_state: str
    to_state: str
    actor: str | None
    payload: JsonValue


def transition_body(facts: EventFacts, ack_guid: str | None, params: list[dict[str, Any]], completion: tuple[int | None, int | None]) -> str:
    return _text(_base(facts, EventKind.TRANSITION, ack_guid, params, completion))


def hook_body(facts: EventFacts, ack_guid: str | None, hook: NewHook) -> str:
    body = _base(facts, EventKind.HOOK, ack_guid, hook.params, (hook.on_success, hook.on_failure))
    body |= {
        "hook_id": hook.hook_id,
        "route": hook.route,
        "label": hook.label,
        "on_entry": hook.on_entry,
        "type": hook.hook_type,
        "order": hook.order,
        "group": hook.group,
        "not_before": hook.not_before,
        "deadline": hook.deadline,
    }
    return _text(body)


def _base(facts: EventFacts, kind: EventKind, ack_guid: str | None, params: list[dict[str, Any]], completion: tuple[int | None, int | None]) -> dict[str, Any]:
    return {
        "kind": kind.label,
        "ack_guid": ack_guid,
        "external_ref": facts.external_ref,
        "env_code": facts.blueprint.env_code,
        "definition": facts.blueprint.def_name,
        "def_version": facts.blueprint.version,
        "policy_hash": facts.policy_hash,
        "instance_id": facts.instance_id,
        "instance_guid": facts.instance_guid,
        "lifecycle_id": facts.lifecycle_id,
        "seq": facts.seq,
        "occurred_at": time_text(facts.occurred_at),
        "event": {"code": facts.event.code, "name": facts.event.name},
        "from_state": facts.from_state,
        "to_state": facts.to_state,
        "actor": facts.actor,
        "payload": facts.payload,
        "params": params,
        "on_success_event": completion[0],
        "on_failure_event": completion[1],
    }


def _text(body: dict[str, Any]) -> str:
    text = json.dumps(body, ensure_ascii=True)
    if len(text) <= MAX_BODY_BYTES:
        return text
    return json.dumps({**body, "payload": None, "payload_omitted": True}, ensure_ascii=True)
