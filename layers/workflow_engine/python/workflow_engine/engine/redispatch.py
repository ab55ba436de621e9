"""Pass B: due events go out again, consumer by consumer, page by page (guidelines 3.5 B)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from workflow_engine.engine.pass_gate import BEGINNING, PassGate
from workflow_engine.engine.pass_trouble import PassTrouble
from workflow_engine.engine.ports import PublishFailure
from workflow_engine.engine.rules.lanes import LaneView, free_rows, release
from workflow_engine.engine.rules.liveness import is_live
from workflow_engine.engine.rules.messages import stored_messages
from workflow_engine.engine.rules.redispatch import PageDecision, PageSeen, decide_page, whole_seqs
from workflow_engine.errors import StorageError
from workflow_engine.models.ack import AckBodyRow, AckConsumerRow, DueRow
from workflow_engine.models.base import time_text
from workflow_engine.models.enums import AckStatus, GaveUp, NoticeCode, SuspendedBy
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.monitor import MonitorReport
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.subscriber import DispatchConsumerRow

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, Statement, UnitIds
    from workflow_engine.engine.ack_manager import AckManager
    from workflow_engine.engine.suspension import Suspension
    from workflow_engine.engine.tools import EngineTools

DOWN_NOTICE_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """How far this pass has come with one consumer."""

    consumer: DispatchConsumerRow
    now: datetime
    after: tuple[datetime, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageClaimed:
    messages: list[WorkMessage] = field(default_factory=list)
    notices: list[LifeCycleNotice] = field(default_factory=list)
    gave_up: int = 0
    suspended: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTried:
    """What one attempt at a page meant to write; a lost connection may hide that it was committed."""

    decision: PageDecision
    sent: list[AckConsumerRow]

    def claimed(self, sent: Sequence[AckConsumerRow], bodies: Sequence[AckBodyRow], consumer: DispatchConsumerRow) -> PageClaimed:
        messages = stored_messages(sent, bodies, {consumer.consumer_id: consumer.consumer})
        return PageClaimed(messages=messages, notices=self.decision.notices, gave_up=len(self.decision.gave_up), suspended=len(self.decision.suspended))


class Redispatch:
    def __init__(self, tools: "EngineTools", suspension: "Suspension", ack_manager: "AckManager") -> None:
        self._dal = tools.dal
        self._outbox = tools.outbox
        self._clock = tools.clock
        self._options = tools.options
        self._suspension = suspension
        self._ack_manager = ack_manager

    def run(self, consumers: Sequence[DispatchConsumerRow], report: MonitorReport, gate: PassGate, trouble: PassTrouble) -> None:
        """One page for each live consumer, the one with the oldest due row first, round and round while there is time."""
        now = self._clock.now()
        queue = self._queue([consumer for consumer in consumers if self._is_live(consumer, now)], now, report, gate.deadline)
        while queue and gate.is_open():
            walk = queue.popleft()
            page = self._page(walk, gate.deadline)
            failures: list[PublishFailure] = []
            try:
                failures = self._claim_and_send(walk.consumer, page, report, gate.deadline) if page else []
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001  # a page that cannot be handled keeps neither the next one nor other consumers waiting
                trouble.note(error, walk.consumer)
            trouble.failures += failures
            if len(page) == self._options.monitor_page_size:
                queue.append(replace(walk, after=(page[-1].next_due, page[-1].ack_id)))
            if any(failure.is_outage for failure in failures):
                # SNS is out: more pages would only be claimed and given back. Where it refuses one consumer's messages, the others go on.
                break

    def say_who_is_down(self, consumers: Sequence[DispatchConsumerRow], report: MonitorReport, deadline: "Deadline") -> None:
        """Once per downtime, after a day; the beat forgets it."""
        now = self._clock.now()
        for row in consumers:
            if row.is_deleted or row.down_noticed_at is not None or self._is_live(row, now) or now - row.last_beat < DOWN_NOTICE_AFTER:
                continue
            if self._dal.run(deadline, partial(self._note_down, row=row, now=now), reserve=0):
                report.noticed += 1
                self._outbox.raise_notices([_down_notice(row, now)], deadline)

    def _note_down(self, load: "DbExecutionLoad", row: DispatchConsumerRow, now: datetime) -> bool:
        """Tell whether it was this unit that noted it: another monitor may have, or an attempt whose answer was lost."""
        leaf = self._dal.dispatch
        changed, rows = self._dal.write(load, [leaf.note_down(row.consumer_id, now), leaf.get_consumer(row.consumer_id)])
        return bool(changed) or (load.is_uncertain and [one.down_noticed_at for one in rows] == [now])

    def _is_live(self, consumer: DispatchConsumerRow, now: datetime) -> bool:
        alive = is_live(consumer.beat_seconds, bool(consumer.is_always_live), consumer.last_beat, now, self._options.consumer_ttl_seconds)
        return alive and not consumer.is_deleted

    def _queue(self, live: Sequence[DispatchConsumerRow], now: datetime, report: MonitorReport, deadline: "Deadline") -> deque[Walk]:
        """A statement a consumer, all in one packet: a down consumer's rows are not even looked at."""
        reads = [self._dal.ack_consumer.get_oldest_due(consumer.consumer_id, now) for consumer in live]
        oldest = self._dal.run_reading(deadline, lambda load: self._dal.read_all(load, reads))
        due = sorted(((rows[0].next_due, consumer) for consumer, rows in zip(live, oldest, strict=True) if rows), key=lambda pair: pair[0])
        if due:
            report.oldest_due_seconds = max(report.oldest_due_seconds, (now - due[0][0]).total_seconds())
        return deque(Walk(consumer=consumer, now=now, after=BEGINNING) for _, consumer in due)

    def _page(self, walk: Walk, deadline: "Deadline") -> list[DueRow]:
        due = self._ack_manager.list_due_dispatch(walk.consumer.consumer_id, walk.now, walk.after)
        return self._dal.run_reading(deadline, lambda load: self._dal.read(load, due)[0])

    def _claim_and_send(self, consumer: DispatchConsumerRow, page: Sequence[DueRow], report: MonitorReport, deadline: "Deadline") -> list[PublishFailure]:
        """Two more round trips: the page again under its instances' locks, then the claim; publish after that."""
        ids, reserve = self._dal.unit_ids(), 4 * self._options.monitor_page_size + 512
        claimed = self._dal.run(deadline, partial(self._claim, consumer=consumer, page=page, ids=ids, tried=[]), reserve=reserve)
        failures = self._outbox.send_quietly(claimed.messages, claimed.notices, deadline)
        report.found += len(page)
        report.sent += len(claimed.messages) - len(failures)
        report.given_back += len(failures)
        report.failed += claimed.gave_up
        report.suspended += claimed.suspended
        report.noticed += len(claimed.notices)
        return failures

    def _claim(self, load: "DbExecutionLoad", consumer: DispatchConsumerRow, page: Sequence[DueRow], ids: "UnitIds", tried: list[PageTried]) -> PageClaimed:
        seen = self._read(load, consumer, page)
        committed = self._committed(load, consumer, tried) if load.is_uncertain else None
        if committed is not None:
            return committed
        now = self._clock.now()
        decision = decide_page(seen, now, self._options)
        if not decision.claimed and not decision.gave_up:
            return PageClaimed()
        released = self._released(load, decision, now)
        sent, leaf = [*decision.claimed, *released], self._dal.ack_consumer
        bodies = [self._dal.ack.list_bodies_by_ids([row.ack_id for row in sent])] if sent else []
        statements = [
            *(leaf.update_sent(row) for row in decision.claimed),
            *(leaf.update(row) for row in [*decision.gave_up, *released]),
            *self._suspended(load, seen, decision, now),
            *self._outbox.notice_statements(decision.notices, ids),
        ]
        tried.append(PageTried(decision=decision, sent=sent))
        results = self._dal.write(load, [*statements, *bodies])
        return tried[-1].claimed(sent, results[-1] if sent else [], consumer)

    def _committed(self, load: "DbExecutionLoad", consumer: DispatchConsumerRow, tried: Sequence[PageTried]) -> PageClaimed | None:
        """Find the attempt whose rows are in the database; what nobody has touched since is published."""
        for attempt in tried:
            ids = [row.ack_id for row in attempt.sent]
            rows = self._dal.due.list_by_ack_ids(consumer.consumer_id, [*ids, *(row.ack_id for row in attempt.decision.gave_up)])
            present, bodies = self._dal.read(load, rows, self._dal.ack.list_bodies_by_ids(ids or [0]))
            if any(row in present for row in [*attempt.sent, *attempt.decision.gave_up]):
                return attempt.claimed([row for row in attempt.sent if row in present], bodies, consumer)
        return None

    def _read(self, load: "DbExecutionLoad", consumer: DispatchConsumerRow, page: Sequence[DueRow]) -> PageSeen:
        leaf, ack_ids = self._dal.ack_consumer, [row.ack_id for row in page]
        instance_ids = sorted({row.instance_id for row in page})
        now = self._clock.now()
        locked, existing, pending, delivered = self._dal.read(
            load,
            # After a lost connection it is most likely our own packet that still holds the locks: wait for it.
            self._dal.instance.lock_by_ids(instance_ids) if load.is_uncertain else self._dal.instance.lock_free_by_ids(instance_ids),
            self._dal.instance.list_existing(instance_ids),
            leaf.list_due_of_page(consumer.consumer_id, ack_ids, AckStatus.PENDING, now),
            leaf.list_due_of_page(consumer.consumer_id, ack_ids, AckStatus.DELIVERED, now),
        )
        missing = set(instance_ids) - {row.instance_id for row in existing}
        rows = whole_seqs([*pending, *delivered], 2 * self._options.monitor_page_size)
        return PageSeen(consumer=consumer, rows=rows, instances={**{row.instance_id: row for row in locked}, **dict.fromkeys(missing)})

    def _suspended(self, load: "DbExecutionLoad", seen: PageSeen, decision: PageDecision, now: datetime) -> "list[Statement]":
        """The flag is set, and the instance's other open rows lose their due times."""
        statements: list[Statement] = []
        gave_up = {row.key for row in decision.gave_up}
        open_rows = self._suspension.read_open(load, list(decision.suspended))
        for instance_id, reason in decision.suspended.items():
            instance = seen.instances[instance_id]
            if instance is not None:
                _, statement = self._suspension.suspend(instance, SuspendedBy.ENGINE, reason, now)
                statements += [statement, *self._suspension.disarm([row for row in open_rows[instance_id] if row.key not in gave_up], now)]
        return statements

    def _released(self, load: "DbExecutionLoad", decision: PageDecision, now: datetime) -> list[AckConsumerRow]:
        """Lanes whose row was skipped go on; they are read in one packet."""
        leaf, take = self._dal.ack_consumer, len(decision.gave_up) + 1
        lanes = sorted({row.lane for row in decision.gave_up if row.gave_up == GaveUp.SKIP and row.instance_id not in decision.suspended})
        reads = [
            read
            for lane in lanes
            for read in (leaf.list_lane(lane, AckStatus.PENDING, take), leaf.list_lane(lane, AckStatus.PARKED, take), leaf.list_lowest_held(lane))
        ]
        found = self._dal.read_all(load, reads)
        released: list[AckConsumerRow] = []
        for place, lane in enumerate(lanes):
            pending, parked, held = found[3 * place : 3 * place + 3]
            changed = {row.key: row for row in decision.gave_up if row.lane == lane}
            free = free_rows(LaneView(blockers=[*pending, *parked], held=held), changed)
            released += release(free, is_live=True, now=now, options=self._options)
        return released


def _down_notice(row: DispatchConsumerRow, now: datetime) -> LifeCycleNotice:
    return LifeCycleNotice(
        code=NoticeCode.CONSUMER_DOWN,
        occurred_at=now,
        env_code=row.env_code,
        consumer_id=row.consumer_id,
        consumer=row.consumer,
        data={"last_beat": time_text(row.last_beat), "down_seconds": int((now - row.last_beat).total_seconds())},
    )
