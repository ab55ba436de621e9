"""SnsPublisher: what is sent, how it is cut, and what happens when SNS does not take it."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook

from tests.support.cloud import cloud
from tests.support.sns_stub import Refusal, SnsStub, attributes_of, running_stub
from workflow_engine.adapters import aws
from workflow_engine.adapters.clock import SystemClock
from workflow_engine.adapters.signing import Signer
from workflow_engine.adapters.sns import SnsPublisher
from workflow_engine.adapters.sns_batch import MAX_BYTES, BatchEntry, cut
from workflow_engine.dal import Deadline
from workflow_engine.errors import StorageError
from workflow_engine.models.enums import EventKind, NoticeCode
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.notice import LifeCycleNotice

WORK, NOTICES = "arn:aws:sns:eu-central-1:123456789012:work", "arn:aws:sns:eu-central-1:123456789012:notices"
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
HOOK = WorkMessage(
    consumer_id=7,
    consumer="billing",
    env_code=1,
    definition="Vendor",
    kind=EventKind.HOOK,
    route="APP.mail",
    instance_id=3,
    seq=1,
    ack_id=11,
    webhook_id="0b9e7c1e-0000-4000-8000-000000000001",
    body='{"kind":"hook"}',
    attempt=2,
    first_sent_at=MOMENT,
)
SOON = Deadline.after(600)
SIGNER = Signer(lambda: ["master"])


def publisher(stub: SnsStub, signer: Signer = SIGNER) -> SnsPublisher:
    return SnsPublisher(work_topic_arn=WORK, notice_topic_arn=NOTICES, signer=signer, clock=SystemClock(), client=stub.client)


def messages(*lanes: int) -> list[WorkMessage]:
    """One message a number; equal numbers share a lane."""
    return [replace(HOOK, instance_id=lane, ack_id=position, body=f"m{position}") for position, lane in enumerate(lanes)]


def failed(stub: SnsStub, sent: list[WorkMessage]) -> dict[str, str]:
    return {failure.message.body: failure.reason for failure in publisher(stub).publish(sent, SOON)}


@pytest.mark.scenario(115)
def test_a_hook_carries_ten_attributes_and_a_transition_has_no_route():
    with running_stub() as stub:
        assert publisher(stub).publish([HOOK, replace(HOOK, kind=EventKind.TRANSITION, route=None)], SOON) == []
        hook, transition = attributes_of(stub.calls[0], 1), attributes_of(stub.calls[0], 2)
    assert stub.calls[0]["TopicArn"] == WORK
    signed = {name: hook.pop(name) for name in ("webhook-timestamp", "webhook-signature")}
    assert hook == {
        "kind": "hook",
        "consumer": "billing",
        "env": "1",
        "definition": "Vendor",
        "route": "APP.mail",
        "attempt": "2",
        "first_sent_at": "2026-01-02T03:04:05.678900Z",
        "webhook-id": HOOK.webhook_id,
    }
    assert len(hook) + len(signed) == 10
    assert "route" not in transition
    assert (transition["kind"], len(transition)) == ("transition", 9)


def test_the_reference_library_accepts_our_signature_with_the_consumers_key():
    with running_stub() as stub:
        publisher(stub).publish([HOOK], SOON)
        attributes = attributes_of(stub.calls[0], 1)
    headers = {name: attributes[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
    assert Webhook(SIGNER.signing_key(7)).verify(HOOK.body, headers) == {"kind": "hook"}


@pytest.mark.scenario(115)
def test_batches_are_cut_at_ten_messages_and_keep_their_order():
    with running_stub() as stub:
        assert publisher(stub).publish(messages(*range(23)), SOON) == []
    assert [len(batch) for batch in stub.sent] == [10, 10, 3]
    assert [body for batch in stub.sent for body in batch] == [f"m{number}" for number in range(23)]


@pytest.mark.scenario(115)
@pytest.mark.parametrize(("over", "batches"), [(0, 1), (1, 2)])
def test_batches_are_cut_at_the_byte_where_sns_would_refuse(over, batches):
    small = BatchEntry(source=0, body="é", attributes={"nämé": "vé"})
    assert small.size == 2 + 6 + len("String") + 3
    large = BatchEntry(source=1, body="x" * (MAX_BYTES - small.size + over), attributes={})
    assert len(list(cut([small, large]))) == batches


@pytest.mark.parametrize("refusal", [Refusal(status=400, code="Throttling"), Refusal(status=500, code="InternalError"), Refusal(status=404, code="NotFound")])
def test_a_refused_call_is_a_failure_of_every_message_and_of_those_after_it(refusal):
    with running_stub(refusal) as stub:
        failures = failed(stub, messages(*range(25)))
    assert failures == dict.fromkeys([f"m{number}" for number in range(25)], refusal.code)
    assert len(stub.calls) == 1


def test_a_batch_that_sns_dislikes_is_sent_again_one_by_one_so_that_no_neighbour_suffers():
    with running_stub(Refusal(status=400, code="InvalidParameter")) as stub:
        failures = failed(stub, messages(*range(12)))
    assert (failures, len(stub.calls)) == ({}, 1 + 10 + 1)


def test_a_message_that_sns_dislikes_alone_is_at_fault_itself_and_an_outage_is_not():
    with running_stub(Refusal(status=400, code="InvalidParameter"), Refusal(status=400, code="Throttling")) as stub:
        told = [[failure.is_own_fault for failure in publisher(stub).publish(messages(1), SOON)] for _ in range(2)]
    assert told == [[True], [False]]


def test_what_sns_did_not_take_of_a_batch_is_reported_and_the_rest_is_sent():
    with running_stub({"m3", "m5"}) as stub:
        assert failed(stub, messages(*range(12))) == {"m3": "InternalError", "m5": "InternalError"}
    assert len(stub.calls) == 2


@pytest.mark.scenario(120)
def test_a_lane_waits_behind_its_refused_message_and_other_lanes_go_on():
    lanes = [1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 1, 2, 3]
    with running_stub({"m1"}) as stub:
        failures = failed(stub, messages(*lanes))
    assert list(failures) == ["m1", "m10"]
    assert stub.sent[1] == ["m11", "m12"]


def test_an_outage_is_told_from_a_refusal_of_some_messages():
    with running_stub(Refusal(status=400, code="Throttling"), Refusal(status=400, code="InvalidParameter"), {"m0"}) as stub:
        told = [{failure.is_outage for failure in publisher(stub).publish(messages(1), SOON)} for _ in range(3)]
    assert told == [{True}, {False}, {False}]


def test_an_event_without_ack_does_not_wait():
    sent = messages(*[1] * 11)
    sent[10] = replace(sent[10], ack_id=None)
    with running_stub({"m0"}) as stub:
        assert list(failed(stub, sent)) == ["m0"]


def test_an_sns_that_cannot_be_reached_fails_all_messages():
    with running_stub() as stub:
        pass
    assert set(failed(stub, messages(1, 2)).values()) == {"EndpointConnectionError"}


def test_without_its_signing_key_nothing_is_sent():
    def no_key() -> list[str]:
        raise StorageError("the secret cannot be read")

    with running_stub() as stub:
        failures = publisher(stub, Signer(no_key)).publish(messages(1, 2), SOON)
    assert [failure.reason for failure in failures] == ["the secret cannot be read"] * 2
    assert stub.calls == []


def test_a_fault_that_is_not_of_sns_reaches_the_engine():
    with running_stub() as stub, pytest.raises(AttributeError):
        publisher(stub).publish([replace(HOOK, first_sent_at=None)], SOON)  # type: ignore[arg-type]


def test_a_notice_carries_only_the_attributes_it_has_and_its_failure_is_only_logged(caplog):
    full = LifeCycleNotice(code=NoticeCode.ACK_RETRY, occurred_at=MOMENT, env_code=0, consumer="billing")
    bare = LifeCycleNotice(code=NoticeCode.MONITOR_ERROR, occurred_at=MOMENT)
    with running_stub(set(), Refusal(status=400, code="Throttling"), {bare.json_body()}) as stub:
        outlet = publisher(stub)
        outlet.publish_notices([full, bare], Deadline.after(60))
        outlet.publish_notices([full], Deadline.after(60))
        outlet.publish_notices([bare], Deadline.after(60))
    assert stub.calls[0]["TopicArn"] == NOTICES
    assert attributes_of(stub.calls[0], 1) == {"code": "ACK_RETRY", "kind": "Warn", "env": "0", "consumer": "billing"}
    assert attributes_of(stub.calls[0], 2) == {"code": "MONITOR_ERROR", "kind": "Error"}
    assert json.loads(stub.sent[0][0])["code"] == "ACK_RETRY"
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"].count("notice was not published") == 2


def test_an_sns_that_is_out_is_not_asked_again_for_every_ten_notices():
    notices = [LifeCycleNotice(code=NoticeCode.ACK_RETRY, occurred_at=MOMENT, env_code=number) for number in range(35)]
    with running_stub(Refusal(status=500, code="InternalError")) as stub:
        publisher(stub).publish_notices(notices, Deadline.after(60))
    assert len(stub.calls) == 1


def test_a_notice_that_cannot_even_be_written_never_reaches_the_caller(caplog):
    broken = LifeCycleNotice(code=NoticeCode.ACK_RETRY, occurred_at=MOMENT, data={"x": object()})
    with running_stub() as stub:
        publisher(stub).publish_notices([broken], Deadline.after(60))
    assert "notices were not published" in caplog.text


def test_without_time_for_a_call_nothing_more_is_sent():
    with running_stub() as stub:
        failures = publisher(stub).publish(messages(1, 2), Deadline.after(5))
    assert [failure.reason for failure in failures] == ["NoTimeLeft"] * 2
    assert stub.calls == []


def test_nothing_to_send_calls_nobody():
    with running_stub() as stub:
        assert publisher(stub).publish([], SOON) == []
        publisher(stub).publish_notices([], Deadline.after(60))
    assert stub.calls == []


def test_the_sandboxes_client_has_short_limits(monkeypatch):
    with cloud(monkeypatch):
        config = aws.client("sns").meta.config
    assert (config.connect_timeout, config.read_timeout, config.retries["total_max_attempts"]) == (1, 3, 2)


def test_notices_are_not_begun_without_the_time_to_end(caplog):
    with running_stub() as stub:
        publisher(stub).publish_notices([LifeCycleNotice(code=NoticeCode.ACK_RETRY, occurred_at=MOMENT)], Deadline.after(3))
    assert (stub.calls, "no time is left to publish notices" in caplog.text) == ([], True)
