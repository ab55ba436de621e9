"""AdminOrchestrator: what operators do to instances, consumers and definitions; each action leaves an audit row in the same transaction."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from workflow_engine.engine.rules.guids import is_guid
from workflow_engine.engine.rules.messages import stored_messages
from workflow_engine.errors import ConflictError, NotFoundError
from workflow_engine.models.admin import ActivateRequest, AuditEntry, OwnerRequest
from workflow_engine.models.consumer import ConsumerRow, ConsumerView, OwnerMove
from workflow_engine.models.def_version import DefinitionVersionView
from workflow_engine.models.enums import InstanceStatus, SuspendedBy
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.instance import InstanceRow, InstanceView
from workflow_engine.models.transition import StateDue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workflow_engine.dal import DbExecutionLoad, Deadline, Statement
    from workflow_engine.engine.blueprint_importer import BlueprintImporter
    from workflow_engine.engine.consumers import ConsumerManager
    from workflow_engine.engine.instances import InstanceReader
    from workflow_engine.engine.suspension import Suspension
    from workflow_engine.engine.tools import EngineTools
    from workflow_engine.models.ack import AckConsumerRow

    # Statements to write, rows to publish after the commit, and their consumers' names.
    Changed = tuple[list[Statement], list[AckConsumerRow], dict[int, str]]
    Change = Callable[[DbExecutionLoad, InstanceRow, datetime], Changed]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Who acts, and why."""

    principal: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminParts:
    suspension: "Suspension"
    instances: "InstanceReader"
    consumers: "ConsumerManager"
    importer: "BlueprintImporter"


