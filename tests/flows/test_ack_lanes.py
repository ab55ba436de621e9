"""Lanes: per consumer and instance, events are first sent in order, and an answer lets the next one go at once."""

from typing import Any

import pytest

from tests.support.engine import START, Workbench
from tests.support.facts import Delivery, deliveries, delivery, held, lost_in_lanes, waiting
from tests.support.scenes import lamp, leave, leave_with_hook, policy_lamp, resume, suspend
from workflow_engine.models.trigger import LifeCycleTriggerResult

HOOKS = policy_lamp([{"state": "On", "emit": [{"route": "APP.1"}, {"route": "APP.2"}]}])


def walk(bench: Workbench, *events: int, ref: str = "R-1") -> list[LifeCycleTriggerResult]:
    return [bench.trigger(event, ref, "Lamp") for event in events]


@pytest.mark.scenario(52)
@pytest.mark.parametrize("outcome", ["Delivered", "Processed", "Failed"])
def test_the_next_event_is_held_until_the_first_is_answered_and_then_goes_at_once(bench: Workbench, outcome: str):
    lamp(bench)
    first, _, _ = walk(bench, 1, 2, 1)
    assert bench.sent() == [("c1", 1, "transition", 1)]
    assert deliveries(bench) == [Delivery(), held(seq=2), held(seq=3)]
    bench.clock.advance(5)
    bench.ack(first.ack_guid, outcome)
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 2, "transition", 1)]
    assert deliveries(bench)[1:] == [Delivery(seq=2, due=45, first_sent=5), held(seq=3)]
    assert bench.publisher.messages[1].first_sent_at == bench.clock.now()
    assert bench.publisher.messages[1].body == bench.sql("SELECT body FROM ack ORDER BY id")[1]["body"]


@pytest.mark.scenario(52)
@pytest.mark.parametrize("seconds", [0, 39, 40, 500], ids=lambda seconds: f"t+{seconds}")
def test_a_held_event_waits_whether_the_one_before_it_is_due_or_not(bench: Workbench, seconds: int):
    lamp(bench)
    walk(bench, 1, 2)
    bench.clock.advance(seconds)
    bench.monitor()
    assert {seq for _, seq, _, _ in bench.sent()} == {1}
    assert delivery(bench, seq=2) == held(seq=2)


@pytest.mark.scenario(52)
def test_other_instances_and_other_consumers_flow(bench: Workbench):
    lamp(bench, "c1", "c2")
    first, _ = walk(bench, 1, 2, ref="R-1")
    walk(bench, 1, ref="R-2")
    bench.ack(first.ack_guid, "Delivered", "c2")
    assert [(body["external_ref"], body["seq"]) for body in bench.bodies("c1")] == [("R-1", 1), ("R-2", 1)]
    assert [(body["external_ref"], body["seq"]) for body in bench.bodies("c2")] == [("R-1", 1), ("R-2", 1), ("R-1", 2)]


@pytest.mark.scenario(52)
def test_a_retry_holds_back_only_what_was_never_sent(bench: Workbench):
    lamp(bench)
    first, second, _, _ = walk(bench, 1, 2, 1, 2)
    bench.ack(first.ack_guid, "Delivered")
    bench.clock.advance(5)
    bench.ack(first.ack_guid, "Retry")
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 2, "transition", 1)]
    bench.ack(second.ack_guid, "Processed")
    assert len(bench.sent()) == 2, "the third event must wait for the first, which is pending again"
    assert [row.status for row in deliveries(bench)] == ["PENDING", "PROCESSED", "HELD", "HELD"]
    bench.ack(first.ack_guid, "Processed")
    assert bench.sent()[2:] == [("c1", 3, "transition", 1)]
    assert [row.status for row in deliveries(bench)] == ["PROCESSED", "PROCESSED", "PENDING", "HELD"]


@pytest.mark.scenario(52)
def test_every_row_of_a_step_holds_the_next_step_hooks_included(bench: Workbench):
    lamp(bench, policy=HOOKS)
    first, _ = walk(bench, 1, 2)
    for guid in (first.ack_guid, first.hook_ack_guids[1]):
        bench.ack(guid, "Delivered")
        assert {seq for _, seq, _, _ in bench.sent()} == {1}
    bench.ack(first.hook_ack_guids[0], "Delivered")
    assert bench.sent()[3:] == [("c1", 2, "transition", 1)]


@pytest.mark.scenario(52)
def test_a_released_step_goes_out_whole_the_transition_first(bench: Workbench):
    lamp(bench, policy=HOOKS)
    first = bench.trigger(1, def_name="Lamp")
    bench.trigger(3, def_name="Lamp")
    bench.ack_batch([{"ack_guid": guid, "outcome": "Delivered"} for guid in (first.ack_guid, *first.hook_ack_guids)])
    assert [(message.seq, message.kind.label, message.route) for message in bench.publisher.messages[3:]] == [
        (2, "transition", None),
        (2, "hook", "APP.1"),
        (2, "hook", "APP.2"),
    ]
    assert [row.status for row in deliveries(bench) if row.seq == 2] == ["PENDING"] * 3


