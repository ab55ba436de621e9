"""Policy documents: the shapes that are accepted, and what is found in them."""

import json
from typing import Any

import pytest
from hypothesis import given

from tests.support.documents import definition_l, definition_large, definition_vendor, policy_l, policy_large, policy_vendor, policy_vendor_legacy
from tests.support.json_values import any_json, damaged
from tests.support.reading import follow, machine, read_policy, told
from workflow_engine.engine.rules.canonical import author_json
from workflow_engine.engine.rules.findings import Findings
from workflow_engine.engine.rules.policy_document import load_policy, parse_policy, policy_hash, policy_target, resolved_text
from workflow_engine.models.policy import PolicyDocument, PolicyEmit, PolicyRule, TimeoutRule


def good(value: Any, definition: Any) -> PolicyDocument:
    document, findings = read_policy(value, definition)
    assert document is not None, findings
    return document


def rule(**keys: Any) -> dict[str, Any]:
    return {"state": "Submitted"} | keys


def emit(**keys: Any) -> dict[str, Any]:
    return {"route": "APP.X"} | keys


def only(*rules: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"for": {"definition": "Leave"}, "params": [{"code": "P", "data": 1}], "rules": list(rules)} | changes


EMIT_DEFAULTS: dict[str, Any] = dict.fromkeys(
    ("label", "type", "order", "group", "ack_mode", "send", "not_before", "deadline", "params", "on_success", "on_failure")
) | {"on_entry": True}


@pytest.mark.scenario(10, 7)
def test_the_sample_of_the_guidelines_is_read_as_it_stands():
    document, findings = read_policy(policy_vendor(), definition_vendor())
    assert findings == []
    check = PolicyEmit(
        **EMIT_DEFAULTS | {"route": "APP.REG.CHECK.VENDOR_REGISTERED", "params": ("PARAMS.REG.PQ.VALIDATE",), "on_success": 1001, "on_failure": 1002}
    )
    notify = PolicyEmit(**EMIT_DEFAULTS | {"route": "APP.REG.OVERDUE.NOTIFY", "on_success": 1001, "on_failure": 1002})
    late = TimeoutRule(
        state_key="pendingpqvalidation", state_name="PendingPQValidation", duration_minutes=2880, is_repeat=False, event_code=1010, max_retry=None
    )
    remind = TimeoutRule(state_key="awaitingapproval", state_name="AwaitingApproval", duration_minutes=60, is_repeat=True, event_code=1011, max_retry=None)
    assert document == PolicyDocument(
        name="vendorregistration.policy",
        def_name="vendorregistration",
        for_version=1,
        params={"PARAMS.REG.PQ.VALIDATE": {"approval": {"rule": "all", "by": ["procurement", "quality"]}}},
        rules=(
            PolicyRule(state_key="checkvendorregistered", via=None, params=(), on_success=1001, on_failure=1002, emits=(check,)),
            PolicyRule(state_key="overdue", via=1010, params=(), on_success=None, on_failure=None, emits=(notify,)),
        ),
        timeouts=(late, remind),
    )


def test_the_oldest_shape_is_read_with_warnings():
    document, findings = read_policy(policy_vendor_legacy(), definition_vendor())
    assert document is not None
    assert told(findings) == [
        ("LEGACY_SHAPE", "/policy/policies"),
        ("LEGACY_SHAPE", "/policy/routes"),
        ("LEGACY_SHAPE", "/policy/routes/0/policy"),
        ("LEGACY_SHAPE", "/policy/routes/0/emit/0/blocking"),
    ]
    assert document.params == {"PARAMS.REG.PQ.VALIDATE": {"approval": {"rule": "all", "by": ["procurement", "quality"]}}}
    assert document.rules[0].params == ("PARAMS.REG.PQ.VALIDATE",)
    assert document.rules[0].emits[0].type == "gate"
    assert load_policy(author_json(policy_vendor_legacy())) == document


@pytest.mark.parametrize(
    ("policy", "definition"),
    [(policy_vendor(), definition_vendor()), (policy_vendor_legacy(), definition_vendor()), (policy_l(), definition_l()), (policy_large(), definition_large())],
    ids=["sample", "legacy", "leave", "large"],
)
def test_the_stored_form_is_read_back_as_the_same_document(policy, definition):
    document = good(policy, definition)
    assert load_policy(resolved_text(document)) == document


@pytest.mark.scenario(9)
def test_author_order_and_data_survive_the_stored_form():
    data = {"z": [3, 1, 2], "label": "x", "a": {"description": None, "b": 1.50, "k": "é"}}
    params = [{"code": "Z", "data": data}, {"code": "A", "data": [data]}]
    policy = only(rule(params=["Z", "A"], emit=[emit(route=route) for route in ("R3", "R1", "R2")]), params=params)
    stored = load_policy(resolved_text(good(policy, definition_l())))
    assert json.dumps(list(stored.params.items())) == json.dumps([("Z", data), ("A", [data])])
    assert stored.rules[0].params == ("Z", "A")
    assert [hook.route for hook in stored.rules[0].emits] == ["R3", "R1", "R2"]


