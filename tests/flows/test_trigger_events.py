"""What consumers are told: the body, the rule that holds, hooks, payloads, and events without acks."""

import json
from typing import Any

import pytest

from tests.support.documents import definition_l, policy_l
from tests.support.engine import START, Workbench
from tests.support.facts import Delivery, codes, deliveries, everything, held, said, waiting
from tests.support.scenes import lamp, leave, leave_with_hook, policy_lamp

BASE_FIELDS = [
    "kind",
    "ack_guid",
    "external_ref",
    "env_code",
    "definition",
    "def_version",
    "policy_hash",
    "instance_id",
    "instance_guid",
    "lifecycle_id",
    "seq",
    "occurred_at",
    "event",
    "from_state",
    "to_state",
    "actor",
    "payload",
    "params",
    "on_success_event",
    "on_failure_event",
]


def emit(*routes: str, **more: Any) -> list[dict[str, Any]]:
    return [{"route": route, **more} for route in routes]


def switched_on(bench: Workbench, **more: Any) -> Any:
    return bench.trigger("Switch on", def_name="Lamp", **more)


@pytest.mark.scenario(25)
def test_the_body_says_everything_about_the_transition(bench: Workbench):
    imported = bench.import_(definition_l(), policy_l())
    bench.register("c1", kinds=["transition"])
    answer = bench.trigger("Submit", "VENDOR-1", actor="ann", payload={"z": 1, "a": ["ü"]}, occurred_at=START)
    (body,) = bench.bodies()
    assert body == {
        "kind": "transition",
        "ack_guid": answer.ack_guid,
        "external_ref": "VENDOR-1",
        "env_code": 1,
        "definition": "Leave",
        "def_version": 1,
        "policy_hash": imported.policy.hash,
        "instance_id": bench.sql("SELECT id FROM instance")[0]["id"],
        "instance_guid": answer.instance_guid,
        "lifecycle_id": answer.lifecycle_id,
        "seq": 1,
        "occurred_at": "2026-01-01T12:00:00.000000Z",
        "event": {"code": 10, "name": "Submit"},
        "from_state": "Draft",
        "to_state": "Submitted",
        "actor": "ann",
        "payload": {"z": 1, "a": ["ü"]},
        "params": [{"code": "PARAMS.LEAVE.DECIDE", "data": {"approval": {"rule": "any", "selector": {"value": "manager", "mode": "role"}}}}],
        "on_success_event": 20,
        "on_failure_event": 30,
    }
    assert list(body) == BASE_FIELDS
    assert list(body["payload"]) == ["z", "a"]
    (message,) = bench.publisher.messages
    assert message.body.isascii()
    assert (message.env_code, message.definition, message.kind.label, message.route, message.attempt, message.first_sent_at) == (
        1,
        "Leave",
        "transition",
        None,
        1,
        START,
    )


@pytest.mark.scenario(25)
def test_a_hook_says_the_same_and_what_is_its_own(bench: Workbench):
    lamp(
        bench,
        policy=policy_lamp(
            [
                {
                    "state": "On",
                    "emit": emit(
                        "APP.LIGHT",
                        label="Light",
                        type="gate",
                        order=2,
                        group="g",
                        on_entry=False,
                        not_before="2026-01-02T00:00:00Z",
                        deadline="PT4H",
                        complete={"failure": 4},
                    ),
                }
            ]
        ),
    )
    answer = switched_on(bench, actor="ann", payload=7)
    transition, hook = bench.bodies()
    own = {
        "hook_id": bench.sql("SELECT id FROM hook")[0]["id"],
        "route": "APP.LIGHT",
        "label": "Light",
        "on_entry": False,
        "type": "gate",
        "order": 2,
        "group": "g",
        "not_before": "2026-01-02T00:00:00Z",
        "deadline": "PT4H",
    }
    assert hook == {**transition, "kind": "hook", "ack_guid": answer.hook_ack_guids[0], "on_success_event": None, "on_failure_event": 4, **own}
    assert list(hook) == [*BASE_FIELDS, *own]
    assert [message.route for message in bench.publisher.messages] == [None, "APP.LIGHT"]


