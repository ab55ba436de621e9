"""Pass C: a timeout's event goes through the trigger's own pipeline, claim and transition in one transaction (guidelines 3.5 C)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from workflow_engine.engine.pass_gate import BEGINNING, PassGate
from workflow_engine.engine.rules.state_due import is_exhausted, next_timeout_at, state_due
from workflow_engine.engine.state_machine import Standing, StateMachine, Stay
from workflow_engine.engine.transition import TransitionCommand, TransitionPipeline
from workflow_engine.errors import ConflictError, StorageError, WorkFlowError
from workflow_engine.models.due import DueInstanceRow, FiringsRow
from workflow_engine.models.enums import NoticeCode, StateDueKind
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.instance import InstanceRow
from workflow_engine.models.monitor import MonitorReport
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.policy import TimeoutRule
from workflow_engine.models.subscriber import SubscriberRow
from workflow_engine.models.transition import StateDue
from workflow_engine.models.trigger import RESERVED_PREFIX

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, Statement, UnitIds, WorkFlowDAL
    from workflow_engine.engine.blueprint_manager import BlueprintManager
    from workflow_engine.engine.outbox import Outbox
    from workflow_engine.engine.ports import Clock
    from workflow_engine.options import WorkFlowEngineOptions

_log = logging.getLogger(__name__)
SYSTEM_ACTOR = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutSeen:
    instance: InstanceRow
    firings: FiringsRow
    subscribers: list[SubscriberRow]


@dataclass(slots=True)
class TimeoutPage:
    """What one attempt at a page decided; its moment and lifecycle ids tell a later attempt that it was committed."""

    decided_at: datetime
    statements: "list[Statement]" = field(default_factory=list)
    messages: list[WorkMessage] = field(default_factory=list)
    notices: list[LifeCycleNotice] = field(default_factory=list)
    lifecycle_ids: list[int] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


class TimeoutWatch:
    def __init__(self, dal: "WorkFlowDAL", blueprints: "BlueprintManager", state_machine: StateMachine, pipeline: TransitionPipeline, outbox: "Outbox", clock: "Clock", options: "WorkFlowEngineOptions") -> None:  # noqa: PLR0917
        self._dal = dal
        self._blueprints = blueprints
        self._state_machine = state_machine
        self._pipeline = pipeline
        self._outbox = outbox
        self._clock = clock
        self._options = options

    def run(self, report: MonitorReport, gate: PassGate) -> None:
        now, after, deadline = self._clock.now(), BEGINNING, gate.deadline
        take = self._options.monitor_page_size
        while gate.is_open():
            page = self._dal.run_reading(deadline, lambda load, after=after: self._dal.read(load, self._dal.instance.list_due_paged(StateDueKind.TIMEOUT, now, after, take))[0])
            if page:
                self._handle(page, report, deadline)
            if len(page) < take:
                return
            after = (page[-1].state_due_at, page[-1].instance_id)

    def _handle(self, page: Sequence[DueInstanceRow], report: MonitorReport, deadline: "Deadline") -> None:
        unit = TimeoutUnit(self, self._dal, page)
        done = self._dal.run(deadline, unit, reserve=len(page) * 16 + 1024)
        failed = self._outbox.send(done.messages, done.notices, deadline)
        report.found += len(page)
        report.timed_out += len(done.lifecycle_ids)
        report.sent += len(done.messages) - failed
        report.given_back += failed
        report.noticed += len(done.notices)
        if done.broken:
            raise WorkFlowError(f"{len(done.broken)} timeouts could not be handled, the first of them: {done.broken[0]}")

    def notice_statements(self, notices: Sequence[LifeCycleNotice], ids: "UnitIds") -> "list[Statement]":
        return self._outbox.notice_statements(notices, ids)

    def read(self, load: "DbExecutionLoad", page: Sequence[DueInstanceRow]) -> list[TimeoutSeen]:
        dal = self._dal
        per_instance = [query for row in page for query in (dal.dispatch.list_subscribers_by_guid(row.instance_guid), dal.lc_timeout.get_firings(row.instance_id, row.stay_id))]
        locked, *rest = dal.read_mixed(load, [dal.instance.lock_free_by_ids(sorted(row.instance_id for row in page)), *per_instance])
        instances: dict[int, InstanceRow] = {row.instance_id: row for row in locked}
        return [
            TimeoutSeen(instance=instances[row.instance_id], firings=rest[2 * place + 1][0], subscribers=rest[2 * place])
            for place, row in enumerate(page)
            # A stay that ended between the two reads is another one now; its due time is in the future.
            if row.instance_id in instances and instances[row.instance_id].stay_id == row.stay_id
        ]

    def decide(self, load: "DbExecutionLoad", seen: Sequence[TimeoutSeen], ids_of: "dict[int, UnitIds]") -> TimeoutPage:
        now = self._clock.now()
        page = TimeoutPage(decided_at=now)
        for one in seen:
            if one.instance.state_due_at is None or one.instance.state_due_at > now:
                continue
            try:
                self._decide_one(load, one, ids_of[one.instance.instance_id], now, page)
            except StorageError:
                raise
            except WorkFlowError as error:
                # One bad instance must not stop the others, nor come back at once.
                _log.exception("a timeout could not be handled", extra={"instance_guid": one.instance.instance_guid})
                page.broken.append(f"{one.instance.instance_guid}: {error}")
                page.statements.append(self._dal.instance.update_due(one.instance.instance_id, self._later(one.instance, now)))
        return page

    def _decide_one(self, load: "DbExecutionLoad", seen: TimeoutSeen, ids: "UnitIds", now: datetime, page: TimeoutPage) -> None:
        standing = self._standing(load, seen.instance, ids)
        timeout = standing.policy.timeouts.get(standing.state.name_key)
        due_at = next_timeout_at(timeout, seen.instance.state_entered_at, seen.firings)
        if not seen.instance.is_active or timeout is None or due_at is None or due_at > now:
            page.statements.append(self._dal.instance.update_due(seen.instance.instance_id, self._due(seen, timeout, seen.firings)))
        elif timeout.event_code is None or is_exhausted(timeout, seen.firings):
            self._only_say(standing, seen, timeout, now, page)
        else:
            self._fire(standing, seen, timeout, ids, now, page)

    def _standing(self, load: "DbExecutionLoad", instance: InstanceRow, ids: "UnitIds") -> Standing:
        blueprint = self._blueprints.get_blueprint_by_version_id(load, instance.def_version_id)
        policy = self._blueprints.attached_policy(load, blueprint, instance.policy_id)
        return self._state_machine.ensure_instance(instance, (instance.definition_id, instance.external_ref), (blueprint, policy), ids)

    def _only_say(self, standing: Standing, seen: TimeoutSeen, timeout: TimeoutRule, now: datetime, page: TimeoutPage) -> None:
        """A timeout without event, or one that is used up: a notice, and the next due time."""
        after = FiringsRow(n=seen.firings.n + 1, last_fired_at=now)
        page.notices.append(self._exceeded(standing, seen, timeout, now, exhausted=timeout.event_code is not None))
        page.statements += [
            self._dal.lc_timeout.insert((seen.instance.instance_id, seen.instance.stay_id), after.n, None, now),
            self._dal.instance.update_due(seen.instance.instance_id, self._due(seen, timeout, after)),
        ]

    def _fire(self, standing: Standing, seen: TimeoutSeen, timeout: TimeoutRule, ids: "UnitIds", now: datetime, page: TimeoutPage) -> None:  # noqa: PLR0917
        instance, after = seen.instance, FiringsRow(n=seen.firings.n + 1, last_fired_at=now)
        command = TransitionCommand(
            event=timeout.event_code or 0,
            request_id=f"{RESERVED_PREFIX}{instance.stay_id}:{after.n}",
            actor=SYSTEM_ACTOR,
            is_system=True,
            stay=Stay(stay_id=instance.stay_id, entered_at=instance.state_entered_at, stale_at=instance.stale_at or now, firings=after),
        )
        try:
            outcome = self._pipeline.decide(standing, seen.subscribers, command, ids, now)
        except ConflictError as error:
            self._refused(standing, seen, error.code, now, page)
            return
        if not outcome.result.applied:
            self._refused(standing, seen, outcome.result.reason or "", now, page)
            return
        page.lifecycle_ids.append(ids.unit_id)
        page.statements += [*outcome.statements, self._dal.lc_timeout.insert((instance.instance_id, instance.stay_id), after.n, ids.unit_id, now)]
        page.messages += outcome.messages
        fired = self._pipeline.notice(standing, NoticeCode.TIMEOUT_FIRED, now, {"n": after.n, "event": timeout.event_code, "state": standing.state.name, "to_state": outcome.result.to_state, "lifecycle_id": ids.unit_id})
        page.notices += [self._exceeded(standing, seen, timeout, now), fired, *outcome.notices]

    def _refused(self, standing: Standing, seen: TimeoutSeen, reason: str, now: datetime, page: TimeoutPage) -> None:
        """Nothing fired: say why, and try again after a while."""
        page.notices.append(self._pipeline.notice(standing, NoticeCode.TRANSITION_REJECTED, now, {"reason": reason, "state": standing.state.name, "actor": SYSTEM_ACTOR}))
        page.statements.append(self._dal.instance.update_due(seen.instance.instance_id, self._later(seen.instance, now)))

    def _exceeded(self, standing: Standing, seen: TimeoutSeen, timeout: TimeoutRule, now: datetime, *, exhausted: bool = False) -> LifeCycleNotice:
        age = int((now - seen.instance.state_entered_at).total_seconds())
        data: dict[str, object] = {"state": standing.state.name, "age_seconds": age, "timeout_event": timeout.event_code, "n": seen.firings.n if exhausted else seen.firings.n + 1}
        return self._pipeline.notice(standing, NoticeCode.STATE_TIMEOUT_EXCEEDED, now, data | ({"exhausted": True} if exhausted else {}))

    def _due(self, seen: TimeoutSeen, timeout: TimeoutRule | None, firings: FiringsRow) -> StateDue:
        instance = seen.instance
        if not instance.is_active:
            return StateDue(stale_at=instance.stale_at)
        return state_due(timeout, instance.state_entered_at, firings, instance.stale_at or instance.state_entered_at)

    def _later(self, instance: InstanceRow, now: datetime) -> StateDue:
        return StateDue(stale_at=instance.stale_at, kind=StateDueKind.TIMEOUT, due_at=now + timedelta(seconds=self._options.consumer_down_recheck_seconds))


class TimeoutUnit:
    """One page's unit of work, with ids of its own for every instance."""

    def __init__(self, watch: TimeoutWatch, dal: "WorkFlowDAL", page: Sequence[DueInstanceRow]) -> None:
        self._watch = watch
        self._dal = dal
        self._page = page
        self._ids = {row.instance_id: dal.unit_ids() for row in page}
        self._tried: list[TimeoutPage] = []

    def __call__(self, load: "DbExecutionLoad") -> TimeoutPage:
        for ids in self._ids.values():
            ids.rewind()
        seen = self._watch.read(load, self._page)
        committed = self._committed(load) if load.is_uncertain else None
        if committed is not None:
            return committed
        page = self._watch.decide(load, seen, self._ids)
        self._tried.append(page)
        if page.statements:
            notice_ids = next(iter(self._ids.values()))
            self._dal.write(load, [*page.statements, *self._watch.notice_statements(page.notices, notice_ids)])
        return page

    def _committed(self, load: "DbExecutionLoad") -> TimeoutPage | None:
        """A page is committed as a whole: one of its steps in the database means all of them."""
        for tried in self._tried:
            stamps = self._dal.read_all(load, [self._dal.lifecycle.get_stamp(lifecycle_id) for lifecycle_id in tried.lifecycle_ids[:1]])
            if any(row.created == tried.decided_at for rows in stamps for row in rows):
                return tried
        return None