def test_events_given_by_name_become_codes():
    by_name = only(
        rule(via="submit", complete={"success": "Approve", "failure": " reject "}, emit=[emit(complete={"success": "APPROVE"})]),
        timeouts=[{"state": "Review", "timeout": "PT1H", "timeout_event": "Reject"}],
    )
    by_code = only(
        rule(via=10, complete={"success": 20, "failure": "30"}, emit=[emit(complete={"success": 20})]),
        timeouts=[{"state": "review", "timeout_minutes": 60, "timeout_event": 30}],
    )
    assert good(by_name, definition_l()) == good(by_code, definition_l())
    assert policy_hash(good(by_name, definition_l())) == policy_hash(good(by_code, definition_l()))


def test_every_key_of_a_hook_is_kept():
    keys = {"label": "L", "order": 3, "group": "g", "send": "always", "not_before": "PT5M", "deadline": "2026-02-01", "params": []}
    document, findings = read_policy(only(rule(emit=[emit(**keys, on_entry=False, type="EFFECT", ack_mode="Any")])), definition_l())
    assert findings == []
    assert document is not None
    expected = EMIT_DEFAULTS | keys | {"route": "APP.X", "on_entry": False, "type": "effect", "ack_mode": "any", "params": ()}
    assert document.rules[0].emits == (PolicyEmit(**expected),)


@pytest.mark.scenario(8)
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (only(rule(state="Nowhere", complete={"success": 20})), [("UNKNOWN_STATE", "/policy/rules/0/state")]),
        (only(rule(via=99)), [("UNKNOWN_EVENT", "/policy/rules/0/via")]),
        (only(rule(params=["P", "Q"])), [("UNKNOWN_PARAM", "/policy/rules/0/params/1")]),
        (only(rule(emit=[emit(params=["Q"])])), [("UNKNOWN_PARAM", "/policy/rules/0/emit/0/params/0")]),
        (only(rule(complete={"success": 99})), [("UNKNOWN_EVENT", "/policy/rules/0/complete/success")]),
        (only(rule(complete={"failure": 10})), [("COMPLETION_NOT_LEGAL", "/policy/rules/0/complete/failure")]),
        (only(rule(emit=[emit(complete={"success": "submit"})])), [("COMPLETION_NOT_LEGAL", "/policy/rules/0/emit/0/complete/success")]),
        (only(rule(state="Approved", complete={"success": 20})), [("COMPLETION_NOT_LEGAL", "/policy/rules/0/complete/success")]),
        (only(timeouts=[{"state": "Nowhere", "timeout": "P1D"}]), [("UNKNOWN_STATE", "/policy/timeouts/0/state")]),
        (only(timeouts=[{"state": "Review", "timeout": "P1D", "timeout_event": 99}]), [("UNKNOWN_EVENT", "/policy/timeouts/0/timeout_event")]),
        (only(timeouts=[{"state": "Review", "timeout": "P1D", "timeout_event": 40}]), [("TIMEOUT_EVENT_NOT_LEGAL", "/policy/timeouts/0/timeout_event")]),
        (
            only(timeouts=[{"state": "Review", "timeout": "P1D"}, {"state": " REVIEW", "timeout_minutes": 1}]),
            [("DUPLICATE_TIMEOUT", "/policy/timeouts/1/state")],
        ),
        (only(timeouts=[{"state": "Review", "timeout": "P1M"}]), [("INVALID_DURATION", "/policy/timeouts/0/timeout")]),
        (only(timeouts=[{"state": "Review"}]), [("INVALID_DURATION", "/policy/timeouts/0")]),
        (only(params=[{"code": "P"}, {"code": "P"}]), [("DUPLICATE_PARAM", "/policy/params/1/code")]),
        (only(rule(emit=[{"label": "no route"}])), [("MISSING_KEY", "/policy/rules/0/emit/0")]),
        (only(rule(emit=[emit(event="APP.Y")])), [("CONFLICTING_KEYS", "/policy/rules/0/emit/0/event")]),
        (
            only(rule(emit=[emit(type="gate", blocking=False, complete={"failure": 30})])),
            [("CONFLICTING_KEYS", "/policy/rules/0/emit/0/blocking"), ("LEGACY_SHAPE", "/policy/rules/0/emit/0/blocking")],
        ),
        (only(rule(emit=[emit() for _ in range(101)])), [("TOO_MANY", "/policy/rules/0/emit")]),
        (only(*[rule() for _ in range(2001)]), [("TOO_MANY", "/policy/rules")]),
        (only(rule(params=["P"], policy="P")), [("CONFLICTING_KEYS", "/policy/rules/0/policy"), ("LEGACY_SHAPE", "/policy/rules/0/policy")]),
        (only(routes=[rule()]), [("CONFLICTING_KEYS", "/policy/routes"), ("LEGACY_SHAPE", "/policy/routes")]),
        (only(**{"for": {"definition": "Other"}}), [("OTHER_DEFINITION", "/policy/for/definition")]),
        (only(defName="Other"), [("CONFLICTING_KEYS", "/policy/defName")]),
        (only(policy_name=""), [("INVALID_VALUE", "/policy/policy_name")]),
        (["x"], [("INVALID_TYPE", "/policy")]),
    ],
)
def test_a_wrong_policy_is_refused_with_code_and_place(policy, expected):
    document, findings = read_policy(policy, definition_l())
    assert document is None
    assert told(findings) == expected