@pytest.mark.scenario(29)
def test_an_instance_without_a_policy_moves_without_hooks_params_and_completion_codes(bench: Workbench):
    leave(bench)
    answer = bench.trigger("Submit")
    (body,) = bench.bodies()
    assert (body["policy_hash"], body["params"], body["on_success_event"], body["on_failure_event"]) == (None, [], None, None)
    assert answer.hook_ack_guids == []
    assert (bench.count("hook"), deliveries(bench), codes(bench)) == (0, [Delivery()], [])


@pytest.mark.scenario(29)
def test_a_state_without_a_rule_is_like_no_policy_for_that_arrival(bench: Workbench):
    leave_with_hook(bench)
    bench.trigger("Submit")
    bench.process_all("c1")
    bench.trigger("Approve")
    body = bench.bodies()[-1]
    assert (body["kind"], body["to_state"], body["params"], body["on_success_event"]) == ("transition", "Approved", [], None)
    assert body["policy_hash"] is not None
    assert bench.count("hook") == 1


@pytest.mark.scenario(30)
@pytest.mark.parametrize("is_via_first", [True, False])
def test_a_rule_for_the_event_beats_the_generic_one_and_only_its_hooks_are_emitted(bench: Workbench, *, is_via_first: bool):
    generic = {"state": "On", "emit": emit("APP.ANY"), "complete": {"success": 2}}
    via = {"state": "On", "via": "Flicker", "emit": emit("APP.FLICKER.1", "APP.FLICKER.2"), "complete": {"success": 4}}
    also = {"state": "On", "via": 3, "emit": emit("APP.NEVER")}
    lamp(bench, policy=policy_lamp([via, generic, also] if is_via_first else [generic, via, also]))
    switched_on(bench)
    bench.trigger("Flicker", def_name="Lamp")
    bench.process_all("c1")
    assert [(body["seq"], body["kind"], body.get("route"), body["on_success_event"]) for body in bench.bodies()] == [
        (1, "transition", None, 2),
        (1, "hook", "APP.ANY", None),
        (2, "transition", None, 4),
        (2, "hook", "APP.FLICKER.1", None),
        (2, "hook", "APP.FLICKER.2", None),
    ]


@pytest.mark.scenario(31)
def test_params_of_an_emit_replace_those_of_its_rule_and_none_means_the_rules_own(bench: Workbench):
    data = {"z": {"deep": [1, {"x": None}]}, "a": "é", "label": "L", "description": "D"}
    params = [{"code": "P.RULE", "data": data}, {"code": "P.EMIT", "data": [1, 2]}, {"code": "P.THIRD", "data": 0}]
    emits = [{"route": "APP.OWN", "params": ["P.THIRD", "P.EMIT"]}, {"route": "APP.RULES"}, {"route": "APP.NONE", "params": []}]
    lamp(bench, policy=policy_lamp([{"state": "On", "params": ["P.RULE"], "emit": emits}], params))
    switched_on(bench)
    told = {body.get("route"): body["params"] for body in bench.bodies()}
    assert told == {
        None: [{"code": "P.RULE", "data": data}],
        "APP.OWN": [{"code": "P.THIRD", "data": 0}, {"code": "P.EMIT", "data": [1, 2]}],
        "APP.RULES": [{"code": "P.RULE", "data": data}],
        "APP.NONE": [],
    }
    assert json.dumps(told[None][0]["data"]) == json.dumps(data)


