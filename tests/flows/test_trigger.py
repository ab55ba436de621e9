"""An event that applies: what is written, sent and answered."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from tests.support.engine import START, Workbench
from tests.support.facts import Delivery, codes, deliveries, everything, stands, steps
from tests.support.scenes import definition_lamp, leave, leave_with_hook
from workflow_engine.errors import NotFoundError
from workflow_engine.models.enums import StateDueKind
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.instance import EventView
from workflow_engine.models.trigger import LifeCycleTriggerRequest, LifeCycleTriggerResult

DAY = 86_400


@pytest.mark.scenario(14)
def test_the_first_event_makes_the_instance_and_moves_it_from_its_initial_state(bench: Workbench):
    leave(bench, "c1", "c2")
    answer = bench.trigger("Submit", "VENDOR-1", actor="ann", payload={"days": 3})
    assert steps(bench, "VENDOR-1") == [(1, "Draft", 10, "Submitted")]
    assert stands(bench, "VENDOR-1") == {
        "state": "Submitted",
        "flags": LifeCycleInstanceFlag.ACTIVE,
        "seq": 1,
        "suspended_by": None,
        "message": None,
        "state_entered_at": 0,
        "stale_at": DAY,
        "state_due_kind": StateDueKind.STALE,
        "state_due_at": DAY,
    }
    (row,) = bench.sql(
        "SELECT i.guid, l.id AS lifecycle_id, a.guid AS ack_guid FROM instance i JOIN lifecycle l ON l.instance_id = i.id "
        "JOIN lc_ack la ON la.lifecycle_id = l.id JOIN ack a ON a.id = la.ack_id"
    )
    assert answer == LifeCycleTriggerResult(
        applied=True,
        reason=None,
        replayed=False,
        instance_guid=row["guid"],
        external_ref="VENDOR-1",
        definition="Leave",
        def_version=1,
        from_state="Draft",
        to_state="Submitted",
        current_state="Submitted",
        event=EventView(code=10, name="Submit"),
        lifecycle_id=row["lifecycle_id"],
        seq=1,
        ack_guid=row["ack_guid"],
        hook_ack_guids=[],
    )
    assert bench.sql("SELECT lifecycle_id, actor, request_id, payload FROM lifecycle_data") == [
        {"lifecycle_id": answer.lifecycle_id, "actor": "ann", "request_id": None, "payload": '{"days": 3}'}
    ]


@pytest.mark.scenario(14)
def test_every_consumer_gets_a_row_and_a_message_of_the_one_ack(bench: Workbench):
    leave(bench, "c1", "c2")
    answer = bench.trigger("Submit")
    assert deliveries(bench) == [Delivery(consumer="c1"), Delivery(consumer="c2")]
    assert bench.count("ack") == bench.count("lc_ack") == 1
    assert bench.sent() == [("c1", 1, "transition", 1), ("c2", 1, "transition", 1)]
    assert {message.webhook_id for message in bench.publisher.messages} == {answer.ack_guid}
    assert {message.body for message in bench.publisher.messages} == {bench.sql("SELECT body FROM ack")[0]["body"]}
    assert codes(bench) == []


@pytest.mark.scenario(15)
@pytest.mark.parametrize("event", [10, "10", " 10 ", "010", "Submit", "submit", " SUBMIT "], ids=repr)
def test_an_event_is_found_by_code_digits_or_name_without_case(bench: Workbench, event: int | str):
    leave(bench)
    answer = bench.trigger(event)
    assert (answer.applied, answer.event) == (True, EventView(code=10, name="Submit"))
    assert steps(bench) == [(1, "Draft", 10, "Submitted")]


@pytest.mark.scenario(15)
@pytest.mark.parametrize("def_name", ["Leave", "leave", " LEAVE "], ids=repr)
def test_a_definition_is_found_trimmed_and_without_case_and_shown_as_authored(bench: Workbench, def_name: str):
    leave(bench)
    assert bench.trigger("Submit", def_name=def_name).definition == "Leave"


def test_external_refs_are_compared_exactly(bench: Workbench):
    leave(bench)
    refs = ["a", "A", "a ", " a", "á", "a\u0301"]
    guids = [bench.trigger("Submit", ref).instance_guid for ref in refs]
    assert len(set(guids)) == len(refs)
    assert [row["external_ref"].decode() for row in bench.sql("SELECT external_ref FROM instance ORDER BY id")] == refs


def test_an_instance_can_be_named_by_its_guid(bench: Workbench):
    leave(bench, "c1", "c2")
    first = bench.trigger("Submit", "R-9")
    second = bench.trigger("Approve", instance_guid=first.instance_guid)
    assert (second.instance_guid, second.external_ref, second.definition, second.current_state) == (first.instance_guid, "R-9", "Leave", "Approved")
    assert steps(bench, "R-9") == [(1, "Draft", 10, "Submitted"), (2, "Submitted", 20, "Approved")]


def test_an_unknown_guid_or_definition_is_an_error_and_writes_nothing(bench: Workbench):
    leave(bench)
    before = everything(bench)
    for place, code in (
        ({"instance_guid": "0" * 36}, "INSTANCE_NOT_FOUND"),
        ({"def_name": "Holiday"}, "DEFINITION_NOT_FOUND"),
        ({"env_code": 2}, "DEFINITION_NOT_FOUND"),
    ):
        with pytest.raises(NotFoundError) as caught:
            bench.trigger("Submit", **place)
        assert caught.value.code == code
    assert everything(bench) == before
    assert (codes(bench), bench.sent()) == ([], [])


def test_a_definition_that_was_unknown_is_found_once_it_is_imported(bench: Workbench):
    other = bench.another()
    bench.register("c1")
    with pytest.raises(NotFoundError):
        other.trigger("Submit")
    leave(bench)
    assert other.trigger("Submit").applied


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"env_code": 1, "def_name": "Leave"},
        {"env_code": 1, "def_name": "Leave", "external_ref": "R", "instance_guid": "0" * 36},
        {"env_code": 1, "def_name": "Leave", "external_ref": "R", "request_id": "timeout:1:1"},
        {"env_code": 1, "def_name": "Leave", "external_ref": "R" * 201},
        {"env_code": 1, "def_name": "Leave", "external_ref": "R", "occurred_at": "2026-01-01T12:00:00"},
        {"env_code": 1, "def_name": "Leave", "external_ref": "R", "occurred_at": "0999-12-31T23:59:59Z"},
        {"env_code": 1, "def_name": "Leave", "external_ref": "R", "occurred_at": "0001-01-01T00:00:00+14:00"},
        {"env_code": 1, "def_name": "Leave", "external_ref": "R", "occurred_at": "9999-12-31T23:59:59-14:00"},
    ],
)
def test_a_request_that_names_no_instance_a_reserved_id_or_an_impossible_time_is_refused(fields: dict[str, object]):
    with pytest.raises(ValidationError):
        LifeCycleTriggerRequest.model_validate({"event": "Submit", **fields})


@pytest.mark.scenario(38)
def test_a_time_in_the_past_is_shown_while_the_order_is_that_of_arrival(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    bench.clock.advance(10)
    bench.trigger("Approve", occurred_at=START - timedelta(days=3))
    rows = bench.sql("SELECT seq, occurred_at, created FROM lifecycle ORDER BY seq")
    assert [(row["seq"], row["occurred_at"].replace(tzinfo=UTC) - START, row["created"].replace(tzinfo=UTC) - START) for row in rows] == [
        (1, timedelta(0), timedelta(0)),
        (2, timedelta(days=-3), timedelta(seconds=10)),
    ]
    bench.process_all("c1")
    assert [body["occurred_at"] for body in bench.bodies()] == ["2026-01-01T12:00:00.000000Z", "2025-12-29T12:00:00.000000Z"]
    # The stay begins when the engine learns of it: an old time must not make a state stale at once.
    assert stands(bench)["state_entered_at"] == 10


@pytest.mark.scenario(38)
def test_a_time_with_another_zone_means_the_same_moment_in_the_table_and_in_the_event(bench: Workbench):
    leave(bench)
    bench.trigger("Submit", occurred_at=datetime(2026, 1, 1, 15, 30, tzinfo=timezone(timedelta(hours=5, minutes=30))))
    assert bench.sql("SELECT occurred_at FROM lifecycle") == [{"occurred_at": datetime(2026, 1, 1, 10, 0)}]  # noqa: DTZ001  # as the column has it
    assert bench.bodies()[0]["occurred_at"] == "2026-01-01T10:00:00.000000Z"


def test_entering_a_final_state_completes_the_instance_and_leaves_nothing_due(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    bench.clock.advance(5)
    bench.trigger("Approve")
    assert stands(bench) == {
        "state": "Approved",
        "flags": LifeCycleInstanceFlag.COMPLETED,
        "seq": 2,
        "suspended_by": None,
        "message": None,
        "state_entered_at": 5,
        "stale_at": None,
        "state_due_kind": None,
        "state_due_at": None,
    }


def test_entering_a_state_with_a_timeout_makes_the_instance_due_after_it(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    bench.clock.advance(5)
    bench.trigger(40)
    found = stands(bench)
    assert (found["state"], found["state_due_kind"], found["state_due_at"], found["stale_at"]) == ("Review", StateDueKind.TIMEOUT, 5 + 3600, 5 + DAY)


@pytest.mark.scenario(11)
def test_environments_have_instances_and_listeners_of_their_own(bench: Workbench):
    leave(bench, "c1")
    bench.import_(definition_lamp(), env_code=2)
    bench.register("c1", env_code=2)
    bench.trigger("Switch on", "R-1", def_name="Lamp", env_code=2)
    assert [(body["env_code"], body["definition"]) for body in bench.bodies()] == [(2, "Lamp")]
    with pytest.raises(NotFoundError):
        bench.trigger("Switch on", "R-1", def_name="Lamp", env_code=1)


def test_one_event_by_a_listener_to_another_definition_is_not_heard(bench: Workbench):
    leave_with_hook(bench, "c1")
    bench.register("c2", definitions=["Lamp"])
    bench.register("c3", definitions=[" LEAVE "], kinds=["hook"])
    bench.trigger("Submit")
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 1, "hook", 1), ("c3", 1, "hook", 1)]
