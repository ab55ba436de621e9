"""PolicyDocument to JSON and back, in today's shape: what is stored for run time and what is hashed."""

from typing import Any

from pydantic import JsonValue

from workflow_engine.engine.rules.names import name_key
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


def policy_from_form(form: dict[str, Any]) -> PolicyDocument:
    """The document that `policy_form` was made of; nothing is checked, for this is read at run time."""
    target = form["for"]
    return PolicyDocument(
        name=form["policy_name"],
        def_name=target.get("definition"),
        for_version=target.get("version"),
        params={param["code"]: param["data"] for param in form["params"]},
        rules=tuple(_rule(rule) for rule in form["rules"]),
        timeouts=tuple(_timeout(timeout) for timeout in form["timeouts"]),
    )


def _rule(form: dict[str, Any]) -> PolicyRule:
    complete = form["complete"]
    return PolicyRule(
        state_key=form["state"],
        via=form.get("via"),
        params=tuple(form["params"]),
        on_success=complete.get("success"),
        on_failure=complete.get("failure"),
        emits=tuple(_emit(emit) for emit in form["emit"]),
    )


def _emit(form: dict[str, Any]) -> PolicyEmit:
    params, complete = form.get("params"), form["complete"]
    return PolicyEmit(
        route=form["route"],
        label=form.get("label"),
        on_entry=form["on_entry"],
        type=form.get("type"),
        order=form.get("order"),
        group=form.get("group"),
        ack_mode=form.get("ack_mode"),
        send=form.get("send"),
        not_before=form.get("not_before"),
        deadline=form.get("deadline"),
        params=tuple(params) if params is not None else None,
        on_success=complete.get("success"),
        on_failure=complete.get("failure"),
    )


def _timeout(form: dict[str, Any]) -> TimeoutRule:
    return TimeoutRule(
        state_key=name_key(form["state"]),
        state_name=form["state"],
        duration_minutes=form["timeout_minutes"],
        is_repeat=form["timeout_mode"] == "repeat",
        event_code=form.get("timeout_event"),
        max_retry=form.get("max_retry"),
    )


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