@pytest.mark.scenario(32)
def test_three_hooks_and_two_consumers_make_six_hook_events_after_two_transitions(bench: Workbench):
    lamp(bench, "c1", "c2", policy=policy_lamp([{"state": "On", "emit": emit("A.1", "A.2", "A.3")}]))
    answer = switched_on(bench)
    assert (bench.count("hook"), bench.count("hook_ack"), bench.count("ack"), bench.count("lc_ack")) == (3, 3, 4, 1)
    assert deliveries(bench) == [Delivery(consumer=consumer, kind=kind) for consumer in ("c1", "c2") for kind in ("transition", "hook", "hook", "hook")]
    assert [(message.consumer, message.kind.label, message.route, message.webhook_id) for message in bench.publisher.messages] == [
        (consumer, kind, route, guid)
        for consumer in ("c1", "c2")
        for kind, route, guid in [
            ("transition", None, answer.ack_guid),
            ("hook", "A.1", answer.hook_ack_guids[0]),
            ("hook", "A.2", answer.hook_ack_guids[1]),
            ("hook", "A.3", answer.hook_ack_guids[2]),
        ]
    ]
    assert len({answer.ack_guid, *answer.hook_ack_guids}) == 4
    assert [row["position"] for row in bench.sql("SELECT position FROM hook ORDER BY id")] == [0, 1, 2]


@pytest.mark.scenario(32)
def test_hooks_go_to_who_asked_for_their_routes(bench: Workbench):
    lamp(bench, "c1", policy=policy_lamp([{"state": "On", "emit": emit("APP.A.X", "APP.B.X", "OPS.A")}]))
    bench.register("c1", kinds=["transition"])
    bench.register("c2", kinds=["hook"], routes=["APP.A.*", "OPS.*"])
    bench.register("c3", kinds=["transition", "hook"], routes=["APP.B.X"])
    switched_on(bench)
    assert [(message.consumer, message.route) for message in bench.publisher.messages] == [
        ("c1", None),
        ("c2", "APP.A.X"),
        ("c2", "OPS.A"),
        ("c3", None),
        ("c3", "APP.B.X"),
    ]
    assert codes(bench) == []


@pytest.mark.scenario(110)
def test_hooks_that_nobody_hears_are_stored_and_said_and_the_transition_applies(bench: Workbench):
    lamp(bench, "c1", policy=policy_lamp([{"state": "On", "emit": emit("APP.HEARD", "APP.NOBODY", "OPS.NOBODY")}]))
    bench.register("c1", routes=["APP.HEARD"])
    answer = switched_on(bench)
    assert answer.applied
    assert [row["route"] for row in bench.sql("SELECT route FROM hook ORDER BY position")] == ["APP.HEARD", "APP.NOBODY", "OPS.NOBODY"]
    assert (len(answer.hook_ack_guids), bench.count("hook_ack")) == (1, 1)
    assert deliveries(bench) == [Delivery(), Delivery(kind="hook")]
    assert said(bench) == [("NO_HOOK_CONSUMER", {"routes": ["APP.NOBODY", "OPS.NOBODY"], "lifecycle_id": answer.lifecycle_id})]


@pytest.mark.scenario(91)
def test_a_policy_of_any_content_runs_as_it_is_written(bench: Workbench):
    """The engine reads no meaning into routes, labels and params, whatever they look like."""
    routes = ["select * from instance", "APP.ÜÑÎ", "a b  c", "%(ACK_ID)s %s", "'; DROP TABLE ack; --", "{}", "x" * 150]
    odd = {
        "event": 20,
        "state": "Approved",
        "if": {"amount": {">": 10}},
        "emit": ["Approve"],
        "sql": "'\"\\%",
        "n": 1.50,
        "big": 12345678901234567890,
        "": {"": []},
        "t": True,
    }
    rule = {"state": "On", "params": ["odd", "list"], "complete": {"success": "Break"}, "emit": emit(*routes, label="%s 'quoted'")}
    lamp(bench, policy=policy_lamp([rule], [{"code": "odd", "data": odd}, {"code": "list", "data": [odd, None, "x"]}]))
    switched_on(bench, actor="O'Neil %s", payload={"applied": False, "ack_guid": "mine"})
    bodies = bench.bodies()
    assert [body.get("route") for body in bodies] == [None, *routes]
    assert all(body["params"] == [{"code": "odd", "data": odd}, {"code": "list", "data": [odd, None, "x"]}] for body in bodies)
    assert {(body["actor"], body["payload"]["ack_guid"], body["to_state"]) for body in bodies} == {("O'Neil %s", "mine", "On")}
    assert [row["route"] for row in bench.sql("SELECT route FROM hook ORDER BY position")] == routes
    # The completion code is only told: the engine does not raise it.
    bench.process_all("c1")
    assert bench.count("lifecycle") == 1


