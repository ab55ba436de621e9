"""Pass B: due events go out again, consumer by consumer, page by page (guidelines 3.5 B)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from workflow_engine.engine.pass_gate import BEGINNING, DOWN_NOTICE_AFTER, PassGate
from workflow_engine.engine.ports import PublishFailure
from workflow_engine.engine.rules.lanes import LaneView, free_rows, release
from workflow_engine.engine.rules.liveness import is_live
from workflow_engine.engine.rules.messages import stored_messages
from workflow_engine.engine.rules.redispatch import PageDecision, PageSeen, decide_page, whole_seqs
from workflow_engine.models.ack import AckConsumerRow, DueRow
from workflow_engine.models.base import time_text
from workflow_engine.models.enums import AckStatus, GaveUp, NoticeCode, SuspendedBy
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.monitor import MonitorReport
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.subscriber import DispatchConsumerRow

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, Statement, UnitIds, WorkFlowDAL
    from workflow_engine.engine.outbox import Outbox
    from workflow_engine.engine.ports import Clock
    from workflow_engine.engine.suspension import Suspension
    from workflow_engine.options import WorkFlowEngineOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWritten:
    messages: list[WorkMessage] = field(default_factory=list)
    notices: list[LifeCycleNotice] = field(default_factory=list)
    gave_up: int = 0
    suspended: int = 0


class Redispatch:
    def __init__(self, dal: "WorkFlowDAL", suspension: "Suspension", outbox: "Outbox", clock: "Clock", options: "WorkFlowEngineOptions") -> None:
        self._dal = dal
        self._suspension = suspension
        self._outbox = outbox
        self._clock = clock
        self._options = options

    def run(self, consumers: Sequence[DispatchConsumerRow], report: MonitorReport, gate: PassGate) -> None:
        """One page for each live consumer, the one with the oldest due row first, round and round while there is time."""
        now, deadline = self._clock.now(), gate.deadline
        self._say_who_is_down(consumers, now, deadline)
        queue = self._queue(consumers, now, report, deadline)
        failures: list[PublishFailure] = []
        while queue and gate.is_open():
            consumer, after = queue.popleft()
            page, failed = self._page(consumer, now, after, report, deadline)
            failures += failed
            if len(page) == self._options.monitor_page_size:
                queue.append((consumer, (page[-1].next_due, page[-1].ack_id)))
            if failed and len(failed) == len(page):
                # Nothing was taken: SNS is out, and more pages would only be claimed and given back.
                break
        self._say_failures(failures, report, deadline)

    def _is_live(self, consumer: DispatchConsumerRow, now: datetime) -> bool:
        return not consumer.is_deleted and is_live(consumer.beat_seconds, bool(consumer.is_always_live), consumer.last_beat, now, self._options.consumer_ttl_seconds)

    def _queue(self, consumers: Sequence[DispatchConsumerRow], now: datetime, report: MonitorReport, deadline: "Deadline") -> deque[tuple[DispatchConsumerRow, tuple[datetime, int]]]:
        """A statement a consumer, all in one packet: a down consumer's rows are not even looked at."""
        live = [consumer for consumer in consumers if self._is_live(consumer, now)]
        oldest = self._dal.run_reading(deadline, lambda load: self._dal.read_all(load, [self._dal.ack_consumer.get_oldest_due(consumer.consumer_id, now) for consumer in live]))
        due = sorted((rows[0].next_due, consumer.consumer_id, consumer) for consumer, rows in zip(live, oldest, strict=True) if rows)
        if due:
            report.oldest_due_seconds = max(report.oldest_due_seconds, (now - due[0][0]).total_seconds())
        return deque((consumer, BEGINNING) for _, _, consumer in due)

    def _page(self, consumer: DispatchConsumerRow, now: datetime, after: tuple[datetime, int], report: MonitorReport, deadline: "Deadline") -> tuple[list[DueRow], list[PublishFailure]]:
        """Three round trips: candidates, the same under their instances' locks, the claim; then publish."""
        size = self._options.monitor_page_size
        page = self._dal.run_reading(deadline, lambda load: self._dal.read(load, self._dal.ack_consumer.list_due_paged(consumer.consumer_id, now, after, size))[0])
        if not page:
            return [], []
        ids = self._dal.unit_ids()
        written = self._dal.run(deadline, lambda load: self._claim(load, consumer, page, ids), reserve=4 * size + 512)
        failures = self._outbox.send_quietly(written.messages, written.notices, deadline)
        report.found += len(page)
        report.sent += len(written.messages) - len(failures)
        report.given_back += len(failures)
        report.failed += written.gave_up
        report.suspended += written.suspended
        report.noticed += len(written.notices)
        return page, failures

    def _claim(self, load: "DbExecutionLoad", consumer: DispatchConsumerRow, page: Sequence[DueRow], ids: "UnitIds") -> PageWritten:
        seen = self._read(load, consumer, page)
        now = self._clock.now()
        decision = decide_page(seen, now, self._options)
        if not decision.claimed and not decision.gave_up:
            return PageWritten()
        statements, released = self._consequences(load, seen, decision, now)
        sent = [*decision.claimed, *released]
        leaf = self._dal.ack_consumer
        bodies = [self._dal.ack.list_bodies_by_ids([row.ack_id for row in sent])] if sent else []
        results = self._dal.write(
            load,
            [*(leaf.update_sent(row) for row in decision.claimed), *(leaf.update(row) for row in decision.gave_up), *statements, *self._outbox.notice_statements(decision.notices, ids), *bodies],
        )
        messages = stored_messages(sent, results[-1], {consumer.consumer_id: consumer.consumer}) if sent else []
        return PageWritten(messages=messages, notices=decision.notices, gave_up=len(decision.gave_up), suspended=len(decision.suspended))

    def _read(self, load: "DbExecutionLoad", consumer: DispatchConsumerRow, page: Sequence[DueRow]) -> PageSeen:
        leaf, ack_ids = self._dal.ack_consumer, [row.ack_id for row in page]
        instance_ids = sorted({row.instance_id for row in page})
        now = self._clock.now()
        locked, existing, pending, delivered = self._dal.read(
            load,
            self._dal.instance.lock_free_by_ids(instance_ids),
            self._dal.instance.list_existing(instance_ids),
            leaf.list_due_of_page(consumer.consumer_id, ack_ids, AckStatus.PENDING, now),
            leaf.list_due_of_page(consumer.consumer_id, ack_ids, AckStatus.DELIVERED, now),
        )
        missing = set(instance_ids) - {row.instance_id for row in existing}
        rows = whole_seqs([*pending, *delivered], 2 * self._options.monitor_page_size)
        return PageSeen(consumer=consumer, rows=rows, instances={**{row.instance_id: row for row in locked}, **dict.fromkeys(missing)})

    def _consequences(self, load: "DbExecutionLoad", seen: PageSeen, decision: PageDecision, now: datetime) -> tuple["list[Statement]", list[AckConsumerRow]]:
        """What giving up brings along: a suspended instance's rows lose their due times, a skipped lane goes on."""
        statements: list[Statement] = []
        for instance_id, reason in decision.suspended.items():
            instance = seen.instances[instance_id]
            if instance is not None:
                changed = {row.key for row in decision.gave_up}
                pending, delivered = self._suspension.read_open(load, instance_id)
                _, statement = self._suspension.suspend(instance, SuspendedBy.ENGINE, reason, now)
                statements += [statement, *self._suspension.disarm([row for row in [*pending, *delivered] if row.key not in changed], now)]
        released: list[AckConsumerRow] = []
        skipped = {row.lane for row in decision.gave_up if row.gave_up == GaveUp.SKIP and row.instance_id not in decision.suspended}
        for lane in sorted(skipped):
            released += self._after_skip(load, lane, decision, now)
        return [*statements, *(self._dal.ack_consumer.update(row) for row in released)], released

    def _after_skip(self, load: "DbExecutionLoad", lane: tuple[int, int], decision: PageDecision, now: datetime) -> list[AckConsumerRow]:
        leaf, take = self._dal.ack_consumer, len(decision.gave_up) + 1
        pending, parked, held = self._dal.read(load, leaf.list_lane(lane, AckStatus.PENDING, take), leaf.list_lane(lane, AckStatus.PARKED, take), leaf.list_lowest_held(lane))
        changed = {row.key: row for row in decision.gave_up if row.lane == lane}
        return release(free_rows(LaneView(blockers=[*pending, *parked], held=held), changed), is_live=True, now=now, options=self._options)

    def _say_who_is_down(self, consumers: Sequence[DispatchConsumerRow], now: datetime, deadline: "Deadline") -> None:
        """Once per downtime, after a day."""
        down = [row for row in consumers if not row.is_deleted and not self._is_live(row, now) and now - row.last_beat >= DOWN_NOTICE_AFTER and row.down_noticed_at is None]
        for row in down:
            changed = self._dal.run(deadline, lambda load, row=row: self._dal.write(load, [self._dal.dispatch.note_down(row.consumer_id, now)]), reserve=0)
            if changed[0]:
                notice = LifeCycleNotice(
                    code=NoticeCode.CONSUMER_DOWN,
                    occurred_at=now,
                    env_code=row.env_code,
                    consumer_id=row.consumer_id,
                    consumer=row.consumer,
                    data={"last_beat": time_text(row.last_beat), "down_seconds": int((now - row.last_beat).total_seconds())},
                )
                self._outbox.raise_notices([notice], deadline)

    def _say_failures(self, failures: Sequence[PublishFailure], report: MonitorReport, deadline: "Deadline") -> None:
        """One notice per consumer and pass, with a count."""
        if failures:
            notices = self._outbox.failure_notices(failures)
            report.noticed += len(notices)
            self._outbox.raise_notices(notices, deadline)
