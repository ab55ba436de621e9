"""Importing policies: timeouts, links, events by name, what new instances get, and new versions."""

import json

import pytest

from tests.support.documents import definition_l, definition_vendor, policy_l, policy_vendor, policy_vendor_legacy
from tests.support.importing import soon
from workflow_engine.errors import InvalidPolicyError


def attached(importing, env_code=None):
    """The policy that a new instance would get now."""
    load = importing.dal.reading(soon())
    blueprint = importing.blueprints.get_blueprint_latest(load, env_code or importing.env_code, "Leave")
    latest = importing.dal.first(load, importing.dal.blueprint.get_latest(blueprint.definition_id))
    return importing.blueprints.attached_policy(load, blueprint, latest.policy_id)


def with_review_gone(**changes):
    """L without the state Review, which policy_l has a rule for."""
    definition = definition_l(**changes)
    definition["states"] = [state for state in definition["states"] if state["name"] != "Review"]
    definition["transitions"] = [edge for edge in definition["transitions"] if "Review" not in (edge["from"], edge["to"])]
    return definition


def with_a_side_track(**changes):
    """L with one transition more, which harms no policy."""
    definition = definition_l(**changes)
    definition["transitions"].append({"from": "Review", "event": 40, "to": "Submitted"})
    return definition


def told(answer):
    return [(found.code, found.pointer) for found in answer.warnings]


@pytest.mark.scenario(7, 10)
def test_a_policy_brings_its_timeouts_is_linked_and_is_stored_once(importing):
    importing.run(definition_vendor())
    first = importing.run(None, policy_vendor())
    second = importing.run(None, policy_vendor())
    assert (first.definition, first.policy.name, first.policy.result, first.warnings) == (None, "vendorregistration.policy", "created", [])
    assert second.policy == first.policy.model_copy(update={"result": "unchanged"})
    rows = importing.rows(f"SELECT state_name, duration, mode, event_code, max_retry FROM timeouts WHERE policy_id = {first.policy.policy_id} ORDER BY id")
    assert rows == [
        {"state_name": "PendingPQValidation", "duration": 2880, "mode": 0, "event_code": 1010, "max_retry": None},
        {"state_name": "AwaitingApproval", "duration": 60, "mode": 1, "event_code": 1011, "max_retry": None},
    ]
    assert (importing.count("policy"), importing.count("def_policy")) == (1, 1)


@pytest.mark.scenario(8)
def test_a_policy_that_does_not_fit_is_refused_with_everything_that_is_wrong(importing):
    importing.run(definition_l())
    rows = importing.counts()
    policy = policy_l(
        rules=[{"state": "Nowhere"}, {"state": "Submitted", "params": ["X"], "via": 99, "complete": {"success": 10}}],
        timeouts=[{"state": "Review", "timeout": "P1D", "timeout_event": 10}],
    )
    with pytest.raises(InvalidPolicyError) as refused:
        importing.run(None, policy)
    assert [(item.code, item.pointer) for item in refused.value.errors] == [
        ("UNKNOWN_STATE", "/policy/rules/0/state"),
        ("UNKNOWN_EVENT", "/policy/rules/1/via"),
        ("UNKNOWN_PARAM", "/policy/rules/1/params/0"),
        ("COMPLETION_NOT_LEGAL", "/policy/rules/1/complete/success"),
        ("TIMEOUT_EVENT_NOT_LEGAL", "/policy/timeouts/0/timeout_event"),
    ]
    assert importing.counts() == rows


@pytest.mark.scenario(8)
def test_warnings_are_told_every_time_and_stored_with_the_policy(importing):
    policy = policy_l(rules=[{"state": "Submitted", "via": 40, "emit": [{"route": "APP.X", "type": "gate"}]}], note="x")
    expected = [("UNKNOWN_KEY", "/policy/note"), ("GATE_WITHOUT_FAILURE_PATH", "/policy/rules/0/emit/0"), ("DEAD_VIA", "/policy/rules/0/via")]
    assert told(importing.run(definition_l(), policy)) == expected
    assert told(importing.run(definition_l(), policy)) == expected
    detail = importing.reader.get_definition(importing.env_code, "leave", soon())
    assert [(found.code, found.pointer) for found in detail.policy_warnings] == expected


