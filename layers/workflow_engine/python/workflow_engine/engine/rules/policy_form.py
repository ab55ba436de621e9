"""PolicyDocument back to JSON, in today's shape: what is stored for run time and what is hashed."""

from pydantic import JsonValue

from workflow_engine.models.policy import PolicyDocument, PolicyEmit, PolicyRule, TimeoutRule

JsonObject = dict[str, JsonValue]


def policy_form(document: PolicyDocument) -> JsonObject:
    return {
        "policy_name": document.name,
        "for": _given({"definition": document.def_name, "version": document.for_version}),
        "params": [{"code": code, "data": data} for code, data in document.params.items()],
        "rules": [_rule_form(rule) for rule in document.rules],
        "timeouts": [_timeout_form(timeout) for timeout in document.timeouts],
    }


def _rule_form(rule: PolicyRule) -> JsonObject:
    return _given(
        {
            "state": rule.state_key,
            "via": rule.via,
            "params": list(rule.params),
            "complete": _given({"success": rule.on_success, "failure": rule.on_failure}),
            "emit": [_emit_form(emit) for emit in rule.emits],
        }
    )


def _emit_form(emit: PolicyEmit) -> JsonObject:
    return _given(
        {
            "route": emit.route,
            "label": emit.label,
            "on_entry": emit.on_entry,
            "type": emit.type,
            "order": emit.order,
            "group": emit.group,
            "ack_mode": emit.ack_mode,
            "send": emit.send,
            "not_before": emit.not_before,
            "deadline": emit.deadline,
            "params": list(emit.params) if emit.params is not None else None,
            "complete": _given({"success": emit.on_success, "failure": emit.on_failure}),
        }
    )


def _timeout_form(timeout: TimeoutRule) -> JsonObject:
    return _given(
        {
            "state": timeout.state_name,
            "timeout_minutes": timeout.duration_minutes,
            "timeout_mode": "repeat" if timeout.is_repeat else "once",
            "timeout_event": timeout.event_code,
            "max_retry": timeout.max_retry,
        }
    )


def _given(fields: JsonObject) -> JsonObject:
    return {key: value for key, value in fields.items() if value is not None}
