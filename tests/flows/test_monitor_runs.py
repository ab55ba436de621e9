"""LifeCycleMonitor: several passes per invocation, one monitor at a time by its lease, and what a pass reports."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.engine import PRINCIPAL, START, RecordingPublisher, Workbench
from tests.support.facts import codes, deliveries
from tests.support.racing import at_once, crew
from tests.support.rows import Rows, Sql
from tests.support.scenes import lamp, leave
from workflow_engine.dal import Deadline
from workflow_engine.engine import pass_gate
from workflow_engine.engine.ports import PublishFailure
from workflow_engine.models.base import time_text
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.monitor import MonitorReport

Bench = Callable[..., Workbench]
MINUTE, HOUR, DAY = 60, 3_600, 86_400


@dataclass
class WatchfulPublisher(RecordingPublisher):
    """Does something at every publish: looks at the lease, or takes it away."""

    then: Callable[[], Any] = lambda: None
    seen: list[Any] = field(default_factory=list)

    def publish(self, messages: Sequence[WorkMessage], deadline: Deadline) -> list[PublishFailure]:
        self.seen.append(self.then())
        return super().publish(messages, deadline)


def lease(bench: Workbench) -> tuple[str | None, float]:
    row = bench.sql("SELECT owner, expires_at FROM monitor_lease")[0]
    return row["owner"], (row["expires_at"] - START.replace(tzinfo=None)).total_seconds()


def run(bench: Workbench, seconds: float = 60) -> MonitorReport:
    return bench.engine.run_monitor(bench.deadline(seconds))


def lend(bench: Workbench, until: datetime, owner: str = "somebody else") -> None:
    bench.sql(f"UPDATE monitor_lease SET owner = '{owner}', expires_at = '{until:%Y-%m-%d %H:%M:%S}'")


def test_an_invocation_makes_a_pass_every_ten_seconds_until_fifty_are_gone(bench: Workbench):
    assert run(bench).passes == 5
    assert bench.clock.at == START + timedelta(seconds=40)


@pytest.mark.parametrize(("interval", "passes"), [(5, 10), (25, 2), (60, 1)])
def test_the_interval_is_an_option(make_bench: Bench, interval: int, passes: int):
    assert run(make_bench(monitor_interval_seconds=interval)).passes == passes


def test_a_window_of_thirty_seconds_is_kept_within_one_invocation(make_bench: Bench):
    bench = make_bench(ack_pending_resend_seconds=30)
    leave(bench)
    bench.trigger("Submit")
    report = run(bench)
    assert (report.passes, report.sent, deliveries(bench)[0].last_retry) == (5, 1, 30)


def test_the_lease_is_taken_renewed_before_every_pass_and_given_back(make_bench: Bench):
    bench = make_bench(ack_pending_resend_seconds=10, backoff_factor=1)
    publisher = WatchfulPublisher()
    leave(bench)
    bench.trigger("Submit")
    monitor = bench.another(publisher=publisher)
    publisher.then = lambda: lease(bench)
    run(monitor)
    owners = {owner for owner, _ in publisher.seen}
    assert len(owners) == 1
    assert None not in owners
    assert [expires for _, expires in publisher.seen] == [10 + 30, 20 + 30, 30 + 30, 40 + 30]
    assert lease(bench) == (None, 40)


def test_whoever_does_not_get_the_lease_tries_every_second_until_it_has_run_out(bench: Workbench):
    lend(bench, START + timedelta(seconds=25))
    report = run(bench)
    # At 25, 35 and 45 seconds.
    assert (report.passes, bench.clock.at) == (3, START + timedelta(seconds=45))
    assert lease(bench) == (None, 45)


def test_whoever_never_gets_the_lease_makes_no_pass_and_leaves_it_alone(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    bench.clock.advance(HOUR)
    lend(bench, bench.clock.at + timedelta(hours=1))
    report = run(bench)
    assert (report, len(bench.sent())) == (MonitorReport(), 1)
    assert lease(bench)[0] == "somebody else"
    assert bench.clock.at == START + timedelta(hours=1, seconds=49)


def test_a_lease_that_is_given_back_is_taken_within_a_second(bench: Workbench):
    lend(bench, START + timedelta(hours=1))
    bench.clock.sleep = lambda seconds: (bench.clock.advance(seconds), bench.sql("UPDATE monitor_lease SET owner = NULL"))[0]  # type: ignore[method-assign]
    assert run(bench).passes == 5


def test_a_monitor_that_lost_its_lease_in_the_middle_begins_no_other_page(make_bench: Bench, monkeypatch: pytest.MonkeyPatch):
    bench = make_bench(monitor_page_size=2)
    leave(bench)
    for number in range(9):
        bench.trigger("Submit", f"R-{number}")
    bench.clock.advance(40)
    seconds = iter(range(0, 10_000, 4))
    monkeypatch.setattr(pass_gate, "monotonic", lambda: next(seconds))
    publisher = WatchfulPublisher(then=lambda: lend(bench, bench.clock.at + timedelta(hours=1)))
    report = run(bench.another(publisher=publisher))
    assert report.passes == 1
    assert 0 < report.sent < 9
    assert lease(bench)[0] == "somebody else"


def test_a_long_pass_renews_its_lease_before_it_runs_out(make_bench: Bench, monkeypatch: pytest.MonkeyPatch):
    bench = make_bench(monitor_page_size=2)
    leave(bench)
    for number in range(12):
        bench.trigger("Submit", f"R-{number}")
    bench.clock.advance(40)
    seconds = iter(range(0, 10_000, 6))
    monkeypatch.setattr(pass_gate, "monotonic", lambda: next(seconds))
    publisher = WatchfulPublisher(then=lambda: (lease(bench)[1], bench.clock.advance(6))[0])
    assert run(bench.another(publisher=publisher)).sent == 12
    # Six pages, six seconds each: the lease moved on while they went out.
    assert publisher.seen[0] == 40 + 30
    assert publisher.seen[-1] > publisher.seen[0]
    assert all(expires > 40 + 6 * number for number, expires in enumerate(publisher.seen))


def test_without_time_left_no_pass_is_begun_and_the_lease_is_free(bench: Workbench):
    assert run(bench, seconds=0) == MonitorReport()
    assert lease(bench)[0] is None


def test_a_pass_on_its_own_asks_for_no_lease(bench: Workbench):
    lend(bench, START + timedelta(hours=1))
    assert bench.monitor().passes == 1
    assert lease(bench)[0] == "somebody else"


def test_a_pass_with_nothing_to_do_reports_nothing_but_itself(bench: Workbench):
    leave(bench)
    report = bench.monitor()
    assert replace(report, seconds=0.0) == MonitorReport(passes=1)
    assert report.seconds > 0
    assert bench.sql("SELECT last_pass_at FROM monitor_lease") == [{"last_pass_at": START.replace(tzinfo=None)}]


def test_a_report_counts_everything_that_happened(make_bench: Bench):
    bench = make_bench(max_retry_count=2)
    leave(bench, "c1", "c2")
    for event in (10, 40):
        bench.trigger(event, "TIMES-OUT")
    bench.trigger(10, "STALE")
    bench.process_all("c1", "c2")
    bench.clock.advance(DAY - 100)
    for ref in ("RESENT", "EXHAUSTED"):
        bench.ack(bench.trigger(10, ref).ack_guid, "Processed", "c2")
    bench.sql("UPDATE ack_consumer SET trigger_count = 2 WHERE instance_id = (SELECT id FROM instance WHERE external_ref = 'EXHAUSTED')")
    bench.trigger(10, "LEFT")
    bench.engine.delete_consumer(1, "c2", PRINCIPAL, bench.deadline())
    bench.publisher.notices.clear()
    bench.publisher.refuse = lambda message: message.seq == 3
    bench.clock.advance(100)
    report = bench.monitor()
    assert replace(report, seconds=0.0) == MonitorReport(
        passes=1, found=5, sent=2, given_back=1, failed=1, suspended=1, timed_out=1, noticed=len(bench.publisher.notices), closed=1, oldest_due_seconds=60.0
    )
    told = ["DEFAULT_STATE_STALE", "ACK_RETRY", "ACK_RETRY", "ACK_SUSPEND", "STATE_TIMEOUT_EXCEEDED", "TIMEOUT_FIRED", "DISPATCH_FAILURE"]
    assert sorted(notice.code.value for notice in bench.publisher.notices) == sorted(told)


def test_the_reports_of_an_invocation_are_added_up(make_bench: Bench):
    bench = make_bench(ack_pending_resend_seconds=10, backoff_factor=1)
    leave(bench)
    bench.trigger("Submit")
    bench.clock.advance(17)
    report = run(bench)
    assert (report.passes, report.found, report.sent, report.noticed, report.oldest_due_seconds) == (5, 5, 5, 5, 7.0)


def sleeper(bench: Workbench) -> None:
    lamp(bench, "c1")
    bench.register("c2", beat_seconds=10)


def test_a_consumer_that_is_down_for_a_day_is_told_of_once(bench: Workbench):
    sleeper(bench)
    bench.clock.advance(DAY - 1)
    assert (bench.monitor().noticed, codes(bench)) == (0, [])
    bench.clock.advance(1)
    assert bench.monitor().noticed == 1
    consumer_id = bench.sql("SELECT id FROM consumer WHERE consumer_guid = 'c2'")[0]["id"]
    assert [notice.body() for notice in bench.publisher.notices] == [
        {
            "code": "CONSUMER_DOWN",
            "kind": "Warn",
            "env_code": 1,
            "instance_id": None,
            "instance_guid": None,
            "external_ref": None,
            "consumer_id": consumer_id,
            "consumer": "c2",
            "ack_guid": None,
            "occurred_at": time_text(START + timedelta(days=1)),
            "data": {"last_beat": time_text(START), "down_seconds": DAY},
        }
    ]
    for _ in range(10):
        bench.clock.advance(DAY)
        bench.another().monitor()
    assert codes(bench) == ["CONSUMER_DOWN"]


@pytest.mark.parametrize("comes_back", ["beat", "registration"])
def test_every_downtime_is_told_of_anew(bench: Workbench, comes_back: str):
    sleeper(bench)
    bench.clock.advance(DAY)
    bench.monitor()
    bench.beat("c2") if comes_back == "beat" else bench.register("c2", beat_seconds=10)
    bench.clock.advance(DAY - 1)
    bench.monitor()
    assert codes(bench) == ["CONSUMER_DOWN"]
    bench.clock.advance(1)
    bench.monitor()
    assert codes(bench) == ["CONSUMER_DOWN"] * 2


def test_a_consumer_that_opted_out_of_beats_or_was_deleted_is_never_down(bench: Workbench):
    sleeper(bench)
    bench.engine.delete_consumer(1, "c2", PRINCIPAL, bench.deadline())
    bench.clock.advance(30 * DAY)
    bench.monitor()
    assert codes(bench) == []


def test_two_monitors_tell_of_a_downtime_once(bench: Workbench):
    lamp(bench, "c1")
    for number in range(20):
        bench.register(f"down-{number}", beat_seconds=10)
    bench.clock.advance(DAY)
    at_once([monitor.monitor for monitor in crew(bench, 2)])
    assert codes(bench) == ["CONSUMER_DOWN"] * 20


def test_notices_are_forgotten_after_their_time_a_page_a_pass(make_bench: Bench):
    bench = make_bench(notice_ttl_days=3)
    rows = Rows(bench.database_url)
    age = f"DATE_SUB('{START:%Y-%m-%d %H:%M:%S}', INTERVAL n SECOND)"
    old = {"code": "ACK_RETRY", "kind": "Warn", "data": "{}"}
    rows.many("notice", 2_500, id=Sql("1000000 + n"), occurred_at=Sql(f"DATE_SUB({age}, INTERVAL 259200 SECOND)"), **old)
    rows.many("notice", 10, id=Sql("2000000 + n"), occurred_at=Sql(age), **old)
    rows.close()
    left: list[int] = []
    for _ in range(4):
        bench.monitor()
        left.append(bench.count("notice"))
    # The one that is three days old to the second stays.
    assert left == [1_510, 510, 11, 11]


@pytest.mark.scenario(59)
def test_a_monitor_without_its_database_says_so_once():
    bench = Workbench("mysql://nobody:nothing@127.0.0.1:1/none")
    report = bench.engine.run_monitor(bench.deadline(12))
    assert (report.passes, [notice.code.value for notice in bench.noticed()]) == (0, ["MONITOR_ERROR"])