@pytest.mark.scenario(8)
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (only(rule(via=40)), [("DEAD_VIA", "/policy/rules/0/via")]),
        (only(rule(), rule()), [("RULE_NEVER_MATCHES", "/policy/rules/1")]),
        (only(rule(via=10), rule(via="submit")), [("RULE_NEVER_MATCHES", "/policy/rules/1")]),
        (only(rule(), rule(via=10)), [("RULE_NEVER_MATCHES", "/policy/rules/0")]),
        (only(rule(state="Draft")), [("RULE_NEVER_MATCHES", "/policy/rules/0")]),
        (only(rule(emit=[emit(type="gate")])), [("GATE_WITHOUT_FAILURE_PATH", "/policy/rules/0/emit/0")]),
        (only(rule(emit=[emit(type="gate", complete={"failure": 30}), emit(type="effect")])), []),
        (only(timeouts=[{"state": "Approved", "timeout": "P1D"}]), [("TIMEOUT_ON_FINAL_STATE", "/policy/timeouts/0/state")]),
        (
            only(rule(auto=[{"event": 20}], emit=[emit(colour="red")])),
            [("UNKNOWN_KEY", "/policy/rules/0/emit/0/colour"), ("UNKNOWN_KEY", "/policy/rules/0/auto")],
        ),
        (only(rule(emit=[emit(deadline="soon")])), [("UNRECOGNISED_TIME", "/policy/rules/0/emit/0/deadline")]),
        (only(rule(state="Approved", via=20), rule(state="Approved")), [("RULE_NEVER_MATCHES", "/policy/rules/1")]),
    ],
)
def test_what_is_only_suspicious_is_a_warning(policy, expected):
    document, findings = read_policy(policy, definition_l())
    assert document is not None
    assert told(findings) == expected
    assert not any(finding.is_error for finding in findings)


def test_without_a_name_a_policy_is_called_like_its_definition():
    assert good({"rules": []}, definition_l()).name == "Leave"


@pytest.mark.parametrize(
    ("policy", "target"),
    [
        ({"for": {"definition": "X", "version": 3}}, ("X", 3)),
        ({"defName": "Y"}, ("Y", None)),
        ({"for": {"version": 2}, "defName": "Y"}, ("Y", 2)),
        ({"for": "X"}, (None, None)),
        ({}, (None, None)),
        (7, (None, None)),
    ],
)
def test_the_definition_a_policy_is_for_is_known_before_anything_else(policy, target):
    assert policy_target(policy) == target


def test_the_hash_covers_name_params_rules_and_timeouts_only():
    base = policy_hash(good(policy_l(), definition_l()))
    assert policy_hash(good(policy_l(defName="LEAVE", note="x", **{"for": {"definition": "leave"}}), definition_l())) == base
    for change in (
        {"policy_name": "x"},
        {"params": [*policy_l()["params"], {"code": "N"}]},
        {"rules": policy_l()["rules"][:1]},
        {"timeouts": [{"state": "Review", "timeout": "P1D"}]},
    ):
        assert policy_hash(good(policy_l(**change), definition_l())) != base


def test_the_order_of_rules_is_content():
    reversed_rules = list(reversed(policy_l()["rules"]))
    assert policy_hash(good(policy_l(rules=reversed_rules), definition_l())) != policy_hash(good(policy_l(), definition_l()))


LEAVE = machine(definition_l())
VENDOR = machine(definition_vendor())


@given(any_json | damaged(policy_l()) | damaged(policy_vendor()) | damaged(policy_vendor_legacy()))
def test_any_json_is_answered_with_findings_whose_pointers_lead_somewhere(value):
    for known in (LEAVE, VENDOR, None):
        findings = Findings()
        document = parse_policy(value, known, findings)
        assert (document is None) == bool(findings.errors)
        for finding in (*findings.errors, *findings.warnings):
            follow({"policy": value}, finding.pointer)
            assert finding.message.encode()
        if document is not None and known is not None:
            assert load_policy(resolved_text(document)) == document
