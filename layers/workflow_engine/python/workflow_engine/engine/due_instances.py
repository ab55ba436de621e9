"""Instances whose time has come, page by page, and what both passes over them read under their locks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from workflow_engine.engine.pass_gate import BEGINNING, PassGate
from workflow_engine.engine.rules.state_due import state_due
from workflow_engine.errors import WorkFlowError
from workflow_engine.models.due import DueInstanceRow, FiringsRow
from workflow_engine.models.enums import StateDueKind
from workflow_engine.models.instance import InstanceRow
from workflow_engine.models.policy import TimeoutRule
from workflow_engine.models.subscriber import SubscriberRow
from workflow_engine.models.transition import StateDue

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Query
    from workflow_engine.engine.tools import EngineTools


@dataclass(frozen=True, slots=True, kw_only=True)
class DueInstance:
    """A locked instance in the stay that was due, who listens to it, and how often its timeout fired."""

    instance: InstanceRow
    firings: FiringsRow
    subscribers: list[SubscriberRow]

    def is_due(self, now: datetime) -> bool:
        return self.instance.state_due_at is not None and self.instance.state_due_at <= now

    def is_moved_to(self, due: StateDue | None) -> bool:
        """Tell whether the row carries these times: an attempt that decided on them was committed then."""
        return due is not None and (self.instance.stale_at, self.instance.state_due_at) == (due.stale_at, due.due_at)

    def trouble(self, error: Exception) -> WorkFlowError:
        """Name the instance that could not be handled."""
        wrapped = WorkFlowError(f"instance {self.instance.instance_guid}: {type(error).__name__}: {error}")
        wrapped.__cause__ = error
        return wrapped

    def next_due(self, timeout: TimeoutRule | None, firings: FiringsRow, stale_at: datetime | None) -> StateDue:
        """Nothing is due while the instance is not active."""
        instance = self.instance
        if not instance.is_active:
            return StateDue(stale_at=stale_at)
        return state_due(timeout, instance.state_entered_at, firings, stale_at or instance.state_entered_at)


class DueInstances:
    def __init__(self, tools: "EngineTools") -> None:
        self._dal = tools.dal
        self._clock = tools.clock
        self._take = tools.options.monitor_page_size

    def pages(self, kind: StateDueKind, gate: PassGate) -> Iterator[list[DueInstanceRow]]:
        """Plain reads by keyset, so that what somebody else has locked is not met twice in a pass."""
        now, after = self._clock.now(), BEGINNING
        while gate.is_open():
            page = self._page(kind, now, after, gate)
            if page:
                yield page
            if len(page) < self._take:
                return
            after = (page[-1].state_due_at, page[-1].instance_id)

    def read(self, load: "DbExecutionLoad", page: Sequence[DueInstanceRow], *extra: "Query[Any]") -> tuple[list[DueInstance], list[list[Any]]]:
        """Lock what is free and read what the decision needs, in one packet; a stay that has ended since is left out."""
        dal = self._dal
        reads = [
            read
            for row in page
            for read in (dal.dispatch.list_subscribers_by_guid(row.instance_guid), dal.lc_timeout.get_firings(row.instance_id, row.stay_id))
        ]
        # After a lost connection it is most likely our own packet that still holds the locks: wait for it.
        lock = dal.instance.lock_by_ids if load.is_uncertain else dal.instance.lock_free_by_ids
        locked, *rest = dal.read_mixed(load, [lock([row.instance_id for row in page]), *extra, *reads])
        per_instance = rest[len(extra) :]
        instances: dict[int, InstanceRow] = {row.instance_id: row for row in locked}
        seen = [
            DueInstance(instance=instances[row.instance_id], subscribers=per_instance[2 * place], firings=per_instance[2 * place + 1][0])
            for place, row in enumerate(page)
            if row.instance_id in instances and instances[row.instance_id].stay_id == row.stay_id
        ]
        return seen, rest[: len(extra)]

    def _page(self, kind: StateDueKind, now: datetime, after: tuple[datetime, int], gate: PassGate) -> list[DueInstanceRow]:
        due = self._dal.instance.list_due_paged(kind, now, after, self._take)
        return self._dal.run_reading(gate.deadline, lambda load: self._dal.read(load, due)[0])