class AdminOrchestrator:
    def __init__(self, tools: "EngineTools", parts: AdminParts) -> None:
        self._dal = tools.dal
        self._outbox = tools.outbox
        self._clock = tools.clock
        self._suspension = parts.suspension
        self._instances = parts.instances
        self._consumers = parts.consumers
        self._importer = parts.importer

    def suspend_instance(self, instance_guid: str, principal: str, reason: str, deadline: "Deadline") -> InstanceView:
        """Hold everything back; the engine's own suspension becomes the operator's, which no ack lifts."""

        def change(load: "DbExecutionLoad", instance: InstanceRow, now: datetime) -> "Changed":
            if instance.status in {InstanceStatus.FAILED, InstanceStatus.ARCHIVED} or instance.suspended_by == SuspendedBy.OPERATOR:
                raise _impossible(instance, "suspended")
            _, statement = self._suspension.suspend(instance, SuspendedBy.OPERATOR, reason, now)
            return [statement, *self._suspension.disarm(self._suspension.read_open(load, [instance.instance_id])[instance.instance_id], now)], [], {}

        return self._act("suspend", instance_guid, Operator(principal=principal, reason=reason), change, deadline)

    def fail_instance(self, instance_guid: str, principal: str, reason: str, deadline: "Deadline") -> InstanceView:
        """End it as failed; what was already raised goes on being delivered."""

        def change(load: "DbExecutionLoad", instance: InstanceRow, now: datetime) -> "Changed":  # noqa: ARG001  # the shape of a change
            if instance.is_terminal:
                raise _impossible(instance, "failed")
            flags = (instance.flags | LifeCycleInstanceFlag.FAILED) & ~LifeCycleInstanceFlag.ACTIVE
            return [self._dal.instance.update_flags(replace(instance, flags=flags, message=reason), StateDue(), now)], [], {}

        return self._act("fail", instance_guid, Operator(principal=principal, reason=reason), change, deadline)

    def resume_instance(self, instance_guid: str, principal: str, reason: str, deadline: "Deadline") -> InstanceView:
        """Lift a suspension and reopen what the engine gave up: due at once, with fresh attempts, in order."""
        return self._act("resume", instance_guid, Operator(principal=principal, reason=reason), self._resume, deadline)

    def set_consumer_owner(self, consumer: str, request: OwnerRequest, principal: str, deadline: "Deadline") -> ConsumerView:
        """Give a consumer to another principal."""
        ids = self._dal.unit_ids()

        def audit(row: ConsumerRow) -> "Sequence[Statement]":
            entry = AuditEntry(
                audit_id=ids.rewind(),
                action="owner",
                actor=principal,
                reason=request.reason,
                env_code=request.env_code,
                target=f"consumer:{row.consumer}",
                data={"from": row.owner, "to": request.principal},
            )
            return [self._dal.admin_audit.insert(entry, self._clock.now())]

        return self._consumers.set_owner(OwnerMove(env_code=request.env_code, consumer=consumer, principal=request.principal), audit, deadline)

    def activate_version(self, def_name: str, request: ActivateRequest, principal: str, deadline: "Deadline") -> DefinitionVersionView:
        """New instances start on this version; running ones stay where they are."""
        ids = self._dal.unit_ids()

        def unit(load: "DbExecutionLoad") -> DefinitionVersionView:
            audit_id = ids.rewind()
            planned = self._importer.activate(load, request.env_code, def_name, request.version)
            done = planned.activation
            entry = AuditEntry(
                audit_id=audit_id,
                action="activate",
                actor=principal,
                reason=request.reason,
                env_code=request.env_code,
                target=f"definition:{done.def_name}",
                data={"from": done.previous_version, "to": request.version},
            )
            if not self._is_done(load, audit_id):
                self._dal.write(load, [*planned.statements, self._dal.admin_audit.insert(entry, self._clock.now())])
            return done.view

        return self._dal.run(deadline, unit)

    def _act(self, action: str, instance_guid: str, operator: Operator, change: "Change", deadline: "Deadline") -> InstanceView:
        """Lock the instance, change it, write the audit row, commit, publish, and answer with the instance as it then is."""
        ids = self._dal.unit_ids()

        def unit(load: "DbExecutionLoad") -> list[WorkMessage]:
            audit_id = ids.rewind()
            instance = self._dal.first(load, self._dal.instance.lock_by_guid(instance_guid)) if is_guid(instance_guid) else None
            if instance is None:
                raise NotFoundError("instance", f"no instance {instance_guid}")
            if self._is_done(load, audit_id):
                # An earlier attempt was committed; what it released is due again after its window.
                return []
            entry = _audit_of(instance, audit_id, action, operator)
            return self._write(load, entry, change(load, instance, self._clock.now()))

        self._outbox.send(self._dal.run(deadline, unit), [], deadline)
        return self._instances.get_instance(instance_guid, deadline)

    def _write(self, load: "DbExecutionLoad", entry: AuditEntry, changed: "Changed") -> list[WorkMessage]:
        statements, rows, names = changed
        bodies = [self._dal.ack.list_bodies_by_ids([row.ack_id for row in rows])] if rows else []
        results = self._dal.write(load, [*statements, self._dal.admin_audit.insert(entry, self._clock.now()), *bodies])
        return stored_messages(rows, results[-1], names) if rows else []

    def _is_done(self, load: "DbExecutionLoad", audit_id: int) -> bool:
        return load.is_uncertain and self._dal.first(load, self._dal.admin_audit.get(audit_id)) is not None

    def _resume(self, load: "DbExecutionLoad", instance: InstanceRow, now: datetime) -> "Changed":
        rows = self._suspension.read_rows(load, instance.instance_id)
        reopened = [row for row in rows.gave_up if not rows.consumers[row.consumer_id].is_deleted]
        if not instance.is_suspended and not reopened:
            raise _impossible(instance, "resumed")
        lifted = [self._suspension.lift(load, instance, now)[1]] if instance.is_suspended else []
        rearmed = self._suspension.rearm(rows, {}, reopen=True, now=now)
        return [*lifted, *rearmed.statements], rearmed.released, {consumer_id: row.consumer for consumer_id, row in rows.consumers.items()}


def _audit_of(instance: InstanceRow, audit_id: int, action: str, operator: Operator) -> AuditEntry:
    return AuditEntry(
        audit_id=audit_id,
        action=action,
        actor=operator.principal,
        reason=operator.reason,
        env_code=None,
        target=f"instance:{instance.instance_guid}",
        data={"status": instance.status.label, "state_id": instance.current_state_id, "seq": instance.seq},
    )


def _impossible(instance: InstanceRow, wish: str) -> ConflictError:
    return ConflictError("STATUS_CONFLICT", f"an instance that is {instance.status.label} cannot be {wish}")
