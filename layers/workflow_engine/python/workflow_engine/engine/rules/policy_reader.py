"""Reads the parts of a policy document, all its shapes, and keeps the place of each reference for the findings that follow."""

from dataclasses import dataclass, field

from pydantic import JsonValue

from workflow_engine.engine.rules.document_limits import MAX_NAME, MAX_PARAMS, MAX_RULES, MAX_STATES
from workflow_engine.engine.rules.findings import Findings, Path, quoted
from workflow_engine.engine.rules.names import name_key
from workflow_engine.engine.rules.object_reader import Node, ObjectReader, open_object
from workflow_engine.engine.rules.policy_emits import EmitDraft, read_emits
from workflow_engine.engine.rules.policy_refs import Ref, read_complete, read_event, read_param_codes
from workflow_engine.engine.rules.timeout_keys import TimeoutKeys, read_timeout


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDraft:
    """A rule whose events are still references."""

    state_key: str
    state: Ref
    via: Ref | None
    params: tuple[Ref, ...]
    on_success: Ref | None
    on_failure: Ref | None
    emits: tuple[EmitDraft, ...]
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutDraft:
    state_key: str
    state: Ref
    keys: TimeoutKeys


@dataclass(slots=True)
class PolicyDraft:
    params: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    rules: list[RuleDraft] = field(default_factory=list[RuleDraft])
    timeouts: list[TimeoutDraft] = field(default_factory=list[TimeoutDraft])


def read_policy_parts(reader: ObjectReader) -> PolicyDraft:
    draft = PolicyDraft()
    _read_params(reader, draft, _current_or_legacy(reader, "params", "policies"))
    for item in reader.items(_current_or_legacy(reader, "rules", "routes"), MAX_RULES):
        rule = _read_rule(item, reader.findings)
        if rule is not None:
            draft.rules.append(rule)
    for item in reader.items(reader.take("timeouts"), MAX_STATES):
        timeout = _read_policy_timeout(item, reader.findings)
        if timeout is not None:
            draft.timeouts.append(timeout)
    return draft


def _current_or_legacy(reader: ObjectReader, key: str, legacy: str) -> Node | None:
    """The oldest documents called params `policies` and rules `routes`."""
    old = reader.take(legacy)
    if old is not None:
        reader.findings.warning("LEGACY_SHAPE", old.path, f"{quoted(legacy)} is the old name of {quoted(key)}")
    return reader.take_alias(key, legacy)


def _read_params(reader: ObjectReader, draft: PolicyDraft, node: Node | None) -> None:
    is_legacy = node is not None and node.path[-1] == "policies"
    for item in reader.items(node, MAX_PARAMS):
        entry = open_object(item, reader.findings)
        if entry is None:
            continue
        code_node = entry.need(entry.take("code"), "code")
        code = entry.text(code_node, MAX_NAME)
        data = entry.take_alias("data", "params") if is_legacy else entry.take("data")
        entry.close()
        if code is None or code_node is None:
            continue
        if code in draft.params:
            reader.findings.error("DUPLICATE_PARAM", code_node.path, f"{quoted(code)} is declared twice")
        draft.params.setdefault(code, data.value if data else None)


def _read_rule(item: Node, findings: Findings) -> RuleDraft | None:
    entry = open_object(item, findings)
    if entry is None:
        return None
    state_node = entry.need(entry.take("state"), "state")
    state = entry.text(state_node, MAX_NAME)
    via = read_event(entry, entry.take("via"))
    params = _rule_params(entry)
    on_success, on_failure = read_complete(entry)
    emits = read_emits(entry)
    entry.close()
    if state is None or state_node is None:
        return None
    ref = Ref(value=state, path=state_node.path)
    return RuleDraft(state_key=name_key(state), state=ref, via=via, params=params, on_success=on_success, on_failure=on_failure, emits=emits, path=item.path)


def _rule_params(entry: ObjectReader) -> tuple[Ref, ...]:
    """A legacy route names one entry of `policies` instead of a list of params."""
    params, policy = read_param_codes(entry, entry.take("params")), entry.take("policy")
    if policy is None:
        return params or ()
    entry.findings.warning("LEGACY_SHAPE", policy.path, '"policy" is the old form of "params"')
    if params is not None:
        entry.findings.error("CONFLICTING_KEYS", policy.path, 'a rule has "params" or the old "policy", not both')
    code = entry.text(policy, MAX_NAME)
    return params or ((Ref(value=code, path=policy.path),) if code is not None else ())


def _read_policy_timeout(item: Node, findings: Findings) -> TimeoutDraft | None:
    entry = open_object(item, findings)
    if entry is None:
        return None
    state_node = entry.need(entry.take("state"), "state")
    state = entry.text(state_node, MAX_NAME)
    keys = read_timeout(entry, is_optional=False)
    entry.close()
    if state is None or state_node is None or keys is None:
        return None
    return TimeoutDraft(state_key=name_key(state), state=Ref(value=state, path=state_node.path), keys=keys)