def test_a_delivered_event_does_not_hold_the_next_one(bench: Workbench):
    lamp(bench)
    (first,) = walk(bench, 1)
    bench.ack(first.ack_guid, "Delivered")
    walk(bench, 2)
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 2, "transition", 1)]


def test_an_event_released_to_a_consumer_that_is_down_waits_for_its_beat_with_no_attempt_spent(bench: Workbench):
    lamp(bench)
    bench.register("c1", beat_seconds=10)
    first, _ = walk(bench, 1, 2)
    bench.clock.advance(31)
    bench.ack(first.ack_guid, "Delivered")
    assert delivery(bench, seq=2) == waiting(seq=2, due=31)
    assert len(bench.sent()) == 1
    bench.beat("c1")
    bench.monitor()
    assert bench.sent()[1:] == [("c1", 2, "transition", 1)]
    assert delivery(bench, seq=2) == Delivery(seq=2, due=71, first_sent=31, last_retry=31)


def test_what_sns_does_not_take_of_a_release_is_given_back(bench: Workbench):
    lamp(bench)
    first, _ = walk(bench, 1, 2)
    bench.publisher.refuse = lambda _message: True
    assert bench.ack(first.ack_guid, "Delivered").result == "applied"
    assert delivery(bench, seq=2) == Delivery(seq=2, attempts=0, sends=0, first_sent=None)
    bench.publisher.refuse = lambda _message: False
    bench.clock.advance(40)
    bench.monitor()
    assert bench.sent()[1:] == [("c1", 2, "transition", 1)]


@pytest.mark.parametrize(("outcome", "status"), [("Delivered", "DELIVERED"), ("Processed", "PROCESSED"), ("Failed", "FAILED")])
def test_a_word_on_an_event_that_was_never_sent_counts_and_lets_nothing_jump_the_queue(bench: Workbench, outcome: str, status: str):
    lamp(bench)
    first, second, _ = walk(bench, 1, 2, 1)
    bench.ack(second.ack_guid, outcome)
    assert [row.status for row in deliveries(bench)] == ["PENDING", status, "HELD"]
    assert len(bench.sent()) == 1
    bench.ack(first.ack_guid, "Processed")
    assert bench.sent()[1:] == [("c1", 3, "transition", 1)]
    assert lost_in_lanes(bench) == []


def test_a_retry_of_an_event_that_was_never_sent_leaves_it_in_its_place(bench: Workbench):
    lamp(bench)
    first, second = walk(bench, 1, 2)
    bench.clock.advance(5)
    answer = bench.ack(second.ack_guid, "Retry")
    assert (answer.status, answer.next_due) == ("Pending", None)
    assert delivery(bench, seq=2) == held(seq=2, retries=1, last_retry=5)
    bench.ack(first.ack_guid, "Processed")
    assert delivery(bench, seq=2) == Delivery(seq=2, due=45, first_sent=5, retries=1, last_retry=5)


@pytest.mark.scenario(81)
def test_a_late_consumer_hears_every_step_in_order_though_the_states_are_long_left(bench: Workbench):
    leave_with_hook(bench, "c1")
    bench.register("late", beat_seconds=10)
    bench.clock.advance(60)
    for event in ("Submit", 40, "Approve"):
        bench.trigger(event)
    bench.process_all("c1")
    assert bench.sent("late") == []
    bench.beat("late")
    bench.monitor()
    current = bench.sql("SELECT s.name FROM instance i JOIN state s ON s.id = i.current_state")[0]["name"]
    while True:
        # The consumer looks at the state, sees that the work is no longer wanted, and says so.
        stale = [message for message in bench.publisher.messages if message.consumer == "late"]
        if all(bench.ack(message.webhook_id, "Processed", "late").result == "unchanged" for message in stale):
            break
    assert [(body["seq"], body["kind"], body["to_state"]) for body in bench.bodies("late")] == [
        (1, "transition", "Submitted"),
        (1, "hook", "Submitted"),
        (2, "transition", "Review"),
        (2, "hook", "Review"),
        (3, "transition", "Approved"),
    ]
    assert current == "Approved"
    assert {row.status for row in deliveries(bench)} == {"PROCESSED"}


@pytest.mark.scenario(81, 101)
def test_leaving_a_state_and_ending_cancel_nothing(bench: Workbench):
    leave(bench)
    submitted = bench.trigger("Submit")
    bench.trigger("Approve")
    bench.clock.advance(40)
    bench.monitor()
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 1, "transition", 2)]
    bench.ack(submitted.ack_guid, "Processed")
    assert bench.sent()[2:] == [("c1", 2, "transition", 1)]


