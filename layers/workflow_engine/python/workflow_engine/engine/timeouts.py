"""Pass C: a timeout's event goes through the trigger's own pipeline, claim and transition in one transaction (guidelines 3.5 C)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from workflow_engine.engine.due_instances import DueInstance, DueInstances
from workflow_engine.engine.pass_gate import PassGate
from workflow_engine.engine.pass_trouble import PassTrouble
from workflow_engine.engine.rules.state_due import is_exhausted, next_timeout_at
from workflow_engine.engine.state_machine import Standing, StateMachine, Stay
from workflow_engine.engine.transition import TransitionCase, TransitionCommand, TransitionOutcome, TransitionPipeline, notice_of
from workflow_engine.errors import ConflictError, StorageError, WorkFlowError
from workflow_engine.models.due import DueInstanceRow, FiringsRow
from workflow_engine.models.enums import NoticeCode, StateDueKind
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.monitor import MonitorReport
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.policy import TimeoutRule
from workflow_engine.models.transition import StateDue
from workflow_engine.models.trigger import RESERVED_PREFIX

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Statement, UnitIds
    from workflow_engine.engine.tools import EngineTools

_log = logging.getLogger(__name__)
SYSTEM_ACTOR = "system"
# Ids for one firing: instance, step, ack, hooks, notices; a page with more hooks than that is rare, and the reserve is shared.
_IDS_EACH = 16


@dataclass(slots=True)
class TimeoutPage:
    """What one attempt at a page decided; its lifecycle ids and the due times it moved tell a later attempt that it was committed."""

    decided_at: datetime
    statements: "list[Statement]" = field(default_factory=list)
    messages: list[WorkMessage] = field(default_factory=list)
    notices: list[LifeCycleNotice] = field(default_factory=list)
    lifecycle_ids: list[int] = field(default_factory=list)
    dues: dict[int, StateDue] = field(default_factory=dict)
    broken: list[WorkFlowError] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """A timeout whose time has come, the `n`-th of its stay."""

    due: DueInstance
    standing: Standing
    timeout: TimeoutRule
    after: FiringsRow
    ids: "UnitIds"

    @property
    def stay_key(self) -> tuple[int, int]:
        return (self.due.instance.instance_id, self.due.instance.stay_id)


class TimeoutWatch:
    def __init__(self, tools: "EngineTools", state_machine: StateMachine, pipeline: TransitionPipeline) -> None:
        self._dal = tools.dal
        self._blueprints = tools.blueprints
        self._outbox = tools.outbox
        self._clock = tools.clock
        self._options = tools.options
        self._state_machine = state_machine
        self._pipeline = pipeline
        self._due = DueInstances(tools)

    def run(self, report: MonitorReport, gate: PassGate, trouble: PassTrouble) -> None:
        for page in self._due.pages(StateDueKind.TIMEOUT, gate):
            unit = TimeoutUnit(self, page, {row.instance_id: self._dal.unit_ids() for row in page})
            done = self._dal.run(gate.deadline, unit, reserve=len(page) * _IDS_EACH + 1024)
            failures = self._outbox.send_quietly(done.messages, done.notices, gate.deadline)
            trouble.failures += failures
            report.found += len(page)
            report.timed_out += len(done.lifecycle_ids)
            report.sent += len(done.messages) - len(failures)
            report.given_back += len(failures)
            report.noticed += len(done.notices)
            for error in done.broken:
                trouble.note(error)

    def read(self, load: "DbExecutionLoad", page: Sequence[DueInstanceRow]) -> list[DueInstance]:
        return self._due.read(load, page)[0]

    def decide(self, load: "DbExecutionLoad", due: Sequence[DueInstance], ids_of: "dict[int, UnitIds]") -> TimeoutPage:
        """One bad instance must not stop the others, nor come back at once."""
        now = self._clock.now()
        page = TimeoutPage(decided_at=now)
        for one in due:
            if not one.is_due(now):
                continue
            try:
                self._decide_one(load, one, ids_of[one.instance.instance_id], page)
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001  # whatever it was, it is this instance's
                page.broken.append(one.trouble(error))
                self._move(one, self._later(one, now), page)
        return page

    def write(self, load: "DbExecutionLoad", page: TimeoutPage, ids: "UnitIds") -> None:
        if page.statements:
            self._dal.write(load, [*page.statements, *self._outbox.notice_statements(page.notices, ids)])

    def is_committed(self, load: "DbExecutionLoad", page: TimeoutPage, due: Sequence[DueInstance]) -> bool:
        """A page is committed as a whole: one of its steps or due times in the database means all of them."""
        if any(one.is_moved_to(page.dues.get(one.instance.instance_id)) for one in due):
            return True
        stamps = self._dal.read_all(load, [self._dal.lifecycle.get_stamp(lifecycle_id) for lifecycle_id in page.lifecycle_ids[:1]])
        return any(row.created == page.decided_at for rows in stamps for row in rows)

    def _decide_one(self, load: "DbExecutionLoad", one: DueInstance, ids: "UnitIds", page: TimeoutPage) -> None:
        instance, now = one.instance, page.decided_at
        blueprint = self._blueprints.get_blueprint_by_version_id(load, instance.def_version_id)
        policy = self._blueprints.attached_policy(load, blueprint, instance.policy_id)
        standing = self._state_machine.ensure_instance(instance, (instance.definition_id, instance.external_ref), (blueprint, policy), ids)
        timeout = policy.timeouts.get(standing.state.name_key)
        due_at = next_timeout_at(timeout, instance.state_entered_at, one.firings)
        if not instance.is_active or timeout is None or due_at is None or due_at > now:
            self._move(one, one.next_due(timeout, one.firings, instance.stale_at), page)
            return
        firing = Firing(due=one, standing=standing, timeout=timeout, after=FiringsRow(n=one.firings.n + 1, last_fired_at=now), ids=ids)
        if timeout.event_code is None or is_exhausted(timeout, one.firings):
            self._only_say(firing, page)
        else:
            self._fire(firing, page)

    def _only_say(self, firing: Firing, page: TimeoutPage) -> None:
        """A timeout without event, or one that is used up: a notice, and the next due time."""
        one, now = firing.due, page.decided_at
        page.notices.append(_exceeded(firing, now, exhausted=firing.timeout.event_code is not None))
        page.statements.append(self._dal.lc_timeout.insert(firing.stay_key, firing.after.n, None, now))
        self._move(one, one.next_due(firing.timeout, firing.after, one.instance.stale_at), page)

    def _fire(self, firing: Firing, page: TimeoutPage) -> None:
        now = page.decided_at
        try:
            outcome = self._pipeline.decide(self._case(firing, now))
        except ConflictError as error:
            self._refused(firing, error.code, page)
            return
        if not outcome.result.applied:
            self._refused(firing, outcome.result.reason or "", page)
            return
        page.lifecycle_ids.append(firing.ids.unit_id)
        page.statements += [*outcome.statements, self._dal.lc_timeout.insert(firing.stay_key, firing.after.n, firing.ids.unit_id, now)]
        page.messages += outcome.messages
        page.notices += [_exceeded(firing, now), _fired(firing, outcome, now), *outcome.notices]

    def _case(self, firing: Firing, now: datetime) -> TransitionCase:
        instance = firing.due.instance
        command = TransitionCommand(
            event=firing.timeout.event_code or 0,
            request_id=f"{RESERVED_PREFIX}{instance.stay_id}:{firing.after.n}",
            actor=SYSTEM_ACTOR,
            is_system=True,
            stay=Stay(stay_id=instance.stay_id, entered_at=instance.state_entered_at, stale_at=instance.stale_at or now, firings=firing.after),
        )
        return TransitionCase(standing=firing.standing, subscribers=firing.due.subscribers, command=command, ids=firing.ids, now=now)

    def _refused(self, firing: Firing, reason: str, page: TimeoutPage) -> None:
        """Nothing fired: say why, and try again after a while."""
        data: dict[str, object] = {"reason": reason, "event": str(firing.timeout.event_code), "state": firing.standing.state.name, "actor": SYSTEM_ACTOR}
        page.notices.append(notice_of(firing.standing, NoticeCode.TRANSITION_REJECTED, page.decided_at, data))
        self._move(firing.due, self._later(firing.due, page.decided_at), page)

    def _move(self, one: DueInstance, due: StateDue, page: TimeoutPage) -> None:
        page.dues[one.instance.instance_id] = due
        page.statements.append(self._dal.instance.update_due(one.instance.instance_id, due))

    def _later(self, one: DueInstance, now: datetime) -> StateDue:
        again = now + timedelta(seconds=self._options.consumer_down_recheck_seconds)
        return StateDue(stale_at=one.instance.stale_at, kind=StateDueKind.TIMEOUT, due_at=again)


class TimeoutUnit:
    """One page's unit of work, with ids of its own for every instance."""

    def __init__(self, watch: TimeoutWatch, page: Sequence[DueInstanceRow], ids_of: "dict[int, UnitIds]") -> None:
        self._watch = watch
        self._page = page
        self._ids_of = ids_of
        self._tried: list[TimeoutPage] = []

    def __call__(self, load: "DbExecutionLoad") -> TimeoutPage:
        for ids in self._ids_of.values():
            ids.rewind()
        due = self._watch.read(load, self._page)
        committed = next((tried for tried in self._tried if load.is_uncertain and self._watch.is_committed(load, tried, due)), None)
        if committed is not None:
            return committed
        page = self._watch.decide(load, due, self._ids_of)
        self._tried.append(page)
        self._watch.write(load, page, next(iter(self._ids_of.values())))
        return page


def _exceeded(firing: Firing, now: datetime, *, exhausted: bool = False) -> LifeCycleNotice:
    data: dict[str, object] = {
        "state": firing.standing.state.name,
        "age_seconds": int((now - firing.due.instance.state_entered_at).total_seconds()),
        "timeout_event": firing.timeout.event_code,
        "n": firing.after.n - 1 if exhausted else firing.after.n,
    }
    return notice_of(firing.standing, NoticeCode.STATE_TIMEOUT_EXCEEDED, now, data | ({"exhausted": True} if exhausted else {}))


def _fired(firing: Firing, outcome: TransitionOutcome, now: datetime) -> LifeCycleNotice:
    data: dict[str, object] = {
        "n": firing.after.n,
        "event": firing.timeout.event_code,
        "state": firing.standing.state.name,
        "to_state": outcome.result.to_state,
        "lifecycle_id": outcome.result.lifecycle_id,
    }
    return notice_of(firing.standing, NoticeCode.TIMEOUT_FIRED, now, data)
