"""Commit first, then tell: nothing is raised that is not committed, and nothing committed is lost."""

import logging
from typing import Any

import pytest

from tests.support.engine import START, Workbench
from tests.support.facts import PROFILES, Delivery, codes, deliveries, everything, held, said, stands, steps, waiting
from tests.support.racing import on
from tests.support.scenes import leave, leave_with_hook, register_beating
from workflow_engine.adapters.database import url_target
from workflow_engine.dal import Db
from workflow_engine.errors import StorageError
from workflow_engine.models.base import time_text
from workflow_engine.models.enums import NoticeKind

NOWHERE = "mysql://nobody:nothing@127.0.0.1:9/none"


@pytest.fixture(params=PROFILES.values(), ids=PROFILES.keys())
def timed(request: pytest.FixtureRequest, make_bench: Any) -> Workbench:
    return make_bench(**request.param)


class KilledDb(Db):
    """The server ends the connection between the changes and their COMMIT, as often as told."""

    def __init__(self, bench: Workbench, times: int) -> None:
        super().__init__(url_target(bench.database_url))
        self._bench, self._times = bench, times
        self.killed = 0

    def send(self, load: Any, packet: Any) -> list[Any]:
        is_step = any("INSERT INTO lifecycle " in part.sql for part in packet)
        if not is_step or self.killed == self._times:
            return super().send(load, packet)
        self.killed += 1
        super().send(load, packet[:-1])
        assert self._connection is not None
        self._bench.sql(f"KILL {self._connection.thread_id()}")
        return super().send(load, packet[-1:])


@pytest.mark.scenario(24)
def test_what_cannot_be_committed_is_not_raised(bench: Workbench):
    leave_with_hook(bench)
    before = everything(bench)
    with pytest.raises(StorageError):
        on(bench, KilledDb(bench, times=99)).trigger("Submit", request_id="r-1")
    assert everything(bench) == before
    assert bench.sent() == []
    assert [notice.code.value for notice in bench.publisher.notices] == ["TRIGGER_ERROR"]


@pytest.mark.scenario(24)
def test_a_connection_that_ends_before_the_commit_is_no_fault_of_the_caller(bench: Workbench):
    leave_with_hook(bench)
    db = KilledDb(bench, times=2)
    answer = on(bench, db).trigger("Submit", request_id="r-1")
    assert (db.killed, answer.applied, answer.replayed) == (2, True, False)
    assert steps(bench) == [(1, "Draft", 10, "Submitted")]
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 1, "hook", 1)]


@pytest.mark.scenario(24)
def test_what_sns_does_not_take_stays_pending_is_said_and_is_sent_later_with_the_same_guid(timed: Workbench):
    window = timed.options.ack_pending_resend_seconds
    leave(timed, "c1", "c2")
    timed.publisher.refuse = lambda message: message.consumer == "c1"
    answer = timed.trigger("Submit")
    assert answer.applied
    given_back = Delivery(due=window, attempts=0, sends=0, first_sent=None)
    assert deliveries(timed) == [given_back, Delivery(consumer="c2", due=window)]
    assert said(timed) == [("DISPATCH_FAILURE", {"count": 1, "reason": "Throttling", "retry_at": time_text(START.replace(second=window))})]
    notice = timed.publisher.notices[0]
    assert (notice.code.kind, notice.consumer, notice.ack_guid) == (NoticeKind.WARN, "c1", answer.ack_guid)
    assert (notice.instance_guid, notice.external_ref) == (answer.instance_guid, "R-1")
    timed.publisher.refuse = lambda _message: False
    timed.clock.advance(window - 1)
    timed.monitor()
    assert timed.sent("c1") == []
    timed.clock.advance(1)
    timed.ack(answer.ack_guid, "Delivered", "c2")
    timed.monitor()
    assert timed.sent("c1") == [("c1", 1, "transition", 1)]
    assert {message.webhook_id for message in timed.publisher.messages} == {answer.ack_guid}
    assert len({message.body for message in timed.publisher.messages}) == 1
    assert deliveries(timed)[0] == Delivery(due=2 * window, first_sent=window, last_retry=window)


@pytest.mark.scenario(24)
def test_a_refused_hook_is_one_notice_per_consumer_with_a_count(bench: Workbench):
    leave_with_hook(bench, "c1", "c2")
    bench.publisher.refuse = lambda _message: True
    guid = bench.trigger("Submit").instance_guid
    failures = [(notice.consumer, notice.data["count"], notice.ack_guid, notice.instance_guid) for notice in bench.noticed("DISPATCH_FAILURE")]
    assert failures == [("c1", 2, None, guid), ("c2", 2, None, guid)]
    assert codes(bench) == ["DISPATCH_FAILURE"] * 2


@pytest.mark.scenario(24)
def test_a_failure_that_concerns_several_instances_names_none_of_them(bench: Workbench):
    leave(bench)
    for ref in ("R-1", "R-2"):
        bench.trigger("Submit", ref)
    bench.publisher.refuse = lambda _message: True
    bench.clock.advance(40)
    bench.monitor()
    (notice,) = bench.noticed("DISPATCH_FAILURE")
    assert (notice.data["count"], notice.instance_id, notice.instance_guid, notice.external_ref, notice.ack_guid) == (2, None, None, None, None)


