"""The JSON body of a work event: ASCII, complete, and small enough for its message."""

import json
from datetime import timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import START
from tests.support.made import blueprint, new_hook, real_json
from workflow_engine.engine.rules.event_body import MAX_BODY_BYTES, EventFacts, hook_body, transition_body

MADE = blueprint()


def facts(**more: Any) -> EventFacts:
    fixed = {"blueprint": MADE, "policy_hash": "hash", "instance_id": 7, "instance_guid": "guid", "external_ref": "R-1", "lifecycle_id": 9, "seq": 3}
    step = {"occurred_at": START, "event": MADE.events[101], "from_state": "Draft", "to_state": "Open", "actor": "ann", "payload": None}
    return EventFacts(**{**fixed, **step, **more})


def test_a_transition_is_said_in_full_and_in_order():
    body = transition_body(facts(), "ack", [{"code": "P", "data": 1}], (20, None))
    assert list(json.loads(body).items()) == [
        ("kind", "transition"),
        ("ack_guid", "ack"),
        ("external_ref", "R-1"),
        ("env_code", 1),
        ("definition", "Made"),
        ("def_version", 1),
        ("policy_hash", "hash"),
        ("instance_id", 7),
        ("instance_guid", "guid"),
        ("lifecycle_id", 9),
        ("seq", 3),
        ("occurred_at", "2026-01-01T12:00:00.000000Z"),
        ("event", {"code": 10, "name": "Submit"}),
        ("from_state", "Draft"),
        ("to_state", "Open"),
        ("actor", "ann"),
        ("payload", None),
        ("params", [{"code": "P", "data": 1}]),
        ("on_success_event", 20),
        ("on_failure_event", None),
    ]


def test_a_hook_says_its_own_params_and_completion_codes_beside_what_it_shares():
    hook = new_hook(
        label="Decide", hook_type="gate", order=2, group="g", not_before="n", deadline="d", on_entry=False, on_success=20, params=[{"code": "H", "data": []}]
    )
    shared = json.loads(transition_body(facts(), "ack", [{"code": "P", "data": 1}], (1, 2)))
    own = {"hook_id": 5, "route": "APP.X", "label": "Decide", "on_entry": False, "type": "gate", "order": 2, "group": "g", "not_before": "n", "deadline": "d"}
    replaced = {"kind": "hook", "params": [{"code": "H", "data": []}], "on_success_event": 20, "on_failure_event": None}
    assert json.loads(hook_body(facts(), "ack", hook)) == shared | replaced | own


def test_times_are_said_in_utc_with_six_digits():
    moment = (START + timedelta(microseconds=7)).astimezone(timezone(timedelta(hours=-3)))
    assert json.loads(transition_body(facts(occurred_at=moment), None, [], (None, None)))["occurred_at"] == "2026-01-01T12:00:00.000007Z"


@given(real_json, st.text(max_size=30), st.text(max_size=30) | st.none())
def test_whatever_is_in_it_the_body_is_ascii_and_reads_back_as_it_was(payload: Any, external_ref: str, actor: str | None):
    body = transition_body(facts(payload=payload, external_ref=external_ref, actor=actor), "ack", [{"code": "P", "data": payload}], (None, None))
    assert body.isascii()
    read = json.loads(body)
    assert (read["payload"], read["external_ref"], read["actor"], read["params"]) == (payload, external_ref, actor, [{"code": "P", "data": payload}])


@given(st.integers(-3, 3), st.sampled_from(["x", "ü", "🙂"]))
def test_a_body_of_exactly_the_limit_is_whole_and_one_byte_more_drops_the_payload(more: int, letter: str):
    empty = len(transition_body(facts(payload=""), "ack", [], (None, None)))
    width = len(json.dumps(letter)) - 2
    room = MAX_BODY_BYTES - empty + more
    payload = letter * (room // width) + "y" * (room % width)
    body = transition_body(facts(payload=payload), "ack", [], (None, None))
    read = json.loads(body)
    if more <= 0:
        assert (len(body), read["payload"], "payload_omitted" in read) == (MAX_BODY_BYTES + more, payload, False)
    else:
        assert (read["payload"], read["payload_omitted"]) == (None, True)
        assert len(body) < 1_000
    assert (read["ack_guid"], read["seq"], read["to_state"]) == ("ack", 3, "Open")