@pytest.mark.scenario(55)
@pytest.mark.parametrize(("outcome", "status"), [("Delivered", "DELIVERED"), ("Processed", "PROCESSED"), ("Failed", "FAILED"), ("Retry", "PENDING")])
def test_while_suspended_an_ack_counts_but_nothing_becomes_due_and_nothing_goes_out(bench: Workbench, outcome: str, status: str):
    lamp(bench)
    first, _ = walk(bench, 1, 2)
    suspend(bench, first.instance_guid)
    bench.clock.advance(5)
    assert bench.ack(first.ack_guid, outcome).next_due is None
    row = delivery(bench, seq=1)
    assert (row.status, row.due) == (status, None)
    assert delivery(bench, seq=2) == held(seq=2)
    bench.clock.advance(days=1)
    bench.monitor()
    assert bench.sent() == [("c1", 1, "transition", 1)]
    resume(bench, first.instance_guid)
    bench.monitor()
    again, following = ("c1", 1, "transition", 2), ("c1", 2, "transition", 1)
    assert bench.sent()[1:] == {"Delivered": [following, again], "Retry": [again]}.get(outcome, [following])
    assert lost_in_lanes(bench) == []


def test_a_batch_answers_each_item_in_order_and_a_bad_one_fails_alone(bench: Workbench):
    lamp(bench, "c1", "c2")
    (one,), (two,) = walk(bench, 1, ref="R-1"), walk(bench, 1, ref="R-2")
    unknown = "0" * 36
    items: list[Any] = [
        {"ack_guid": two.ack_guid, "outcome": "Delivered"},
        {"ack_guid": unknown, "outcome": "Delivered"},
        {"ack_guid": one.ack_guid, "outcome": "Done"},
        {"outcome": "Delivered"},
        "nonsense",
        {"ack_guid": one.ack_guid, "outcome": "Retry", "retry_at": "2027-01-01T00:00:00Z"},
        {"ack_guid": one.ack_guid, "outcome": "processed"},
        {"ack_guid": one.ack_guid, "outcome": "Failed"},
    ]
    answers = bench.ack_batch(items)
    assert [(answer.ack_guid, answer.result, answer.status) for answer in answers] == [
        (two.ack_guid, "applied", "Delivered"),
        (unknown, "error", None),
        (one.ack_guid, "error", None),
        ("", "error", None),
        ("", "error", None),
        (one.ack_guid, "error", None),
        (one.ack_guid, "applied", "Processed"),
        (one.ack_guid, "stale", "Processed"),
    ]
    assert [(answer.error.status, answer.error.code) for answer in answers if answer.error] == [(404, "ACK_NOT_FOUND"), *[(400, "INVALID_REQUEST")] * 4]
    assert [notice.ack_guid for notice in bench.noticed("STALE_ACK")] == [one.ack_guid]
    assert [row for row in deliveries(bench) if row.consumer == "c2"] == [Delivery(consumer="c2")]


def test_a_batch_of_nothing_but_mistakes_still_answers_each(bench: Workbench):
    lamp(bench)
    walk(bench, 1)
    answers = bench.ack_batch([{"ack_guid": "0" * 36, "outcome": "Delivered"}, {}])
    assert [answer.result for answer in answers] == ["error", "error"]


def test_a_batch_applies_in_its_order_and_releases_each_lane_once(bench: Workbench):
    lamp(bench)
    first, second, _ = walk(bench, 1, 2, 1)
    (other, _) = walk(bench, 1, 2, ref="R-2")
    answers = bench.ack_batch(
        [
            {"ack_guid": first.ack_guid, "outcome": "Delivered"},
            {"ack_guid": second.ack_guid, "outcome": "Processed"},
            {"ack_guid": other.ack_guid, "outcome": "Retry"},
            {"ack_guid": first.ack_guid, "outcome": "Processed"},
        ]
    )
    assert [answer.result for answer in answers] == ["applied"] * 4
    assert [row.status for row in deliveries(bench)] == ["PROCESSED", "PROCESSED", "PENDING"]
    assert [row.status for row in deliveries(bench, "R-2")] == ["PENDING", "HELD"]
    assert [(body["external_ref"], body["seq"]) for body in bench.bodies()] == [("R-1", 1), ("R-2", 1), ("R-1", 3)]
    assert bench.publisher.messages[-1].first_sent_at == START


def test_a_long_lane_is_walked_one_step_a_time_to_its_end(bench: Workbench):
    lamp(bench)
    walk(bench, *(1, 2) * 15)
    assert bench.process_all("c1") == 30
    assert [seq for _, seq, _, _ in bench.sent()] == list(range(1, 31))
    assert {attempt for *_, attempt in bench.sent()} == {1}