@pytest.mark.scenario(9)
def test_params_and_arrays_reach_the_engine_as_the_author_wrote_them(importing):
    data = {"zeta": [3, 1, 2], "label": "x", "alpha": {"description": "d", "b": 1.5, "a": None, "é": "\U0001f680"}}
    policy = policy_l(
        params=[{"code": "Z", "data": data}, {"code": "A", "data": [data, "label"]}],
        rules=[{"state": "Submitted", "params": ["Z", "A"], "emit": [{"route": route} for route in ("R3", "R1", "R2")]}],
    )
    answer = importing.run(definition_l(), policy)
    document = attached(importing).document
    assert json.dumps(list(document.params.items())) == json.dumps([("Z", data), ("A", [data, "label"])])
    assert [emit.route for emit in document.rules[0].emits] == ["R3", "R1", "R2"]
    stored = importing.rows(f"SELECT document FROM policy WHERE id = {answer.policy.policy_id}")[0]["document"]
    assert json.dumps(json.loads(stored)) == json.dumps(policy)


@pytest.mark.scenario(10)
def test_the_oldest_shape_is_stored_as_it_is_and_used_as_today_s(importing):
    importing.run(definition_vendor())
    answer = importing.run(None, policy_vendor_legacy())
    assert {code for code, _ in told(answer)} == {"LEGACY_SHAPE"}
    detail = importing.reader.get_definition(importing.env_code, "vendorregistration", soon())
    assert detail.policy == policy_vendor_legacy()
    load = importing.dal.reading(soon())
    blueprint = importing.blueprints.get_blueprint_latest(load, importing.env_code, "VendorRegistration")
    policy = importing.blueprints.attached_policy(load, blueprint, answer.policy.policy_id)
    assert policy.document.rules[0].emits[0].route == "APP.REG.CHECK.VENDOR_REGISTERED"
    assert policy.timeouts["pendingpqvalidation"].duration_minutes == 2880


def test_a_timeout_of_the_policy_overrides_that_of_the_state(importing):
    importing.run(definition_l())
    assert attached(importing).timeouts["review"].duration_minutes == 60
    importing.run(None, policy_l(timeouts=[{"state": "review", "timeout": "P1D", "timeout_event": "Approve"}]))
    timeout = attached(importing).timeouts["review"]
    assert (timeout.duration_minutes, timeout.event_code, timeout.state_name) == (1440, 20, "Review")


@pytest.mark.scenario(27)
def test_the_policy_imported_last_is_what_new_instances_get(importing):
    first = importing.run(definition_l(), policy_l())
    second = importing.run(None, policy_l(policy_name="second"))
    assert attached(importing).policy_id == second.policy.policy_id
    again = importing.run(None, policy_l())
    assert (again.policy.policy_id, again.policy.result) == (first.policy.policy_id, "unchanged")
    assert attached(importing).policy_id == first.policy.policy_id
    assert (importing.count("policy"), importing.count("def_policy")) == (2, 2)


@pytest.mark.scenario(117)
def test_a_new_version_takes_the_newest_policy_along_if_it_fits(importing):
    importing.run(definition_l(), policy_l(policy_name="older"))
    newest = importing.run(None, policy_l())
    answer = importing.run(with_a_side_track(version=2))
    assert answer.policy == newest.policy.model_copy(update={"result": "unchanged"})
    assert answer.warnings == []
    assert attached(importing).policy_id == newest.policy.policy_id
    assert importing.count("policy") == 2


@pytest.mark.scenario(117)
def test_a_new_version_that_the_policy_does_not_fit_has_none_and_the_import_says_so(importing):
    importing.run(definition_l(), policy_l())
    answer = importing.run(with_review_gone(version=2))
    assert answer.policy is None
    assert told(answer) == [("NEEDS_POLICY", "/definition")]
    assert "UNKNOWN_STATE" in answer.warnings[0].message
    assert attached(importing).policy_id is None
    given = importing.run(None, policy_l(rules=policy_l()["rules"][:1]))
    assert attached(importing).policy_id == given.policy.policy_id


