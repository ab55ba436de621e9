"""OverDue (pass A): everybody has processed, nobody has moved."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.documents import definition_l
from tests.support.engine import START, Workbench
from tests.support.facts import codes, deliveries, everything, said, stands, steps
from tests.support.racing import at_once, crew
from tests.support.scenes import definition_lamp, leave, policy_lamp, suspend
from workflow_engine.models.base import time_text
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.trigger import LifeCycleTriggerResult

HOUR, DAY = 3_600, 86_400


def submitted(bench: Workbench, *consumers: str) -> LifeCycleTriggerResult:
    """L in Submitted, where no timeout runs, and everybody has processed."""
    leave(bench, *consumers)
    answer = bench.trigger("Submit")
    bench.process_all(*(consumers or ("c1",)))
    return answer


def ids(bench: Workbench, state: str) -> dict[str, int]:
    """The ids that a notice names."""
    return bench.sql(
        "SELECT i.id AS instance_id, i.def_version_id, s.id AS current_state_id FROM instance i JOIN state s ON s.def_version_id = i.def_version_id "
        f"WHERE s.name = '{state}'"
    )[0]


def overdue(bench: Workbench) -> list[tuple[str | None, int]]:
    """Who was told, and how old the state was then."""
    return [(notice.consumer, notice.data["stale_seconds"]) for notice in bench.noticed("DEFAULT_STATE_STALE")]


def instance_but(bench: Workbench, *columns: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in columns} for row in bench.sql("SELECT * FROM instance ORDER BY id")]


@pytest.mark.scenario(60)
def test_a_stale_state_is_told_to_every_consumer_of_transitions_with_all_nine_fields(bench: Workbench):
    leave(bench, "c1", "c2")
    bench.register("hooks only", kinds=["hook"])
    answer = bench.trigger("Submit")
    bench.process_all("c1", "c2")
    bench.clock.advance(DAY)
    bench.monitor()
    known = ids(bench, "Submitted")
    instance_id = known.pop("instance_id")
    consumer_ids = {row["name"]: row["id"] for row in bench.sql("SELECT CONVERT(consumer_guid USING utf8mb4) AS name, id FROM consumer")}
    assert [notice.body() for notice in bench.publisher.notices] == [
        {
            "code": "DEFAULT_STATE_STALE",
            "kind": "OverDue",
            "env_code": 1,
            "instance_id": instance_id,
            "instance_guid": answer.instance_guid,
            "external_ref": "R-1",
            "consumer_id": consumer_ids[consumer],
            "consumer": consumer,
            "ack_guid": None,
            "occurred_at": time_text(START + timedelta(days=1)),
            "data": {**known, "state_name": "Submitted", "lc_id": answer.lifecycle_id, "stale_seconds": DAY, "failed": 0},
        }
        for consumer in ("c1", "c2")
    ]
    assert codes(bench) == ["DEFAULT_STATE_STALE"] * 2


@pytest.mark.scenario(60, 96)
def test_overdue_changes_nothing_but_the_time_of_the_next_look(bench: Workbench):
    submitted(bench, "c1", "c2")
    bench.clock.advance(DAY)
    before, instances = everything(bench), instance_but(bench, "state_due_at", "stale_at")
    bench.monitor()
    after = everything(bench)
    assert len(overdue(bench)) == 2
    assert {name for name in before if before[name] != after[name]} == {"instance"}
    assert instance_but(bench, "state_due_at", "stale_at") == instances
    assert stands(bench)["state_due_at"] == 2 * DAY


@pytest.mark.scenario(60)
def test_nothing_is_said_a_second_before_the_state_is_stale(bench: Workbench):
    submitted(bench)
    bench.clock.advance(DAY - 1)
    before = everything(bench)
    report = bench.monitor()
    assert (report.found, report.noticed, codes(bench)) == (0, 0, [])
    assert everything(bench) == before


@pytest.mark.scenario(60, 68)
def test_a_timeout_without_event_does_not_keep_a_state_from_being_stale(bench: Workbench):
    definition = definition_l()
    definition["states"][2] = {"name": "Review", "timeout_minutes": 60}
    bench.import_(definition)
    bench.register()
    for event in (10, 40):
        bench.trigger(event)
    bench.process_all("c1")
    for at in (HOUR, DAY):
        bench.clock.at = START + timedelta(seconds=at)
        bench.monitor()
    assert [(code, data.get("stale_seconds", data.get("age_seconds"))) for code, data in said(bench)] == [
        ("STATE_TIMEOUT_EXCEEDED", HOUR),
        ("DEFAULT_STATE_STALE", DAY),
    ]


@pytest.mark.scenario(60, 68)
def test_a_timeout_without_event_that_is_longer_than_a_day_and_the_daily_word_both_come(bench: Workbench):
    definition = definition_l()
    definition["states"][2] = {"name": "Review", "timeout": "PT36H"}
    bench.import_(definition)
    bench.register()
    for event in (10, 40):
        bench.trigger(event)
    bench.process_all("c1")
    for _ in range(16):
        bench.clock.advance(3 * HOUR)
        bench.monitor()
    assert [(code, data.get("stale_seconds", data.get("age_seconds"))) for code, data in said(bench)] == [
        ("DEFAULT_STATE_STALE", DAY),
        ("STATE_TIMEOUT_EXCEEDED", 36 * HOUR),
        ("DEFAULT_STATE_STALE", 2 * DAY),
    ]


@pytest.mark.scenario(60)
def test_an_instance_that_never_left_its_first_state_is_stale_too(bench: Workbench):
    leave(bench)
    bench.trigger("Approve")
    bench.publisher.notices.clear()
    bench.clock.advance(DAY)
    bench.monitor()
    assert [(notice.consumer, notice.data["state_name"], notice.data["lc_id"]) for notice in bench.publisher.notices] == [("c1", "Draft", None)]


@pytest.mark.scenario(61)
@pytest.mark.parametrize("word", [None, "Delivered", "Retry"])
def test_an_open_ack_keeps_overdue_away_until_it_is_processed(bench: Workbench, word: str | None):
    leave(bench, "c1", "c2")
    answer = bench.trigger("Submit")
    bench.ack(answer.ack_guid, "Processed", "c1")
    if word:
        bench.ack(answer.ack_guid, word, "c2")
    # The reminders to c2 are another matter, and would end in a suspension.
    bench.sql("UPDATE ack_consumer SET next_due = '2027-01-01' WHERE next_due IS NOT NULL")
    bench.clock.advance(DAY)
    bench.monitor()
    assert (overdue(bench), stands(bench)["state_due_at"]) == ([], DAY + 60)
    bench.ack(answer.ack_guid, "Processed", "c2")
    bench.clock.advance(59)
    bench.monitor()
    assert overdue(bench) == []
    bench.clock.advance(1)
    bench.monitor()
    assert overdue(bench) == [("c1", DAY + 60), ("c2", DAY + 60)]


@pytest.mark.scenario(61)
def test_an_event_that_is_held_back_in_its_lane_keeps_overdue_away(bench: Workbench):
    leave(bench, "c1")
    bench.register("c2", beat_seconds=10)
    definition = definition_l()
    del definition["states"][2]["timeout_minutes"], definition["states"][2]["timeout_event"]
    bench.import_(definition | {"version": 2})
    bench.clock.advance(HOUR)
    for event in (10, 40):
        bench.trigger(event)
    bench.process_all("c1")
    assert [row.status for row in deliveries(bench)] == ["PROCESSED", "PROCESSED", "PENDING", "HELD"]
    bench.clock.advance(2 * DAY)
    bench.monitor()
    assert overdue(bench) == []


@pytest.mark.scenario(61)
def test_an_open_ack_of_a_state_that_was_left_does_not_keep_overdue_away(bench: Workbench):
    rule = {"state": "On", "emit": [{"route": "APP.WARM"}]}
    bench.import_(definition_lamp(), policy_lamp([rule]))
    bench.register("c1", kinds=["transition"])
    bench.register("sleeping", kinds=["hook"], beat_seconds=10)
    bench.clock.advance(HOUR)
    for event in (1, 2):
        bench.trigger(event, def_name="Lamp")
    bench.process_all("c1")
    assert [(row.consumer, row.seq, row.status) for row in deliveries(bench)] == [("c1", 1, "PROCESSED"), ("c1", 2, "PROCESSED"), ("sleeping", 1, "PENDING")]
    bench.clock.advance(DAY)
    bench.monitor()
    assert overdue(bench) == [("c1", DAY)]


@pytest.mark.scenario(60)
def test_failed_and_parked_events_count_as_closed_and_are_reported(make_bench: Any):
    bench = make_bench(max_retry_count=1)
    leave(bench, "c1", "c2", "c3")
    bench.register("c2", on_exhausted="park")
    answer = bench.trigger("Submit")
    bench.ack(answer.ack_guid, "Failed", "c1")
    bench.ack(answer.ack_guid, "Processed", "c3")
    bench.clock.advance(HOUR)
    bench.monitor()
    assert [(row.consumer, row.status) for row in deliveries(bench)] == [("c1", "FAILED"), ("c2", "PARKED"), ("c3", "PROCESSED")]
    bench.clock.advance(DAY)
    bench.monitor()
    assert [(notice.consumer, notice.data["failed"]) for notice in bench.noticed("DEFAULT_STATE_STALE")] == [("c1", 1), ("c2", 1), ("c3", 0)]


@pytest.mark.scenario(62)
def test_a_second_word_comes_only_after_the_stale_duration_also_from_another_process(bench: Workbench):
    submitted(bench)
    told: list[int] = []
    for _ in range(9):
        bench.clock.advance(DAY / 4)
        bench.monitor()
        bench.another().monitor()
        told.append(len(overdue(bench)))
    assert told == [0, 0, 0, 1, 1, 1, 1, 2, 2]
    assert overdue(bench) == [("c1", DAY), ("c1", 2 * DAY)]


@pytest.mark.scenario(62)
def test_two_monitors_at_once_say_it_once(bench: Workbench):
    leave(bench)
    for number in range(30):
        bench.trigger("Submit", f"R-{number}")
    bench.process_all("c1")
    monitors = crew(bench, 2)
    for day in range(1, 5):
        bench.clock.advance(DAY)
        at_once([monitor.monitor for monitor in monitors])
        # Each leaves alone what the other is working on, so a round may need another look.
        bench.monitor()
        assert len(overdue(bench)) == 30 * day


@pytest.mark.scenario(63)
@pytest.mark.parametrize(
    "flag", [LifeCycleInstanceFlag.SUSPENDED, LifeCycleInstanceFlag.COMPLETED, LifeCycleInstanceFlag.FAILED, LifeCycleInstanceFlag.ARCHIVED]
)
@pytest.mark.parametrize("event", [10, 40])
def test_what_is_not_active_is_neither_overdue_nor_timed_out(bench: Workbench, flag: LifeCycleInstanceFlag, event: int):
    submitted(bench)
    if event == 40:
        bench.trigger(40)
        bench.process_all("c1")
    # As if it had become so at the very moment at which it was due.
    bench.sql(f"UPDATE instance SET flags = {flag | LifeCycleInstanceFlag.ACTIVE:d}")
    bench.clock.advance(3 * DAY)
    before = steps(bench)
    for _ in range(3):
        bench.monitor()
        bench.clock.advance(DAY)
    assert (codes(bench), steps(bench)) == ([], before)
    assert stands(bench)["state_due_at"] is None


@pytest.mark.scenario(63)
def test_suspending_takes_the_due_time_away(bench: Workbench):
    answer = submitted(bench)
    suspend(bench, answer.instance_guid)
    assert stands(bench)["state_due_at"] is None
    bench.clock.advance(3 * DAY)
    bench.monitor()
    assert overdue(bench) == []


@pytest.mark.scenario(96)
def test_after_overdue_a_consumer_raises_the_next_event_as_ever(bench: Workbench):
    submitted(bench)
    bench.clock.advance(DAY)
    rows = deliveries(bench)
    bench.monitor()
    assert (len(overdue(bench)), deliveries(bench), bench.sent()) == (1, rows, [("c1", 1, "transition", 1)])
    assert bench.trigger("Approve").applied
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 2, "transition", 1)]


@pytest.mark.scenario(69)
def test_the_engine_never_moves_a_stale_state_by_itself(bench: Workbench):
    submitted(bench)
    for _ in range(10):
        bench.clock.advance(DAY)
        bench.monitor()
    assert steps(bench) == [(1, "Draft", 10, "Submitted")]
    assert set(codes(bench)) == {"DEFAULT_STATE_STALE"}


def test_more_stale_instances_than_a_page_holds_are_all_told_in_one_pass(make_bench: Any):
    bench = make_bench(monitor_page_size=3)
    leave(bench)
    for number in range(10):
        bench.trigger("Submit", f"R-{number}")
    bench.process_all("c1")
    bench.clock.advance(DAY)
    report = bench.monitor()
    assert (report.found, report.noticed) == (10, 10)
    assert sorted(notice.external_ref for notice in bench.noticed("DEFAULT_STATE_STALE")) == sorted(f"R-{number}" for number in range(10))


def test_a_page_of_stale_instances_with_many_listeners_has_ids_enough(bench: Workbench):
    leave(bench)
    for number in range(60):
        bench.trigger("Submit", f"R-{number}")
    bench.process_all("c1")
    for number in range(99):
        bench.register(f"listener-{number}")
    bench.clock.advance(DAY)
    report = bench.monitor()
    assert (report.noticed, len(overdue(bench)), bench.count("notice")) == (6_000, 6_000, 6_000)
