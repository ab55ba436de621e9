"""What a deleted consumer left open is closed as skipped, in pages."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from workflow_engine.engine.pass_gate import PassGate
from workflow_engine.models.ack import AckConsumerRow
from workflow_engine.models.due import OpenOfDeletedRow
from workflow_engine.models.enums import AckStatus, GaveUp, SuspendedBy
from workflow_engine.models.monitor import MonitorReport
from workflow_engine.models.subscriber import DispatchConsumerRow

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, Statement
    from workflow_engine.engine.suspension import Suspension
    from workflow_engine.engine.tools import EngineTools
    from workflow_engine.models.instance import InstanceRow

_OPEN = frozenset({AckStatus.HELD, AckStatus.PENDING, AckStatus.DELIVERED, AckStatus.PARKED, AckStatus.SUSPENDING})
# A trigger that read the consumer before it was deleted has written its rows by then: no function runs that long.
_SETTLED = timedelta(seconds=90)
_MESSAGE = "the consumer was deleted"


class Closing:
    """Walks a deleted consumer's rows at once, and a second time when no trigger can add to them any more.

    `closed_ack_id` is where the walk stands; below zero it is the second walk (-1 = its beginning).
    """

    def __init__(self, tools: "EngineTools", suspension: "Suspension") -> None:
        self._dal = tools.dal
        self._clock = tools.clock
        self._options = tools.options
        self._suspension = suspension

    def run(self, consumers: Sequence[DispatchConsumerRow], report: MonitorReport, gate: PassGate) -> None:
        for consumer in consumers:
            if consumer.is_deleted and consumer.closed_ack_id is not None:
                self._walk(consumer, consumer.closed_ack_id, report, gate)

    def _walk(self, consumer: DispatchConsumerRow, position: int, report: MonitorReport, gate: PassGate) -> None:
        deadline = gate.deadline
        while gate.is_open():
            page, after = self._page(consumer.consumer_id, position, deadline)
            if not page:
                self._note(consumer.consumer_id, self._next_walk(consumer, position), deadline)
                return
            report.closed += self._dal.run(deadline, partial(self._close, consumer_id=consumer.consumer_id, page=page), reserve=0)
            if after is not None:
                position = after
                self._note(consumer.consumer_id, position, deadline)

    def _page(self, consumer_id: int, position: int, deadline: "Deadline") -> tuple[list[OpenOfDeletedRow], int | None]:
        take, is_second = self._options.monitor_page_size, position < 0
        after = -position - 1 if is_second else position
        reads = (self._dal.due.list_due_of_deleted(consumer_id, take), self._dal.due.list_others_of_deleted(consumer_id, after, take))
        due, others = self._dal.run_reading(deadline, lambda load: self._dal.read(load, *reads))
        if due:
            return due, None
        last = others[-1].ack_id if others else after
        return others, -last - 1 if is_second else last

    def _next_walk(self, consumer: DispatchConsumerRow, position: int) -> int | None:
        if self._clock.now() - consumer.modified < _SETTLED:
            return position
        return None if position < 0 else -1

    def _close(self, load: "DbExecutionLoad", consumer_id: int, page: Sequence[OpenOfDeletedRow]) -> int:
        lock = self._dal.instance.lock_by_ids(sorted({row.instance_id for row in page}))
        instances, rows = self._dal.read(load, lock, self._dal.due.list_by_ack_ids(consumer_id, [row.ack_id for row in page]))
        now, leaf = self._clock.now(), self._dal.ack_consumer
        closed = [replace(row, status=AckStatus.FAILED, next_due=None, gave_up=GaveUp.SKIP, modified=now) for row in rows if row.status in _OPEN]
        statements = [statement for row in closed for statement in (leaf.update(row), leaf.update_message(row, _MESSAGE, None))]
        suspending = {row.instance_id for row in rows if row.status == AckStatus.SUSPENDING}
        for instance in instances:
            if instance.instance_id in suspending and instance.suspended_by == SuspendedBy.ENGINE:
                statements += self._lifted(load, instance, closed, now)
        if statements:
            self._dal.write(load, statements)
        return len(closed)

    def _lifted(self, load: "DbExecutionLoad", instance: "InstanceRow", closed: Sequence[AckConsumerRow], now: datetime) -> "list[Statement]":
        """The engine's suspension ends with its last suspending row; what is released is due now and goes out with the next pass."""
        rows = self._suspension.read_rows(load, instance.instance_id)
        changed = {row.key: row for row in closed}
        if any(row.status == AckStatus.SUSPENDING and row.key not in changed for row in rows.gave_up):
            return []
        _, statement = self._suspension.lift(load, instance, now)
        return [statement, *self._suspension.rearm(rows, changed, reopen=False, now=now, hold_back=True).statements]

    def _note(self, consumer_id: int, position: int | None, deadline: "Deadline") -> None:
        self._dal.run(deadline, lambda load: self._dal.write(load, [self._dal.dispatch.note_closed(consumer_id, position)]), reserve=0)
