"""A deleted consumer: it gets nothing more, and the monitor closes what it left open, as skipped and in pages."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.counting_db import CountingBench
from tests.support.engine import PRINCIPAL, Workbench
from tests.support.facts import Delivery, codes, deliveries, lost_in_lanes, stands
from tests.support.scenes import definition_lamp, lamp, leave
from workflow_engine.models.enums import AckStatus

Bench = Callable[..., Workbench]
REFS = tuple(f"R-{number}" for number in range(7))
# No trigger that saw the consumer can still be running then.
SETTLED = 90


def delete(bench: Workbench, consumer: str = "c2") -> None:
    bench.engine.delete_consumer(1, consumer, PRINCIPAL, bench.deadline())


def statuses(bench: Workbench, consumer: str = "c2") -> Counter[tuple[str, int | None]]:
    found = bench.sql(f"SELECT status, gave_up FROM ack_consumer WHERE consumer_id IN (SELECT id FROM consumer WHERE consumer_guid = '{consumer}')")
    return Counter((AckStatus(row["status"]).name, row["gave_up"]) for row in found)


def progress(bench: Workbench) -> Any:
    return bench.sql("SELECT closed_ack_id FROM consumer WHERE consumer_guid = 'c2'")[0]["closed_ack_id"]


@pytest.mark.scenario(112)
@pytest.mark.parametrize("size", [1, 3, 200])
def test_open_rows_of_a_deleted_consumer_are_closed_as_skipped_and_the_others_stay_as_they_are(make_bench: Bench, size: int):
    bench = make_bench(monitor_page_size=size)
    lamp(bench, "c1", "c2")
    for ref in REFS:
        for event in (1, 2, 1):
            bench.trigger(event, ref, "Lamp")
    bench.process_all("c1")
    sent = [message for message in bench.publisher.messages if message.consumer == "c2"]
    bench.ack(sent[0].webhook_id, "Processed", "c2")
    bench.ack(sent[1].webhook_id, "Failed", "c2")
    bench.ack(sent[2].webhook_id, "Delivered", "c2")
    before = statuses(bench)
    assert before == {("PROCESSED", None): 1, ("FAILED", None): 1, ("DELIVERED", None): 1, ("PENDING", None): 7, ("HELD", None): 11}
    of_c1 = [row for ref in REFS for row in deliveries(bench, ref) if row.consumer == "c1"]
    delete(bench)
    bench.publisher.messages.clear()
    bench.clock.advance(40)
    report = bench.monitor()
    assert (report.closed, report.sent) == (19, 0)
    assert statuses(bench) == {("PROCESSED", None): 1, ("FAILED", None): 1, ("FAILED", 3): 19}
    assert bench.count("ack_consumer", "next_due IS NOT NULL") == 0
    assert {row["message"] for row in bench.sql("SELECT message FROM ack_consumer WHERE gave_up = 3")} == {"the consumer was deleted"}
    assert [row for ref in REFS for row in deliveries(bench, ref) if row.consumer == "c1"] == of_c1
    assert (bench.sent(), codes(bench), lost_in_lanes(bench)) == ([], ["CONSUMER_FAILURE"], [])


@pytest.mark.scenario(112)
def test_a_deleted_consumer_gets_no_rows_and_no_messages_any_more(bench: Workbench):
    leave(bench, "c1", "c2")
    bench.trigger("Submit")
    delete(bench)
    bench.publisher.messages.clear()
    for _ in range(30):
        bench.clock.advance(60)
        bench.monitor()
    bench.trigger("Approve")
    assert {message.consumer for message in bench.publisher.messages} == {"c1"}
    assert [(row.consumer, row.seq) for row in deliveries(bench)] == [("c1", 1), ("c1", 2), ("c2", 1)]


@pytest.mark.scenario(112)
def test_rows_that_a_running_trigger_adds_after_the_first_walk_are_closed_by_the_second(bench: Workbench):
    lamp(bench, "c1", "c2")
    for ref in REFS:
        bench.trigger(1, ref, "Lamp")
    delete(bench)
    bench.monitor()
    assert statuses(bench) == {("FAILED", 3): 7}
    # What a trigger writes that had read the consumer before it was deleted: one row due, one held, both with ids of an earlier block.
    bench.sql("UPDATE ack_consumer SET status = 1, gave_up = NULL, next_due = created WHERE status = 4 ORDER BY ack_id LIMIT 1")
    bench.sql("UPDATE ack_consumer SET status = 0, gave_up = NULL, next_due = NULL WHERE status = 4 ORDER BY ack_id LIMIT 1")
    bench.clock.advance(SETTLED - 1)
    assert bench.monitor().closed == 1
    assert statuses(bench) == {("FAILED", 3): 6, ("HELD", None): 1}
    bench.clock.advance(1)
    bench.monitor()
    bench.monitor()
    assert (statuses(bench), progress(bench)) == ({("FAILED", 3): 7}, None)


@pytest.mark.scenario(112)
def test_a_walk_that_has_come_to_its_end_waits_there_instead_of_beginning_again(make_bench: Bench):
    bench = make_bench(monitor_page_size=2)
    lamp(bench, "c1", "c2")
    for ref in REFS:
        bench.trigger(1, ref, "Lamp")
    bench.process_all("c1", "c2")
    delete(bench)
    bench.monitor()
    trips = bench.dal.round_trips
    bench.clock.advance(10)
    bench.monitor()
    assert bench.dal.round_trips - trips < 12
    bench.clock.advance(SETTLED)
    bench.monitor(passes=2)
    trips = bench.dal.round_trips
    bench.monitor()
    assert (progress(bench), bench.dal.round_trips - trips < 10) == (None, True)


@pytest.mark.scenario(112)
def test_the_engines_suspension_ends_with_the_consumer_that_caused_it(make_bench: Bench):
    bench = make_bench(max_retry_count=1)
    lamp(bench, "c1", "c2")
    for event in (1, 2):
        bench.trigger(event, def_name="Lamp")
    bench.process_all("c1")
    bench.clock.advance(40)
    bench.monitor()
    assert stands(bench)["flags"] == 3
    delete(bench)
    bench.monitor()
    now = stands(bench)
    assert (now["flags"], now["suspended_by"], now["message"], now["state_due_at"]) == (1, None, None, 86_400)
    assert statuses(bench) == {("FAILED", 3): 2}
    assert bench.trigger(1, def_name="Lamp").applied
    assert bench.sent()[-1] == ("c1", 3, "transition", 1)


@pytest.mark.scenario(112)
def test_what_the_suspension_held_back_goes_out_when_its_consumer_is_gone(make_bench: Bench):
    bench = make_bench(max_retry_count=1)
    bench.import_(definition_lamp())
    bench.register("c2")
    bench.register("c1", beat_seconds=60)
    bench.trigger(1, def_name="Lamp")
    bench.clock.advance(40)
    bench.sql("UPDATE ack_consumer SET trigger_count = 0 WHERE consumer_id = (SELECT id FROM consumer WHERE consumer_guid = 'c1')")
    bench.monitor()
    assert [(row.consumer, row.status, row.due) for row in deliveries(bench)] == [("c2", "SUSPENDING", None), ("c1", "PENDING", None)]
    delete(bench)
    bench.publisher.messages.clear()
    bench.monitor(passes=2)
    assert bench.sent() == [("c1", 1, "transition", 2)]


@pytest.mark.scenario(112)
def test_a_consumer_registered_again_under_the_name_starts_with_nothing_and_is_left_alone(bench: Workbench):
    leave(bench, "c1", "c2")
    bench.trigger("Submit")
    delete(bench)
    again = bench.register("c2")
    bench.trigger("Approve")
    bench.clock.advance(40)
    bench.monitor()
    rows = bench.sql("SELECT consumer_id, seq, status FROM ack_consumer WHERE consumer_id IN (SELECT id FROM consumer WHERE consumer_guid = 'c2') ORDER BY seq")
    assert [(row["consumer_id"] == again, row["seq"], row["status"]) for row in rows] == [(False, 1, 4), (True, 2, 1)]
    assert deliveries(bench)[-1] == Delivery(consumer="c2", seq=2, due=deliveries(bench)[-1].due, attempts=2, sends=2, last_retry=40)


@pytest.mark.scenario(112)
def test_closing_comes_after_everything_that_is_waited_for(clean_database: str):
    bench = CountingBench(clean_database)
    leave(bench, "c1", "c2")
    for event in (10, 40):
        bench.trigger(event)
    bench.trigger(10, "R-2")
    delete(bench)
    bench.clock.advance(86_400)
    with bench.db.counting() as costs:
        report = bench.monitor()
    bench.close()
    assert (report.sent, report.timed_out, report.closed) == (2, 1, 3)
    ran = [cost.name for cost in costs]
    closing = ran.index("QRY_DUE.LIST_DUE_OF_DELETED")
    waited_for = ["QRY_ACK_CONSUMER.UPDATE_SENT", "QRY_LC_TIMEOUT.INSERT", "QRY_INSTANCE.LIST_DUE_PAGED"]
    assert all(name in ran[:closing] and name not in ran[closing:] for name in waited_for)