@pytest.mark.scenario(117)
def test_a_policy_that_names_events_follows_their_codes_into_a_new_version(importing):
    policy = policy_l(
        rules=[{"state": "Submitted", "complete": {"success": "approve"}}], timeouts=[{"state": "Review", "timeout": "P1D", "timeout_event": "Reject"}]
    )
    first = importing.run(definition_l(), policy)
    renumbered = json.loads(json.dumps(definition_l(version=2)).replace("20", "21").replace("30", "31"))
    second = importing.run(renumbered)
    assert (second.policy.result, second.policy.name) == ("created", "leave.policy")
    assert second.policy.policy_id != first.policy.policy_id
    assert attached(importing).document.rules[0].on_success == 21
    assert attached(importing).timeouts["review"].event_code == 31
    documents = importing.rows(f"SELECT document FROM policy WHERE id IN ({first.policy.policy_id}, {second.policy.policy_id})")
    assert documents[0] == documents[1]


def test_a_new_version_with_a_policy_of_its_own_gets_that_one(importing):
    importing.run(definition_l(), policy_l())
    answer = importing.run(with_a_side_track(version=2), policy_l(policy_name="second"))
    assert told(answer) == [("OTHER_VERSION", "/policy/for/version")]
    assert attached(importing).policy_id == answer.policy.policy_id


def test_a_version_that_does_not_exist_is_a_warning_and_the_active_one_gets_the_policy(importing):
    importing.run(definition_l())
    answer = importing.run(None, policy_l(**{"for": {"definition": "LEAVE", "version": 9}}))
    assert told(answer) == [("UNKNOWN_VERSION", "/policy/for/version")]
    assert attached(importing).policy_id == answer.policy.policy_id


def test_a_policy_that_names_an_older_version_is_judged_by_the_active_one(importing):
    importing.run(definition_l())
    importing.run(with_review_gone(version=2))
    with pytest.raises(InvalidPolicyError) as refused:
        importing.run(None, policy_l())
    assert [(item.code, item.pointer) for item in refused.value.errors] == [("UNKNOWN_STATE", "/policy/rules/1/state")]
    answer = importing.run(None, policy_l(rules=policy_l()["rules"][:1]))
    assert told(answer) == [("OTHER_VERSION", "/policy/for/version")]
    versions = importing.reader.list_versions(importing.env_code, "Leave", 50, None, soon()).items
    assert [(row.version, row.active, row.policy_hash) for row in versions] == [(2, True, answer.policy.hash), (1, False, None)]


def test_a_policy_for_another_definition_than_the_one_beside_it_is_refused(importing):
    with pytest.raises(InvalidPolicyError) as refused:
        importing.run(definition_l(), policy_vendor(rules=[], timeouts=[]))
    assert [(item.code, item.pointer) for item in refused.value.errors] == [("OTHER_DEFINITION", "/policy/for/definition")]
    assert set(importing.counts().values()) == {0}


def test_policies_of_several_megabytes_are_stored_and_read(importing):
    importing.run(definition_l())
    for number in range(3):
        importing.run(None, policy_l(policy_name=f"large {number}", params=[{"code": "P", "data": "é" * 1_000_000}], rules=[{"state": "Submitted"}]))
    detail = importing.reader.get_definition(importing.env_code, "leave", soon())
    assert (detail.policy_name, len(detail.policy["params"][0]["data"])) == ("large 2", 1_000_000)
    assert importing.run(with_a_side_track(version=2)).policy.name == "large 2"


def test_params_that_no_event_could_carry_are_refused_at_import(importing):
    importing.run(definition_l())
    params = [{"code": "P1", "data": "x" * 100_000}, {"code": "P2", "data": "x" * 100_000}]
    with pytest.raises(InvalidPolicyError) as refused:
        importing.run(None, policy_l(params=params, rules=[{"state": "Submitted", "params": ["P1"], "emit": [{"route": "A.B", "params": ["P1", "P2"]}]}]))
    assert [(item.code, item.pointer) for item in refused.value.errors] == [("PARAMS_TOO_LARGE", "/policy/rules/0/emit/0")]