@pytest.mark.scenario(115)
def test_a_payload_of_190_kilobytes_arrives_whole(bench: Workbench):
    leave(bench)
    payload = {"document": "x" * 190 * 1024}
    bench.trigger("Submit", payload=payload)
    (body,) = bench.bodies()
    assert body["payload"] == payload
    assert "payload_omitted" not in body


@pytest.mark.scenario(115)
def test_a_body_that_grows_too_large_goes_without_its_payload_and_says_so(bench: Workbench):
    leave_with_hook(bench)
    # Two bytes each in the request, six in an ASCII body.
    payload = {"document": "ü" * 60 * 1024}
    bench.trigger("Submit", payload=payload)
    assert [(body["kind"], body["payload"], body["payload_omitted"], body["to_state"]) for body in bench.bodies()] == [
        ("transition", None, True, "Submitted"),
        ("hook", None, True, "Submitted"),
    ]
    assert json.loads(bench.sql("SELECT payload FROM lifecycle_data")[0]["payload"]) == payload
    assert max(len(message.body) for message in bench.publisher.messages) <= 200 * 1024


@pytest.mark.scenario(26)
def test_an_event_without_acks_goes_once_to_who_is_live_and_leaves_no_rows(bench: Workbench):
    leave_with_hook(bench, "c1")
    bench.register("down", beat_seconds=10)
    bench.clock.advance(31)
    answer = bench.trigger("Submit", ack_required=False, request_id="r-1")
    assert (answer.applied, answer.ack_guid, answer.hook_ack_guids) == (True, None, [])
    assert [(message.consumer, message.kind.label, message.ack_id) for message in bench.publisher.messages] == [
        ("c1", "transition", None),
        ("c1", "hook", None),
    ]
    assert [body["ack_guid"] for body in bench.bodies()] == [None, None]
    hook_id = bench.sql("SELECT id FROM hook")[0]["id"]
    assert [message.webhook_id for message in bench.publisher.messages] == [f"{answer.lifecycle_id}:0", f"{answer.lifecycle_id}:{hook_id}"]
    assert [bench.count(table) for table in ("lifecycle", "hook", "ack", "lc_ack", "hook_ack", "ack_consumer")] == [1, 1, 0, 0, 0, 0]
    bench.beat("down")
    bench.clock.advance(3_600)
    bench.monitor(passes=2)
    assert len(bench.sent()) == 2
    assert bench.trigger("Submit", ack_required=False, request_id="r-1") == answer.model_copy(update={"replayed": True})
    assert len(bench.sent()) == 2


@pytest.mark.scenario(26)
def test_an_event_without_acks_waits_for_nobody_and_holds_nobody_up(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    bench.trigger(40, ack_required=False)
    bench.trigger("Approve")
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 2, "transition", 1)]
    assert deliveries(bench) == [Delivery(), held(seq=3)]
    bench.process_all("c1")
    assert bench.sent()[2:] == [("c1", 3, "transition", 1)]


@pytest.mark.scenario(26)
def test_an_event_without_acks_that_sns_does_not_take_is_only_said(bench: Workbench):
    leave(bench)
    bench.publisher.refuse = lambda _message: True
    assert bench.trigger("Submit", ack_required=False).applied
    before = everything(bench)
    bench.publisher.refuse = lambda _message: False
    bench.clock.advance(100)
    bench.monitor()
    assert everything(bench) == before
    assert (bench.sent(), codes(bench)) == ([], ["DISPATCH_FAILURE"])
    assert bench.publisher.notices[0].ack_guid is None


def test_a_down_consumer_waits_while_others_are_told(bench: Workbench):
    leave(bench, "c1")
    bench.register("down", beat_seconds=10)
    bench.clock.advance(31)
    bench.trigger("Submit")
    assert deliveries(bench) == [Delivery(due=71, first_sent=31), waiting(consumer="down", due=31)]
