"""TriggerOrchestrator: an application's event, from the locked instance to the answer (guidelines 3.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workflow_engine.engine.transition import TransitionCase, TransitionCommand, TransitionOutcome, TransitionPipeline
from workflow_engine.errors import ConflictError, NotFoundError
from workflow_engine.models.blueprint import AttachedPolicy, DefinitionRef, LatestVersionRow, LifeCycleBlueprint
from workflow_engine.models.instance import InstanceRow
from workflow_engine.models.lifecycle import LifecycleStampRow, RequestLogRow
from workflow_engine.models.subscriber import SubscriberRow
from workflow_engine.models.trigger import LifeCycleTriggerRequest, LifeCycleTriggerResult

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, UnitIds
    from workflow_engine.engine.policy_enforcer import PolicyEnforcer
    from workflow_engine.engine.state_machine import Standing, StateMachine
    from workflow_engine.engine.tools import EngineTools


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerSeen:
    """One read packet: the locked instance first, then what the decision needs."""

    instance: InstanceRow | None
    request: RequestLogRow | None
    subscribers: list[SubscriberRow]
    latest: LatestVersionRow | None
    # Only looked for after a lost connection: the step that an earlier attempt of this very unit wrote.
    own: LifecycleStampRow | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The request with what its (env, definition) means; no definition when the instance is named by its guid."""

    request: LifeCycleTriggerRequest
    definition: DefinitionRef | None

    def command(self) -> TransitionCommand:
        request = self.request
        return TransitionCommand(
            event=request.event,
            request_id=request.request_id,
            actor=request.actor,
            payload=request.payload,
            ack_required=request.ack_required,
            occurred_at=request.occurred_at,
        )


class TriggerOrchestrator:
    def __init__(self, tools: "EngineTools", state_machine: "StateMachine", policy_enforcer: "PolicyEnforcer", pipeline: TransitionPipeline) -> None:
        self._dal = tools.dal
        self._blueprints = tools.blueprints
        self._outbox = tools.outbox
        self._clock = tools.clock
        self._state_machine = state_machine
        self._policy_enforcer = policy_enforcer
        self._pipeline = pipeline

    def trigger(self, request: LifeCycleTriggerRequest, deadline: "Deadline") -> LifeCycleTriggerResult:
        """Apply the event in one transaction; consumers hear of it only after the commit."""
        target = Target(request=request, definition=self._definition(request, deadline))
        outcome = self._dal.run(deadline, TriggerUnit(self, target, self._dal.unit_ids()))
        self._outbox.send(outcome.messages, outcome.notices, deadline)
        return outcome.result

    def read(self, load: "DbExecutionLoad", target: Target, unit_id: int) -> TriggerSeen:
        """One packet, whatever the event is and whoever listens."""
        dal, request, definition = self._dal, target.request, target.definition
        request_id = request.request_id or ""
        own = dal.lifecycle.get_stamp(unit_id if load.is_uncertain else 0)
        if definition is not None:
            key = (definition.definition_id, request.external_ref or "")
            lock, logged = dal.instance.lock_by_ref(*key), dal.request_log.get_by_ref(*key, request_id)
            told, latest = dal.dispatch.list_subscribers_by_ref(definition, key[1]), self._policy_enforcer.resolve_policy(key[0])
        else:
            guid = request.instance_guid or ""
            lock, logged = dal.instance.lock_by_guid(guid), dal.request_log.get_by_guid(guid, request_id)
            told, latest = dal.dispatch.list_subscribers_by_guid(guid), self._policy_enforcer.resolve_policy(0)
        instances, requests, subscribers, versions, owns = dal.read(load, lock, logged, told, latest, own)
        return TriggerSeen(
            instance=instances[0] if instances else None,
            request=requests[0] if requests else None,
            subscribers=subscribers,
            latest=versions[0] if versions else None,
            own=owns[0] if owns else None,
        )

    def decide(self, load: "DbExecutionLoad", seen: TriggerSeen, target: Target, ids: "UnitIds") -> TransitionOutcome:
        """A known request_id gets its first answer; everything else goes through the pipeline."""
        standing, command = self._standing(load, seen, target, ids), target.command()
        case = TransitionCase(standing=standing, subscribers=seen.subscribers, command=command, ids=ids, now=self._clock.now())
        if seen.request is None:
            return self._pipeline.decide(case)
        if seen.request.fingerprint != self._pipeline.fingerprint(standing, command):
            given = "event, actor, payload, ack_required or occurred_at"
            raise ConflictError("REQUEST_ID_REUSED", f"request_id '{command.request_id}' was used before with another {given}")
        return self._pipeline.replay(case, seen.request.answer)

    def write(self, load: "DbExecutionLoad", outcome: TransitionOutcome, ids: "UnitIds") -> None:
        self._dal.write(load, [*outcome.statements, *self._outbox.notice_statements(outcome.notices, ids)])

    def _definition(self, request: LifeCycleTriggerRequest, deadline: "Deadline") -> DefinitionRef | None:
        if request.env_code is None or request.def_name is None:
            return None
        env_code, def_name = request.env_code, request.def_name
        return self._dal.run_reading(deadline, lambda load: self._blueprints.definition(load, env_code, def_name))

    def _standing(self, load: "DbExecutionLoad", seen: TriggerSeen, target: Target, ids: "UnitIds") -> "Standing":
        """Pin an instance to its version and policy: the row's own, or the latest for a new one."""
        if seen.instance is None and target.definition is None:
            raise NotFoundError("instance", f"no instance {target.request.instance_guid}")
        place = (target.definition.definition_id if target.definition else 0, target.request.external_ref or "")
        return self._state_machine.ensure_instance(seen.instance, place, self._pinned(load, seen), ids)

    def _pinned(self, load: "DbExecutionLoad", seen: TriggerSeen) -> tuple[LifeCycleBlueprint, AttachedPolicy]:
        pinned = seen.instance or seen.latest
        if pinned is None or pinned.def_version_id is None:
            raise NotFoundError("definition", "the definition has no version yet; import one")
        blueprint = self._blueprints.get_blueprint_by_version_id(load, pinned.def_version_id)
        return blueprint, self._policy_enforcer.resolve_policy_by_id(load, blueprint, pinned.policy_id)


class TriggerUnit:
    """One request's unit of work; remembers its attempts, because a lost connection may hide that one of them was committed."""

    def __init__(self, orchestrator: TriggerOrchestrator, target: Target, ids: "UnitIds") -> None:
        self._orchestrator = orchestrator
        self._target = target
        self._ids = ids
        self._tried: list[TransitionOutcome] = []

    def __call__(self, load: "DbExecutionLoad") -> TransitionOutcome:
        unit_id = self._ids.rewind()
        seen = self._orchestrator.read(load, self._target, unit_id)
        committed = self._committed(seen, unit_id)
        if committed is not None:
            return committed
        outcome = self._orchestrator.decide(load, seen, self._target, self._ids)
        self._tried.append(outcome)
        self._orchestrator.write(load, outcome, self._ids)
        return outcome

    def _committed(self, seen: TriggerSeen, unit_id: int) -> TransitionOutcome | None:
        """Find the attempt that reached the database although its answer did not reach us."""
        if seen.own is not None:
            return next(tried for tried in self._tried if (tried.result.seq, tried.decided_at) == (seen.own.seq, seen.own.created))
        if seen.request is not None and seen.request.unit_id == unit_id:
            # A refusal of our own: remembered, but no replay.
            return next(tried for tried in self._tried if tried.result.model_dump_json() == seen.request.answer)
        return None
