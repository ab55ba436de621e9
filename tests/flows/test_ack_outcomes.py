"""A consumer's word on its row: Delivered, Processed, Failed, Retry, and what may be said twice."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.engine import PRINCIPAL, START, Workbench
from tests.support.facts import PROFILES, Delivery, codes, deliveries, everything, said
from tests.support.scenes import leave, leave_with_hook
from workflow_engine.errors import InvalidRequestError, NotFoundError, NotOwnerError
from workflow_engine.models.ack import AckAnswer, AckRequest
from workflow_engine.models.enums import NoticeKind

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(params=PROFILES.values(), ids=PROFILES.keys())
def timed(request: pytest.FixtureRequest, make_bench: Any) -> Workbench:
    """L with one consumer, in both profiles of resend windows."""
    bench = make_bench(**request.param)
    leave(bench)
    return bench


@pytest.mark.scenario(39)
def test_delivered_opens_the_second_stage_and_is_not_resent_before_its_window(timed: Workbench):
    window = timed.options.ack_delivered_resend_seconds
    guid = timed.trigger("Submit").ack_guid
    timed.clock.advance(7)
    answer = timed.ack(guid, "Delivered")
    assert answer == AckAnswer(ack_guid=guid, result="applied", status="Delivered", next_due=START + timedelta(seconds=7 + window), error=None)
    assert deliveries(timed) == [Delivery(status="DELIVERED", due=7 + window, attempts=0, delivered=7)]
    timed.clock.advance(window - 1)
    timed.monitor()
    assert (timed.sent(), codes(timed)) == ([("c1", 1, "transition", 1)], [])
    timed.clock.advance(1)
    timed.monitor()
    assert timed.sent()[1:] == [("c1", 1, "transition", 2)]
    assert codes(timed) == ["ACK_RETRY"]


@pytest.mark.scenario(40)
@pytest.mark.parametrize("is_delivered_first", [True, False])
def test_processed_closes_the_row_for_good(timed: Workbench, *, is_delivered_first: bool):
    guid = timed.trigger("Submit").ack_guid
    timed.clock.advance(3)
    if is_delivered_first:
        timed.ack(guid, "Delivered")
    timed.clock.advance(4)
    answer = timed.ack(guid, "Processed")
    assert answer == AckAnswer(ack_guid=guid, result="applied", status="Processed", next_due=None, error=None)
    # Processed implies Delivered.
    row = Delivery(status="PROCESSED", due=None, attempts=0 if is_delivered_first else 1, delivered=3 if is_delivered_first else 7, processed=7)
    assert deliveries(timed) == [row]
    timed.clock.advance(days=3)
    timed.monitor(passes=2)
    assert timed.sent() == [("c1", 1, "transition", 1)]
    assert deliveries(timed) == [row]


@pytest.mark.scenario(41)
def test_failed_closes_the_row_keeps_the_message_and_suspends_nothing(timed: Workbench):
    guid = timed.trigger("Submit").ack_guid
    timed.clock.advance(2)
    answer = timed.ack(guid, "Failed", message="no such vendor: 'ü' %s")
    assert answer == AckAnswer(ack_guid=guid, result="applied", status="Failed", next_due=None, error=None)
    row = Delivery(status="FAILED", due=None, message="no such vendor: 'ü' %s")
    assert deliveries(timed) == [row]
    assert said(timed) == [
        ("CONSUMER_FAILURE", {"kind": "transition", "outcome": "Failed", "status": "Failed", "message": "no such vendor: 'ü' %s", "seq": 1, "retry_at": None})
    ]
    (notice,) = timed.publisher.notices
    assert (notice.code.kind, notice.external_ref, notice.consumer, notice.ack_guid) == (NoticeKind.WARN, "R-1", "c1", guid)
    timed.clock.advance(days=2)
    timed.monitor(passes=2)
    assert deliveries(timed) == [row]
    assert timed.trigger("Approve").applied


@pytest.mark.scenario(42)
def test_retry_without_a_time_is_due_after_the_pending_window(timed: Workbench):
    window = timed.options.ack_pending_resend_seconds
    guid = timed.trigger("Submit").ack_guid
    timed.clock.advance(5)
    answer = timed.ack(guid, "Retry", message="busy")
    assert answer == AckAnswer(ack_guid=guid, result="applied", status="Pending", next_due=START + timedelta(seconds=5 + window), error=None)
    assert deliveries(timed) == [Delivery(due=5 + window, retries=1, last_retry=5, message="busy")]
    timed.clock.advance(window - 1)
    timed.monitor()
    assert len(timed.sent()) == 1
    timed.clock.advance(1)
    timed.monitor()
    assert timed.sent()[1:] == [("c1", 1, "transition", 2)]


@pytest.mark.scenario(42)
@pytest.mark.parametrize("retry_at", ["2026-01-01T13:00:00Z", "2026-01-01T18:30:00+05:30", "2026-01-01T08:00:00-05:00"])
def test_retry_with_a_time_is_due_exactly_then_whatever_its_zone(timed: Workbench, retry_at: str):
    guid = timed.trigger("Submit").ack_guid
    answer = timed.ack(guid, "Retry", retry_at=retry_at)
    assert answer.model_dump(mode="json")["next_due"] == "2026-01-01T13:00:00.000000Z"
    assert deliveries(timed) == [Delivery(due=3600, retries=1, last_retry=0)]
    timed.clock.advance(3599)
    timed.monitor()
    assert len(timed.sent()) == 1
    timed.clock.advance(1)
    timed.monitor()
    assert timed.sent()[1:] == [("c1", 1, "transition", 2)]


@pytest.mark.scenario(42)
def test_retries_are_counted_and_a_retry_of_a_delivered_event_is_pending_again(timed: Workbench):
    window = timed.options.ack_pending_resend_seconds
    guid = timed.trigger("Submit").ack_guid
    timed.ack(guid, "Delivered")
    timed.clock.advance(1)
    timed.ack(guid, "Retry")
    timed.clock.advance(1)
    timed.ack(guid, "Retry", message="still busy")
    assert deliveries(timed) == [Delivery(due=2 + window, attempts=0, retries=2, last_retry=2, delivered=0, message="still busy")]


def test_a_later_word_keeps_the_time_of_the_last_retry(bench: Workbench):
    leave(bench)
    guid = bench.trigger("Submit").ack_guid
    bench.clock.advance(3)
    bench.ack(guid, "Retry", message="busy")
    bench.clock.advance(3)
    bench.ack(guid, "Processed", message="done")
    assert deliveries(bench) == [Delivery(status="PROCESSED", due=None, retries=1, last_retry=3, delivered=6, processed=6, message="done")]


def test_a_retry_more_than_seven_days_ahead_is_refused(bench: Workbench):
    leave(bench)
    guid = bench.trigger("Submit").ack_guid
    before = everything(bench)
    limit = START + timedelta(days=7)
    with pytest.raises(InvalidRequestError):
        bench.ack(guid, "Retry", retry_at=limit + timedelta(microseconds=1))
    assert everything(bench) == before
    assert bench.ack(guid, "Retry", retry_at=limit).next_due == limit


@pytest.mark.parametrize("outcome", ["delivered", " PROCESSED ", "fAiLeD", "retry"])
def test_outcomes_are_read_without_case(bench: Workbench, outcome: str):
    leave(bench)
    assert bench.ack(bench.trigger("Submit").ack_guid, outcome).result == "applied"


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "Done"},
        {"ack_guid": "short"},
        {"consumer": None},
        {"env_code": None},
        {"consumer_id": 1},
        {"acks": [{"ack_guid": UNKNOWN, "outcome": "Delivered"}]},
        {"outcome": "Delivered", "retry_at": "2026-01-01T13:00:00Z"},
        {"retry_at": "2026-01-01T13:00:00"},
        {"message": "x" * 501},
        {"more": 1},
    ],
    ids=repr,
)
def test_a_malformed_ack_is_refused(change: dict[str, Any]):
    body = {"env_code": 1, "consumer": "c1", "ack_guid": UNKNOWN, "outcome": "Retry"}
    with pytest.raises(ValidationError):
        AckRequest.model_validate(body | change)


@pytest.mark.scenario(43)
def test_an_ack_by_id_equals_an_ack_by_name(bench: Workbench):
    leave(bench, "c1", "c2")
    guid = bench.trigger("Submit").ack_guid
    consumer_id = bench.register("c2")
    by_name = bench.ack(guid, "Delivered", "c1")
    by_id = bench.engine.ack(AckRequest.model_validate({"consumer_id": consumer_id, "ack_guid": guid, "outcome": "Delivered"}), PRINCIPAL, bench.deadline())
    assert by_id == by_name
    assert deliveries(bench) == [Delivery(consumer=name, status="DELIVERED", due=240, attempts=0, delivered=0) for name in ("c1", "c2")]


@pytest.mark.scenario(43)
@pytest.mark.parametrize(
    ("who", "code"),
    [
        ({"consumer": "c9"}, "CONSUMER_NOT_FOUND"),
        ({"consumer": "C1"}, "CONSUMER_NOT_FOUND"),
        ({"consumer": "c1", "env_code": 2}, "CONSUMER_NOT_FOUND"),
        ({"consumer_id": 999_999_999}, "CONSUMER_NOT_FOUND"),
    ],
    ids=repr,
)
def test_an_unknown_consumer_is_an_error_and_is_not_created(bench: Workbench, who: dict[str, Any], code: str):
    leave(bench)
    guid = bench.trigger("Submit").ack_guid
    before = everything(bench)
    env = {} if "consumer_id" in who else {"env_code": 1}
    with pytest.raises(NotFoundError) as caught:
        bench.engine.ack(AckRequest.model_validate(env | who | {"ack_guid": guid, "outcome": "Processed"}), PRINCIPAL, bench.deadline())
    assert caught.value.code == code
    assert everything(bench) == before


@pytest.mark.scenario(43)
def test_an_unknown_guid_or_one_addressed_to_somebody_else_is_an_error_and_changes_nothing(bench: Workbench):
    leave_with_hook(bench, "c1")
    bench.register("observer", kinds=["transition"])
    answer = bench.trigger("Submit")
    before = everything(bench)
    for guid, consumer in ((UNKNOWN, "c1"), (answer.hook_ack_guids[0], "observer")):
        with pytest.raises(NotFoundError) as caught:
            bench.ack(guid, "Processed", consumer)
        assert caught.value.code == "ACK_NOT_FOUND"
    assert everything(bench) == before
    assert codes(bench) == []


@pytest.mark.scenario(113)
def test_only_the_owner_and_named_principals_ack_and_others_learn_nothing(bench: Workbench):
    leave(bench)
    bench.register("c1", principals=["iam:1:role/worker"])
    guid = bench.trigger("Submit").ack_guid
    before = everything(bench)
    for known in (guid, UNKNOWN):
        with pytest.raises(NotOwnerError):
            bench.engine.ack(
                AckRequest.model_validate({"env_code": 1, "consumer": "c1", "ack_guid": known, "outcome": "Failed"}), "iam:1:role/other", bench.deadline()
            )
    assert everything(bench) == before
    bench.engine.ack(
        AckRequest.model_validate({"env_code": 1, "consumer": "c1", "ack_guid": guid, "outcome": "Processed"}), "iam:1:role/worker", bench.deadline()
    )
    assert deliveries(bench) == [Delivery(status="PROCESSED", due=None, delivered=0, processed=0)]


def test_a_consumer_registered_anew_under_the_name_of_a_deleted_one_is_another(bench: Workbench):
    leave(bench, "c1", "c2")
    sandbox = bench.another()
    first = bench.trigger("Submit")
    sandbox.ack(first.ack_guid, "Delivered", "c1")
    bench.engine.delete_consumer(1, "c1", PRINCIPAL, bench.deadline())
    with pytest.raises(NotFoundError) as gone:
        sandbox.ack(first.ack_guid, "Processed", "c1")
    assert gone.value.code == "CONSUMER_NOT_FOUND"
    bench.register("c1")
    second = bench.trigger("Approve")
    assert sandbox.ack(second.ack_guid, "Processed", "c1").result == "applied"
    with pytest.raises(NotFoundError) as caught:
        sandbox.ack(first.ack_guid, "Processed", "c1")
    assert caught.value.code == "ACK_NOT_FOUND"


@pytest.mark.scenario(44)
@pytest.mark.parametrize("outcome", ["Delivered", "Processed", "Failed", "Retry"])
def test_one_consumers_word_leaves_the_rows_of_others_alone(bench: Workbench, outcome: str):
    leave_with_hook(bench, "c1", "c2")
    answer = bench.trigger("Submit")
    before = [row for row in deliveries(bench) if row.consumer == "c2"]
    bench.clock.advance(5)
    bench.ack(answer.ack_guid, outcome, "c1")
    assert [row for row in deliveries(bench) if row.consumer == "c2"] == before
    assert [row for row in deliveries(bench) if row.consumer == "c1"][1] == Delivery(kind="hook")


@pytest.mark.scenario(45)
@pytest.mark.parametrize(("closed", "repeated"), [("Processed", "Processed"), ("Processed", "Delivered"), ("Failed", "Failed")])
def test_saying_the_same_again_is_a_quiet_success(bench: Workbench, closed: str, repeated: str):
    leave(bench)
    guid = bench.trigger("Submit").ack_guid
    bench.ack(guid, closed, message="first")
    before, noticed = everything(bench), codes(bench)
    bench.clock.advance(9)
    answers = [bench.ack(guid, repeated, message="again") for _ in range(3)]
    assert answers == [AckAnswer(ack_guid=guid, result="unchanged", status=closed, next_due=None, error=None)] * 3
    assert everything(bench) == before
    assert codes(bench) == noticed


@pytest.mark.scenario(45)
def test_delivered_again_moves_nothing(bench: Workbench):
    leave(bench)
    guid = bench.trigger("Submit").ack_guid
    first = bench.ack(guid, "Delivered")
    before = everything(bench)
    bench.clock.advance(100)
    assert bench.ack(guid, "Delivered") == first.model_copy(update={"result": "unchanged"})
    assert everything(bench) == before
    assert codes(bench) == []


@pytest.mark.scenario(45)
@pytest.mark.parametrize(
    ("closed", "contradiction"), [("Processed", "Failed"), ("Processed", "Retry"), ("Failed", "Processed"), ("Failed", "Delivered"), ("Failed", "Retry")]
)
def test_a_contradiction_of_a_closed_row_is_ignored_and_said(bench: Workbench, closed: str, contradiction: str):
    leave(bench)
    guid = bench.trigger("Submit").ack_guid
    bench.ack(guid, closed)
    before, noticed = everything(bench), codes(bench)
    answer = bench.ack(guid, contradiction, message="but")
    assert answer == AckAnswer(ack_guid=guid, result="stale", status=closed, next_due=None, error=None)
    assert everything(bench) == before
    assert codes(bench) == [*noticed, "STALE_ACK"]
    stale = bench.noticed("STALE_ACK")[0]
    assert stale.data == {"kind": "transition", "outcome": contradiction, "status": closed, "message": "but", "seq": 1, "retry_at": None}
    assert (stale.ack_guid, stale.consumer, stale.external_ref) == (guid, "c1", "R-1")


@pytest.mark.scenario(82)
def test_two_consumers_hear_the_fact_and_only_the_first_to_trigger_moves_the_state(bench: Workbench):
    leave(bench, "decider", "observer")
    submitted = bench.trigger("Submit")
    for consumer in ("decider", "observer"):
        bench.ack(submitted.ack_guid, "Processed", consumer)
    first = bench.trigger("Approve", actor="decider")
    second = bench.trigger("Approve", actor="observer")
    assert (first.applied, second.applied, second.reason) == (True, False, "InstanceIsTerminal")
    assert bench.sql("SELECT l.seq, d.actor FROM lifecycle l JOIN lifecycle_data d ON d.lifecycle_id = l.id ORDER BY l.seq") == [
        {"seq": 1, "actor": None},
        {"seq": 2, "actor": "decider"},
    ]
    assert bench.sent()[2:] == [("decider", 2, "transition", 1), ("observer", 2, "transition", 1)]
