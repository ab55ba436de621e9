"""Policy JSON to PolicyDocument: any JSON in, a document or None out, with everything that was found."""

import json
from typing import Any, cast

from pydantic import JsonValue

from workflow_engine.engine.rules.canonical import author_json, content_hash
from workflow_engine.engine.rules.document_limits import MAX_INT, MAX_NAME, scan
from workflow_engine.engine.rules.findings import Findings, Path, quoted
from workflow_engine.engine.rules.machine import Machine
from workflow_engine.engine.rules.names import name_key
from workflow_engine.engine.rules.object_reader import Node, ObjectReader, open_object
from workflow_engine.engine.rules.policy_checks import PolicyChecks
from workflow_engine.engine.rules.policy_emits import EmitDraft
from workflow_engine.engine.rules.policy_form import policy_form, policy_from_form
from workflow_engine.engine.rules.policy_reader import RuleDraft, TimeoutDraft, read_policy_parts
from workflow_engine.engine.rules.policy_refs import Ref
from workflow_engine.models.policy import PolicyDocument, PolicyEmit, PolicyRule, TimeoutRule

ROOT: Path = ("policy",)
_RESOLVED = "resolved"


def parse_policy(value: JsonValue, machine: Machine | None, findings: Findings) -> PolicyDocument | None:
    """Return the document with its events resolved, or None when there is an error among the findings."""
    before = len(findings.errors)
    document = _read(value, machine, findings) if scan(value, ROOT, findings) else None
    return document if len(findings.errors) == before else None


def load_policy(text: str) -> PolicyDocument:
    """Read a stored policy, which was found good at import: the resolved form at once, any other shape (events as codes) by reading it anew."""
    value: JsonValue = json.loads(text)
    if isinstance(value, dict) and value.get(_RESOLVED):
        return policy_from_form(cast("dict[str, Any]", value))
    document = _read(value, None, Findings())
    if document is None:
        raise ValueError("a stored policy is no JSON object")
    return document


def resolved_text(document: PolicyDocument) -> str:
    """The form that is stored for run time: today's shape, codes for event names."""
    return author_json({_RESOLVED: True} | policy_form(document))


def policy_hash(document: PolicyDocument) -> str:
    """Hash what the policy is called and does: name, params, rules, timeouts."""
    form = policy_form(document)
    del form["for"]
    form["timeouts"] = [{**timeout, "state": name_key(str(timeout["state"]))} for timeout in _objects(form["timeouts"])]
    return content_hash(form)


def _objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _read(value: JsonValue, machine: Machine | None, findings: Findings) -> PolicyDocument | None:
    reader = open_object(Node(value, ROOT), findings)
    if reader is None:
        return None
    name = reader.text(reader.take("policy_name"), MAX_NAME)
    def_name, for_version = _read_target(reader, machine)
    draft = read_policy_parts(reader)
    reader.close()
    checks = PolicyChecks(machine=machine, draft=draft, findings=findings)
    checks.run()
    return PolicyDocument(
        name=name or def_name or "",
        def_name=def_name,
        for_version=for_version,
        params=draft.params,
        rules=tuple(_rule(checks, rule) for rule in draft.rules),
        timeouts=tuple(_timeout(checks, timeout) for timeout in draft.timeouts),
    )


def policy_target(value: JsonValue) -> tuple[str | None, int | None]:
    """Which definition and version a policy says it is for, before anything else is known of it."""
    reader = open_object(Node(value, ROOT), Findings())
    return _read_target(reader, None) if reader is not None else (None, None)


def _read_target(reader: ObjectReader, machine: Machine | None) -> tuple[str | None, int | None]:
    alias = reader.take("defName")
    from_alias = reader.text(alias, MAX_NAME)
    target = open_object(reader.take("for"), reader.findings)
    if target is None:
        _check_target(reader, alias, from_alias, machine)
        return from_alias or (machine.def_name if machine else None), None
    node = target.take("definition")
    name, version = target.text(node, MAX_NAME), target.integer(target.take("version"), 1, MAX_INT)
    target.close()
    if name is not None and from_alias is not None and alias is not None and name_key(name) != name_key(from_alias):
        reader.findings.error("CONFLICTING_KEYS", alias.path, '"defName" says something else than "for.definition"')
    _check_target(reader, node or alias, name or from_alias, machine)
    return name or from_alias or (machine.def_name if machine else None), version


def _check_target(reader: ObjectReader, node: Node | None, name: str | None, machine: Machine | None) -> None:
    if node is not None and name is not None and machine is not None and name_key(name) != machine.def_key:
        reader.findings.error("OTHER_DEFINITION", node.path, f"the policy is for {quoted(name)}, the definition is {quoted(machine.def_name)}")


def _rule(checks: PolicyChecks, rule: RuleDraft) -> PolicyRule:
    return PolicyRule(
        state_key=rule.state_key,
        via=checks.code(rule.via),
        params=tuple(str(ref.value) for ref in rule.params),
        on_success=checks.code(rule.on_success),
        on_failure=checks.code(rule.on_failure),
        emits=tuple(_emit(checks, emit) for emit in rule.emits),
    )


def _emit(checks: PolicyChecks, emit: EmitDraft) -> PolicyEmit:
    return PolicyEmit(
        route=emit.route,
        label=emit.label,
        on_entry=emit.on_entry,
        type=emit.type,
        order=emit.order,
        group=emit.group,
        ack_mode=emit.ack_mode,
        send=emit.send,
        not_before=emit.not_before,
        deadline=emit.deadline,
        params=tuple(str(ref.value) for ref in emit.params) if emit.params is not None else None,
        on_success=checks.code(emit.on_success),
        on_failure=checks.code(emit.on_failure),
    )


def _timeout(checks: PolicyChecks, timeout: TimeoutDraft) -> TimeoutRule:
    keys, state = timeout.keys, checks.machine.states.get(timeout.state_key) if checks.machine else None
    return TimeoutRule(
        state_key=timeout.state_key,
        # Shown as the definition's author spelled it.
        state_name=state.name if state else str(timeout.state.value),
        duration_minutes=keys.minutes,
        is_repeat=keys.is_repeat,
        event_code=checks.code(Ref(value=keys.event, path=keys.path)) if keys.event is not None else None,
        max_retry=keys.max_retry,
    )