@pytest.mark.scenario(24, 90)
def test_a_publisher_that_breaks_changes_no_answer_and_loses_nothing(bench: Workbench):
    leave(bench)
    bench.publisher.breaks = RuntimeError("no such topic")
    answer = bench.trigger("Submit", request_id="r-1")
    assert (answer.applied, answer.replayed) == (True, False)
    assert deliveries(bench) == [Delivery(attempts=0, sends=0, first_sent=None)]
    assert [(code, data["count"], data["reason"]) for code, data in said(bench)] == [("EVENT_HANDLER_ERROR", 1, "RuntimeError")]
    bench.publisher.breaks = None
    bench.clock.advance(40)
    bench.monitor()
    assert bench.sent() == [("c1", 1, "transition", 1)]


@pytest.mark.scenario(95)
@pytest.mark.parametrize("beat", [{"beat_seconds": 10}, {}], ids=["own-beat", "engines-ttl"])
def test_a_consumer_that_is_down_gets_its_row_and_no_message_until_it_beats(bench: Workbench, beat: dict[str, int]):
    leave(bench, "c1")
    register_beating(bench, "c2", **beat)
    bench.clock.advance(30.000001)
    bench.trigger("Submit")
    bench.trigger("Approve")
    assert bench.sent() == [("c1", 1, "transition", 1)]
    assert deliveries(bench)[2:] == [waiting(consumer="c2", due=30.000001), held(consumer="c2", seq=2)]
    bench.clock.advance(5_000)
    bench.monitor()
    assert deliveries(bench)[2:] == [waiting(consumer="c2", due=30.000001), held(consumer="c2", seq=2)]
    bench.beat("c2")
    bench.monitor()
    assert bench.sent("c2") == [("c2", 1, "transition", 1)]
    bench.ack(bench.publisher.messages[-1].webhook_id, "Delivered", "c2")
    assert bench.sent("c2") == [("c2", 1, "transition", 1), ("c2", 2, "transition", 1)]


@pytest.mark.scenario(95)
def test_a_consumer_is_alive_up_to_the_last_moment_of_its_window(bench: Workbench):
    leave(bench, "elsewhere")
    bench.register("c1", beat_seconds=10)
    bench.clock.advance(30)
    bench.trigger("Submit", "R-1")
    bench.clock.advance(0.000001)
    bench.trigger("Submit", "R-2")
    assert [body["external_ref"] for body in bench.bodies("c1")] == ["R-1"]


@pytest.mark.scenario(110)
def test_a_registered_consumer_that_is_down_is_enough_for_the_transition_to_apply(bench: Workbench):
    leave_with_hook(bench)
    bench.register("c1", beat_seconds=10)
    bench.clock.advance(60)
    answer = bench.trigger("Submit")
    assert (answer.applied, stands(bench)["state"]) == (True, "Submitted")
    assert deliveries(bench) == [waiting(due=60), waiting(kind="hook", due=60)]
    assert (bench.sent(), codes(bench)) == ([], [])


@pytest.mark.scenario(118)
def test_a_trigger_without_a_database_is_logged_published_and_answered_as_try_again(caplog: pytest.LogCaptureFixture):
    bench = Workbench(NOWHERE)
    with caplog.at_level(logging.ERROR), pytest.raises(StorageError) as caught:
        bench.trigger("Submit", "VENDOR-1", request_id="r-1")
    assert caught.value.code == "UNAVAILABLE"
    (notice,) = bench.publisher.notices
    assert notice.body() == {
        "code": "TRIGGER_ERROR",
        "kind": "Error",
        "env_code": 1,
        "instance_id": None,
        "instance_guid": None,
        "external_ref": "VENDOR-1",
        "consumer_id": None,
        "consumer": None,
        "ack_guid": None,
        "occurred_at": time_text(START),
        "data": {"error": "StorageError", "definition": "Leave", "event": "Submit", "request_id": "r-1"},
    }
    (record,) = [record for record in caplog.records if record.getMessage() == "trigger failed"]
    assert (record.levelname, record.__dict__["external_ref"], record.__dict__["request_id"]) == ("ERROR", "VENDOR-1", "r-1")


class BrokenDb(Db):
    """Has a fault of its own when a step is written."""

    def send(self, load: Any, packet: Any) -> list[Any]:
        if any("INSERT INTO lifecycle " in part.sql for part in packet):
            raise ZeroDivisionError
        return super().send(load, packet)


@pytest.mark.scenario(118)
def test_any_other_fault_is_said_stored_and_raised_with_nothing_left_behind(bench: Workbench):
    leave(bench)
    before = everything(bench)
    with pytest.raises(ZeroDivisionError):
        on(bench, BrokenDb(url_target(bench.database_url))).trigger("Submit")
    assert everything(bench) == before
    assert said(bench) == [("TRIGGER_ERROR", {"error": "ZeroDivisionError", "definition": "Leave", "event": "Submit", "request_id": None})]
    assert bench.trigger("Submit").applied


@pytest.mark.scenario(118)
def test_a_refusal_or_a_callers_mistake_is_no_trigger_error(bench: Workbench):
    leave(bench)
    bench.trigger("Approve")
    for mistake in ({"def_name": "Holiday"}, {"instance_guid": "0" * 36}):
        with pytest.raises(Exception, match="no "):
            bench.trigger("Submit", **mistake)
    assert codes(bench) == ["TRANSITION_REJECTED"]
