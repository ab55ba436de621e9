"""Events read again by those they were sent to."""

import json
from uuid import uuid4

import pytest

from tests.support.documents import definition_l
from tests.support.engine import PRINCIPAL, Workbench
from tests.support.reads import Reads
from tests.support.rows import Rows
from tests.support.scenes import leave, leave_with_hook
from workflow_engine.errors import NotFoundError, NotOwnerError
from workflow_engine.models.ack_view import AckEvent
from workflow_engine.models.enums import AckStatus


def test_the_event_is_the_one_that_was_sent(bench: Workbench, reads: Reads):
    leave_with_hook(bench, "c1")
    step = bench.trigger("Submit", payload={"z": 1, "a": [1.5, None, "ä"]})
    sent = {message.webhook_id: json.loads(message.body) for message in bench.publisher.messages}
    for ack_guid in (step.ack_guid, *step.hook_ack_guids):
        assert reads.ack(ack_guid or "") == AckEvent(ack_guid=ack_guid or "", consumer="c1", status="Pending", event=sent[ack_guid or ""])


def test_the_status_is_the_consumers_own(bench: Workbench, reads: Reads):
    leave(bench, "c1", "c2")
    ack_guid = bench.trigger("Submit").ack_guid or ""
    bench.ack(ack_guid, "Processed", "c1")
    assert (reads.ack(ack_guid, "c1").status, reads.ack(ack_guid, "c2").status) == ("Processed", "Pending")


@pytest.mark.scenario(115)
def test_a_payload_that_the_message_left_out_is_put_in(bench: Workbench, reads: Reads):
    leave_with_hook(bench, "c1")
    payload = {"text": "ä" * 60_000, "n": 7}
    step = bench.trigger("Submit", payload=payload)
    for message in bench.publisher.messages:
        assert json.loads(message.body)["payload_omitted"] is True
        event = reads.ack(message.webhook_id).event
        assert event["payload"] == payload
        assert "payload_omitted" not in event
        assert {**event, "payload": None, "payload_omitted": True} == json.loads(message.body)
    assert step.applied


def test_a_payload_of_null_that_was_left_out_stays_null(rows: Rows, reads: Reads):
    instance, consumer = rows.instance(rows.definition()), rows.consumer()
    rows.step(instance)
    ack = rows.ack(instance, [consumer], body=json.dumps({"seq": 1, "payload": None, "payload_omitted": True}))
    assert reads.ack(ack.guid).event == {"seq": 1, "payload": None}


@pytest.mark.parametrize(("status", "shown"), [(AckStatus.HELD, "Pending"), (AckStatus.PARKED, "Failed"), (AckStatus.SUSPENDING, "Failed")])
def test_the_engines_own_statuses_are_shown_as_the_four(rows: Rows, reads: Reads, status: AckStatus, shown: str):
    instance, consumer = rows.instance(rows.definition()), rows.consumer()
    rows.step(instance)
    assert reads.ack(rows.ack(instance, [consumer], status).guid).status == shown


def test_only_the_owner_and_who_was_named_with_the_consumer_may_read(bench: Workbench, reads: Reads):
    bench.import_(definition_l())
    bench.register("c1", principals=["helper"])
    ack_guid = bench.trigger("Submit").ack_guid or ""
    assert reads.ack(ack_guid, principal=PRINCIPAL) == reads.ack(ack_guid, principal="helper")
    with pytest.raises(NotOwnerError) as refused:
        reads.ack(ack_guid, principal="stranger")
    assert refused.value.code == "NOT_OWNER"
    with pytest.raises(NotOwnerError):
        reads.ack(str(uuid4()), principal="stranger")


def test_what_is_not_there_or_not_addressed_is_not_found(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    ack_guid = bench.trigger("Submit").ack_guid or ""
    bench.register("late")
    cases = {("nobody", ack_guid, 1): "CONSUMER_NOT_FOUND", ("c1", ack_guid, 2): "CONSUMER_NOT_FOUND", ("C1", ack_guid, 1): "CONSUMER_NOT_FOUND"}
    cases |= {("late", ack_guid, 1): "ACK_NOT_FOUND", ("c1", str(uuid4()), 1): "ACK_NOT_FOUND"}
    for (consumer, guid, env_code), code in cases.items():
        with pytest.raises(NotFoundError) as refused:
            reads.ack(guid, consumer, env_code=env_code)
        assert refused.value.code == code


def test_a_deleted_consumer_reads_nothing(bench: Workbench, reads: Reads):
    leave(bench, "c1", "c2")
    ack_guid = bench.trigger("Submit").ack_guid or ""
    bench.engine.delete_consumer(1, "c1", PRINCIPAL, bench.deadline())
    with pytest.raises(NotFoundError) as refused:
        reads.ack(ack_guid, "c1")
    assert refused.value.code == "CONSUMER_NOT_FOUND"


@pytest.mark.scenario(81)
def test_a_late_consumer_gets_the_events_of_states_already_left_in_order_and_finds_where_the_instance_is(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    bench.register("late", beat_seconds=10)
    bench.clock.advance(60)
    bench.trigger("Submit")
    bench.trigger(40)
    guid = bench.trigger("Approve").instance_guid
    bench.process_all("c1")
    assert bench.sent("late") == []
    bench.beat("late")
    seen = []
    for _ in range(3):
        bench.monitor()
        message = next(one for one in reversed(bench.publisher.messages) if one.consumer == "late")
        event = reads.ack(message.webhook_id, "late").event
        seen.append((event["seq"], event["to_state"], reads.instance(guid).current_state))
        bench.ack(message.webhook_id, "Processed", "late")
    assert seen == [(1, "Submitted", "Approved"), (2, "Review", "Approved"), (3, "Approved", "Approved")]
    assert [seq for _, seq, _, _ in bench.sent("late")] == [1, 2, 3]
    assert reads.why(guid).open == []
