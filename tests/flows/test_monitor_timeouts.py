"""Timeouts (pass C): a state's time is over, and its event goes through the same pipeline as an application's."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.documents import definition_l
from tests.support.dying import dying, is_killed
from tests.support.engine import PRINCIPAL, START, Workbench
from tests.support.facts import Delivery, codes, deliveries, everything, held, said, stands, steps
from tests.support.racing import at_once, crew
from tests.support.scenes import definition_lamp, leave, policy_lamp
from workflow_engine.models.base import time_text

MINUTE, HOUR, DAY = 60, 3_600, 86_400
FLICKER = {"state": "On", "timeout": "P1D", "timeout_mode": "repeat", "timeout_event": 3}


def in_review(bench: Workbench, *refs: str) -> None:
    """L in Review, where 60 minutes lead to Rejected; everybody has processed."""
    leave(bench)
    for ref in refs or ("R-1",):
        for event in (10, 40):
            bench.trigger(event, ref)
    bench.process_all("c1")


def lit(bench: Workbench, *, rules: Any = (), **timeout: Any) -> None:
    """A lamp that went on at START, with a timeout there; everybody has processed."""
    bench.import_(definition_lamp(), policy_lamp(list(rules), timeouts=[FLICKER | timeout]))
    bench.register()
    bench.trigger(1, def_name="Lamp")
    bench.process_all("c1")


def at(bench: Workbench, seconds: float) -> Any:
    """One pass at that moment, after which the consumer has processed all."""
    bench.clock.at = START + timedelta(seconds=seconds)
    report = bench.monitor()
    bench.process_all("c1")
    return report


def firings(bench: Workbench) -> list[tuple[str, int, int]]:
    """(code, n, age) of everything said about timeouts; an exhausted one is marked."""
    mark = {True: " exhausted", False: ""}
    return [
        (notice.code.value + mark[notice.data.get("exhausted", False)], notice.data["n"], int((notice.occurred_at - START).total_seconds()))
        for notice in bench.publisher.notices
        if notice.code.value in {"STATE_TIMEOUT_EXCEEDED", "TIMEOUT_FIRED"}
    ]


def fired(n: int, age: int) -> list[tuple[str, int, int]]:
    return [("STATE_TIMEOUT_EXCEEDED", n, age), ("TIMEOUT_FIRED", n, age)]


@pytest.mark.scenario(64)
def test_a_timeout_is_told_and_its_event_raised_by_the_system_through_the_same_pipeline(bench: Workbench):
    policy = {"policy_name": "p", "defName": "Leave", "params": [], "rules": [{"state": "Rejected", "emit": [{"route": "APP.TELL"}]}]}
    bench.import_(definition_l(), policy)
    for consumer in ("c1", "c2"):
        bench.register(consumer)
    for event in (10, 40):
        answer = bench.trigger(event)
    bench.process_all("c1", "c2")
    bench.publisher.messages.clear()
    bench.clock.advance(minutes=61)
    report = bench.monitor()
    assert (report.found, report.timed_out, report.sent, report.noticed) == (1, 1, 4, 2)
    assert steps(bench)[-1] == (3, "Review", 30, "Rejected")
    assert bench.sent() == [(consumer, 3, kind, 1) for consumer in ("c1", "c2") for kind in ("transition", "hook")]
    body = bench.bodies("c1")[0]
    assert (body["actor"], body["event"], body["from_state"], body["to_state"]) == ("system", {"code": 30, "name": "Reject"}, "Review", "Rejected")
    lifecycle = bench.sql(
        "SELECT l.id, l.flags, d.actor, CONVERT(d.request_id USING utf8mb4) AS request_id FROM lifecycle l "
        "JOIN lifecycle_data d ON d.lifecycle_id = l.id WHERE l.seq = 3"
    )[0]
    assert lifecycle == {"id": body["lifecycle_id"], "flags": 1, "actor": "system", "request_id": f"timeout:{answer.lifecycle_id}:1"}
    exceeded, done = (notice.body() for notice in bench.publisher.notices)
    instance_id = bench.sql("SELECT id FROM instance")[0]["id"]
    head = {
        "env_code": 1,
        "instance_id": instance_id,
        "instance_guid": answer.instance_guid,
        "external_ref": "R-1",
        "consumer_id": None,
        "consumer": None,
        "ack_guid": None,
    }
    moment = time_text(START + timedelta(minutes=61))
    assert exceeded == {
        **head,
        "code": "STATE_TIMEOUT_EXCEEDED",
        "kind": "OverDue",
        "occurred_at": moment,
        "data": {"state": "Review", "age_seconds": 61 * MINUTE, "timeout_event": 30, "n": 1},
    }
    assert done == {
        **head,
        "code": "TIMEOUT_FIRED",
        "kind": "Info",
        "occurred_at": moment,
        "data": {"n": 1, "event": 30, "state": "Review", "to_state": "Rejected", "lifecycle_id": body["lifecycle_id"]},
    }
    assert codes(bench) == ["STATE_TIMEOUT_EXCEEDED", "TIMEOUT_FIRED"]
    assert stands(bench)["flags"] == 4


@pytest.mark.scenario(64)
def test_nothing_happens_a_second_before_and_nothing_again_afterwards(bench: Workbench):
    in_review(bench)
    bench.clock.advance(HOUR - 1)
    before = everything(bench)
    assert (bench.monitor().found, everything(bench)) == (0, before)
    at(bench, HOUR)
    for day in range(1, 5):
        at(bench, day * DAY)
    assert len(steps(bench)) == 3
    assert firings(bench) == fired(1, HOUR)


@pytest.mark.scenario(64)
def test_an_event_that_comes_in_time_stops_the_timeout(bench: Workbench):
    in_review(bench)
    bench.clock.advance(HOUR - 1)
    bench.trigger("Approve")
    at(bench, 2 * HOUR)
    assert (steps(bench)[-1], firings(bench)) == ((3, "Review", 20, "Approved"), [])


@pytest.mark.scenario(64)
def test_the_timeout_of_the_initial_state_fires_too(bench: Workbench):
    definition = definition_l()
    definition["states"][0] |= {"timeout_minutes": 5, "timeout_event": 10}
    bench.import_(definition)
    bench.register()
    bench.trigger("Approve")
    assert stands(bench)["state_due_at"] == 5 * MINUTE
    at(bench, 5 * MINUTE)
    assert steps(bench) == [(1, "Draft", 10, "Submitted")]
    assert bench.sql("SELECT CONVERT(request_id USING utf8mb4) AS request_id FROM lifecycle_data") == [{"request_id": "timeout:0:1"}]
    assert firings(bench) == fired(1, 5 * MINUTE)


@pytest.mark.scenario(64)
def test_two_monitors_at_once_fire_every_timeout_once(bench: Workbench):
    refs = [f"R-{number}" for number in range(40)]
    in_review(bench, *refs)
    monitors = crew(bench, 2)
    bench.clock.advance(HOUR)
    reports = at_once([monitor.monitor for monitor in monitors])
    # What the one had locked the other left alone; nothing may be left for a third look but that.
    rest = bench.monitor()
    assert sum(report.timed_out for report in [*reports, rest]) == 40
    assert [len(steps(bench, ref)) for ref in refs] == [3] * 40
    assert sorted(firings(bench)) == sorted(fired(1, HOUR) * 40)
    assert bench.count("lc_timeout") == 40
    assert sorted((message.instance_id, message.attempt) for message in bench.publisher.messages if message.seq == 3) == sorted(
        (row["id"], 1) for row in bench.sql("SELECT id FROM instance")
    )


@pytest.mark.scenario(65)
@pytest.mark.parametrize("is_after", [False, True])
def test_a_monitor_killed_at_any_point_leaves_a_timeout_that_fires_once(bench: Workbench, *, is_after: bool):
    leave(bench)
    kills = 0
    for left in range(40):
        ref = f"R-{left}"
        for event in (10, 40):
            bench.trigger(event, ref)
        bench.process_all("c1")
        bench.clock.advance(HOUR)
        is_over = not is_killed(dying(bench, left, is_after=is_after).monitor)
        moved = len(steps(bench, ref)) == 3
        assert bench.count("lc_timeout", f"instance_id = (SELECT id FROM instance WHERE external_ref = '{ref}')") == moved
        bench.monitor()
        bench.monitor()
        assert steps(bench, ref)[2:] == [(3, "Review", 30, "Rejected")]
        assert bench.count("lc_timeout") == left + 1
        if is_over:
            break
        kills += 1
        bench.clock.advance(HOUR)
        bench.monitor()
        assert ("c1", 3, "transition") in {(message.consumer, message.seq, message.kind.label) for message in bench.publisher.messages}
        bench.process_all("c1")
    assert kills > 5


@pytest.mark.scenario(67)
def test_a_repeating_timeout_on_a_self_loop_fires_every_day_until_the_state_is_left(bench: Workbench):
    lit(bench)
    for hours in range(6, 24 * 3 + 12, 6):
        at(bench, hours * HOUR)
    assert firings(bench) == [entry for day in (1, 2, 3) for entry in fired(day, day * DAY)]
    assert steps(bench) == [(1, "Off", 1, "On"), *((seq, "On", 3, "On") for seq in (2, 3, 4))]
    bench.trigger(2, def_name="Lamp")
    bench.process_all("c1")
    for day in (4, 5):
        at(bench, day * DAY)
    assert len(firings(bench)) == 6
    assert [row.status for row in deliveries(bench)] == ["PROCESSED"] * 5


@pytest.mark.scenario(67)
def test_every_firing_has_its_own_request_id_and_continues_the_stay(bench: Workbench):
    lit(bench)
    stay_id = bench.sql("SELECT stay_id FROM instance")[0]["stay_id"]
    for day in (1, 2):
        at(bench, day * DAY)
    rows = bench.sql("SELECT CONVERT(request_id USING utf8mb4) AS request_id FROM lifecycle_data WHERE request_id IS NOT NULL ORDER BY lifecycle_id")
    assert sorted(row["request_id"] for row in rows) == [f"timeout:{stay_id}:1", f"timeout:{stay_id}:2"]
    now = stands(bench)
    assert (bench.sql("SELECT stay_id FROM instance")[0]["stay_id"], now["state_entered_at"], now["state_due_at"]) == (stay_id, 0, 3 * DAY)


@pytest.mark.scenario(67)
def test_max_retry_caps_a_repeating_timeout_and_its_end_is_said_once(bench: Workbench):
    lit(bench, max_retry=2)
    for day in range(1, 7):
        at(bench, day * DAY)
    expected = [*fired(1, DAY), *fired(2, 2 * DAY), ("STATE_TIMEOUT_EXCEEDED exhausted", 2, 3 * DAY)]
    assert (firings(bench), len(steps(bench))) == (expected, 3)
    assert codes(bench).count("DEFAULT_STATE_STALE") > 0, "a used-up timeout counts as none"


@pytest.mark.scenario(67)
def test_once_fires_once_also_on_a_self_loop(bench: Workbench):
    lit(bench, timeout_mode="once")
    for day in range(1, 5):
        at(bench, day * DAY)
    assert (firings(bench), len(steps(bench))) == (fired(1, DAY), 2)


@pytest.mark.scenario(67)
def test_missed_periods_fire_once_and_the_next_one_keeps_to_the_days_of_the_stay(bench: Workbench):
    lit(bench)
    at(bench, 3 * DAY + 5 * HOUR)
    at(bench, 3 * DAY + 6 * HOUR)
    assert firings(bench) == fired(1, 3 * DAY + 5 * HOUR)
    assert stands(bench)["state_due_at"] == 4 * DAY
    at(bench, 4 * DAY)
    assert firings(bench)[2:] == fired(2, 4 * DAY)


@pytest.mark.scenario(67)
def test_a_self_loop_by_the_application_begins_a_new_stay(bench: Workbench):
    lit(bench, max_retry=1)
    at(bench, DAY)
    bench.clock.at = START + timedelta(seconds=DAY + 10 * HOUR)
    bench.trigger(3, def_name="Lamp")
    bench.process_all("c1")
    assert stands(bench)["state_due_at"] == 2 * DAY + 10 * HOUR
    at(bench, 2 * DAY + 10 * HOUR)
    assert firings(bench) == [*fired(1, DAY), *fired(1, 2 * DAY + 10 * HOUR)]


@pytest.mark.scenario(67)
def test_coming_back_to_a_state_begins_a_new_stay(bench: Workbench):
    lit(bench, timeout_mode="once")
    at(bench, DAY)
    for event in (2, 1):
        bench.trigger(event, def_name="Lamp")
    bench.process_all("c1")
    at(bench, 2 * DAY)
    assert firings(bench) == [*fired(1, DAY), *fired(1, 2 * DAY)]


@pytest.mark.scenario(67)
def test_a_refused_timeout_event_is_told_and_tried_again_after_the_recheck_time(bench: Workbench):
    in_review(bench)
    bench.engine.delete_consumer(1, "c1", PRINCIPAL, bench.deadline())
    bench.clock.advance(HOUR)
    report = bench.monitor()
    assert (report.found, report.timed_out, len(steps(bench))) == (1, 0, 2)
    refused = ("TRANSITION_REJECTED", {"reason": "NO_TRANSITION_CONSUMER", "event": "30", "state": "Review", "actor": "system"})
    assert said(bench) == [refused]
    assert (stands(bench)["state_due_at"], bench.count("lc_timeout")) == (HOUR + 60, 0)
    bench.register("c2")
    bench.clock.advance(59)
    assert bench.monitor().found == 0
    bench.clock.advance(1)
    assert bench.monitor().timed_out == 1
    assert (steps(bench)[-1], bench.sent()[-1]) == ((3, "Review", 30, "Rejected"), ("c2", 3, "transition", 1))
    assert [notice.data["n"] for notice in bench.noticed("TIMEOUT_FIRED")] == [1]


@pytest.mark.scenario(68)
@pytest.mark.parametrize(("mode", "told"), [("once", [1]), ("repeat", [1, 2, 3])])
def test_a_timeout_without_event_only_notices(bench: Workbench, mode: str, told: list[int]):
    lit(bench, timeout="PT1H", timeout_mode=mode, timeout_event=None)
    before = everything(bench)
    for hour in (1, 2, 3):
        bench.clock.at = START + timedelta(hours=hour)
        bench.monitor()
    assert [(notice.code.value, notice.data["n"], notice.data["timeout_event"]) for notice in bench.publisher.notices] == [
        ("STATE_TIMEOUT_EXCEEDED", n, None) for n in told
    ]
    after = everything(bench)
    assert {name for name in before if before[name] != after[name]} == {"instance", "lc_timeout"}
    assert (steps(bench), len(bench.sent())) == ([(1, "Off", 1, "On")], 1)


@pytest.mark.scenario(64)
def test_open_acks_do_not_stop_a_timeout_and_its_event_queues_behind_them(bench: Workbench):
    leave(bench)
    for event in (10, 40):
        bench.trigger(event)
    bench.sql("UPDATE ack_consumer SET next_due = '2027-01-01' WHERE status = 1")
    bench.clock.advance(HOUR)
    bench.monitor()
    assert steps(bench)[-1] == (3, "Review", 30, "Rejected")
    assert deliveries(bench)[1:] == [held(seq=2), held(seq=3)]
    assert bench.process_all("c1") == 3
    assert bench.sent() == [("c1", seq, "transition", 1) for seq in (1, 2, 3)]


@pytest.mark.scenario(64)
def test_a_timeout_for_a_consumer_that_is_down_waits_for_its_beat(bench: Workbench):
    bench.import_(definition_l())
    bench.register("c1", beat_seconds=10)
    for event in (10, 40):
        bench.trigger(event)
    bench.process_all("c1")
    bench.clock.advance(HOUR)
    assert bench.monitor().timed_out == 1
    assert deliveries(bench)[-1] == Delivery(seq=3, due=HOUR, attempts=0, sends=0, first_sent=None)
    bench.beat("c1")
    bench.monitor()
    assert bench.sent()[-1] == ("c1", 3, "transition", 1)


def test_more_timeouts_than_a_page_holds_fire_in_one_pass(make_bench: Any):
    bench = make_bench(monitor_page_size=3)
    refs = [f"R-{number}" for number in range(10)]
    in_review(bench, *refs)
    bench.clock.advance(HOUR)
    assert bench.monitor().timed_out == 10
    assert {len(steps(bench, ref)) for ref in refs} == {3}


def test_a_page_of_timeouts_with_many_hooks_has_ids_enough(bench: Workbench):
    emits = [{"route": f"APP.{number}"} for number in range(60)]
    bench.import_(definition_l(), {"policy_name": "p", "defName": "Leave", "params": [], "rules": [{"state": "Rejected", "emit": emits}]})
    bench.register(kinds=["transition"])
    bench.register("hooks", kinds=["hook"])
    refs = [f"R-{number}" for number in range(60)]
    for ref in refs:
        for event in (10, 40):
            bench.trigger(event, ref)
    bench.process_all("c1")
    bench.clock.advance(HOUR)
    report = bench.monitor()
    assert (report.timed_out, report.sent, bench.noticed("MONITOR_ERROR")) == (60, 60 * 61, [])
