"""One transition, decided from what was read: the pipeline that application triggers and timeouts share (guidelines 3.2)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import JsonValue

from workflow_engine.engine.rules.audience import Listener, listeners
from workflow_engine.engine.rules.event_body import EventFacts
from workflow_engine.engine.rules.fingerprint import fingerprint
from workflow_engine.engine.rules.transitions import Verdict
from workflow_engine.errors import ConflictError
from workflow_engine.models.enums import EventKind, NoticeCode, RefusalReason
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.flags import LifeCycleTransitionLogFlag
from workflow_engine.models.instance import EventView
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.transition import NewAck, NewHook, NewLifecycle, NewRequestLog
from workflow_engine.models.trigger import LifeCycleTriggerResult

if TYPE_CHECKING:
    from workflow_engine.dal import Statement, UnitIds, WorkFlowDAL
    from workflow_engine.engine.ack_manager import AckManager
    from workflow_engine.engine.policy_enforcer import PolicyEnforcer, RuleContext
    from workflow_engine.engine.state_machine import ApplyTransitionResult, Standing, StateMachine, Stay
    from workflow_engine.models.subscriber import SubscriberRow
    from workflow_engine.options import WorkFlowEngineOptions

# InstanceNotActive is not remembered: after a resume the same request applies.
_REMEMBERED = frozenset(RefusalReason) - {RefusalReason.INSTANCE_NOT_ACTIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionCommand:
    """An event to apply, raised by an application or by a timeout."""

    event: int | str
    request_id: str | None = None
    actor: str | None = None
    payload: JsonValue = None
    ack_required: bool = True
    occurred_at: datetime | None = None
    is_system: bool = False
    stay: "Stay | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionOutcome:
    """What to write, what to send after the commit, and what to answer."""

    result: LifeCycleTriggerResult
    decided_at: datetime
    statements: "list[Statement]" = field(default_factory=list)
    messages: list[WorkMessage] = field(default_factory=list)
    notices: list[LifeCycleNotice] = field(default_factory=list)


class TransitionPipeline:
    def __init__(self, dal: "WorkFlowDAL", state_machine: "StateMachine", policy_enforcer: "PolicyEnforcer", ack_manager: "AckManager", options: "WorkFlowEngineOptions") -> None:
        self._dal = dal
        self._state_machine = state_machine
        self._policy_enforcer = policy_enforcer
        self._ack_manager = ack_manager
        self._options = options

    def decide(self, standing: "Standing", subscribers: "Sequence[SubscriberRow]", command: TransitionCommand, ids: "UnitIds", now: datetime) -> TransitionOutcome:
        """Judge the event; `ids` has the lifecycle_id as its next id."""
        audience = listeners(subscribers, now, self._options)
        if not any(listener.hears(EventKind.TRANSITION, None) for listener in audience):
            raise ConflictError("NO_TRANSITION_CONSUMER", f"no consumer of transitions is registered for '{standing.blueprint.def_name}'; register one with POST /v1/consumers")
        verdict = self._state_machine.judge(standing, command.event)
        if verdict.edge is None:
            return self._refuse(standing, command, verdict, ids, now)
        return self._apply(standing, command, verdict, audience, ids, now)

    def fingerprint(self, standing: "Standing", command: TransitionCommand) -> str:
        event = standing.blueprint.event_of(command.event)
        return fingerprint(event, command.event, (command.actor, command.payload, command.ack_required, command.occurred_at))

    def replay(self, standing: "Standing", command: TransitionCommand, answer: str, now: datetime) -> TransitionOutcome:
        """The stored answer once more; nothing new but the notice."""
        result = LifeCycleTriggerResult.model_validate_json(answer).model_copy(update={"replayed": True})
        notice = self.notice(standing, NoticeCode.DUPLICATE_REQUEST, now, {"request_id": command.request_id, "applied": result.applied, "reason": result.reason})
        return TransitionOutcome(result=result, decided_at=now, notices=[notice])

    def _refuse(self, standing: "Standing", command: TransitionCommand, verdict: Verdict, ids: "UnitIds", now: datetime) -> TransitionOutcome:
        reason = verdict.reason or RefusalReason.INVALID_TRANSITION
        result = self._result(standing, verdict, reason=reason)
        statements = self._state_machine.create_only(standing, now)
        if command.request_id is not None and reason in _REMEMBERED:
            statements.append(self._remember(standing, command, result, ids.unit_id, now))
        code = NoticeCode.NOOP_ALREADY_IN_STATE if reason is RefusalReason.NO_OP_ALREADY_IN_STATE else NoticeCode.TRANSITION_REJECTED
        data = {"reason": reason.value, "event": str(command.event), "state": standing.state.name, "request_id": command.request_id}
        return TransitionOutcome(result=result, decided_at=now, statements=statements, notices=[self.notice(standing, code, now, data)])

    def _apply(self, standing: "Standing", command: TransitionCommand, verdict: Verdict, audience: Sequence[Listener], ids: "UnitIds", now: datetime) -> TransitionOutcome:  # noqa: PLR0917
        """Transition, rule context, acks, hooks, hook acks, notices: the order of the guidelines."""
        applied = self._state_machine.apply_transition(standing, verdict.edge, ids.unit_id, now, command.stay)  # type: ignore[arg-type]  # decide() saw an edge
        facts = self._facts(standing, applied, command, now)
        document, arrival = standing.policy.document, (applied.to_state.name_key, applied.event.code)
        context = self._policy_enforcer.resolve_rule_context_from_json(document, *arrival)
        hooks = self._policy_enforcer.emit_hooks(document, *arrival, ids)
        statements = [applied.statement, *self._timeline(facts, applied, command, hooks, now)]
        unheard = [hook.route for hook in hooks if not any(listener.hears(EventKind.HOOK, hook.route) for listener in audience)]
        notices = [self.notice(standing, NoticeCode.NO_HOOK_CONSUMER, now, {"routes": unheard, "lifecycle_id": facts.lifecycle_id})] if unheard else []
        acks: list[NewAck] = []
        if command.ack_required:
            acks = self._acks(facts, context, [hook for hook in hooks if hook.route not in unheard], ids)
            rows = self._ack_manager.first_rows(facts, acks, audience, now)
            statements += self._ack_manager.statements(facts, acks, rows, now)
            messages = self._ack_manager.messages(facts, acks, rows, audience)
        else:
            messages = self._ack_manager.once_messages(facts, context, hooks, audience, now)
        result = self._result(standing, verdict, applied=applied, acks=acks)
        if command.request_id is not None:
            statements.append(self._remember(standing, command, result, ids.unit_id, now))
        return TransitionOutcome(result=result, decided_at=now, statements=statements, messages=messages, notices=notices)

    def _acks(self, facts: EventFacts, context: "RuleContext", hooks: Sequence[NewHook], ids: "UnitIds") -> list[NewAck]:
        return [self._ack_manager.create_lifecycle_ack(facts, context, ids), *(self._ack_manager.create_hook_ack(facts, hook, ids) for hook in hooks)]

    def _facts(self, standing: "Standing", applied: "ApplyTransitionResult", command: TransitionCommand, now: datetime) -> EventFacts:
        return EventFacts(
            blueprint=standing.blueprint,
            policy_hash=standing.policy.policy_hash,
            instance_id=standing.instance_id,
            instance_guid=standing.instance_guid,
            external_ref=standing.external_ref,
            lifecycle_id=applied.lifecycle_id,
            seq=applied.after.seq,
            occurred_at=command.occurred_at or now,
            event=applied.event,
            from_state=applied.from_state.name,
            to_state=applied.to_state.name,
            actor=command.actor,
            payload=command.payload,
        )

    def _timeline(self, facts: EventFacts, applied: "ApplyTransitionResult", command: TransitionCommand, hooks: Sequence[NewHook], now: datetime) -> "list[Statement]":
        new = NewLifecycle(
            lifecycle_id=facts.lifecycle_id,
            instance_id=facts.instance_id,
            seq=facts.seq,
            from_state_id=applied.from_state.state_id,
            to_state_id=applied.to_state.state_id,
            event_id=applied.event.event_id,
            log_flags=LifeCycleTransitionLogFlag.SYSTEM if command.is_system else LifeCycleTransitionLogFlag.NONE,
            occurred_at=facts.occurred_at,
            actor=command.actor,
            request_id=command.request_id,
            payload=None if command.payload is None else json.dumps(command.payload, ensure_ascii=True),
        )
        stored = [self._dal.hook.insert(facts.lifecycle_id, facts.instance_id, hooks, now)] if hooks else []
        return [self._dal.lifecycle.insert_after_cas(new, now), self._dal.lifecycle.insert_data(new), *stored]

    def _remember(self, standing: "Standing", command: TransitionCommand, result: LifeCycleTriggerResult, unit_id: int, now: datetime) -> "Statement":
        new = NewRequestLog(
            instance_id=standing.instance_id,
            request_id=command.request_id or "",
            unit_id=unit_id,
            fingerprint=self.fingerprint(standing, command),
            answer=result.model_dump_json(),
        )
        return self._dal.request_log.insert(new, now)

    def _result(self, standing: "Standing", verdict: Verdict, reason: RefusalReason | None = None, applied: "ApplyTransitionResult | None" = None, acks: Sequence[NewAck] = ()) -> LifeCycleTriggerResult:
        state = applied.to_state if applied else standing.state
        return LifeCycleTriggerResult(
            applied=applied is not None,
            reason=reason.value if reason else None,
            replayed=False,
            instance_guid=standing.instance_guid,
            external_ref=standing.external_ref,
            definition=standing.blueprint.def_name,
            def_version=standing.blueprint.version,
            from_state=standing.state.name,
            to_state=applied.to_state.name if applied else None,
            current_state=state.name,
            event=EventView(code=verdict.event.code, name=verdict.event.name) if verdict.event else None,
            lifecycle_id=applied.lifecycle_id if applied else None,
            seq=applied.after.seq if applied else standing.seq,
            ack_guid=next((ack.ack_guid for ack in acks if ack.kind is EventKind.TRANSITION), None),
            hook_ack_guids=[ack.ack_guid for ack in acks if ack.kind is EventKind.HOOK],
        )

    def notice(self, standing: "Standing", code: NoticeCode, now: datetime, data: dict[str, object]) -> LifeCycleNotice:
        return LifeCycleNotice(
            code=code,
            occurred_at=now,
            env_code=standing.blueprint.env_code,
            instance_id=standing.instance_id,
            instance_guid=standing.instance_guid,
            external_ref=standing.external_ref,
            data=data,
        )
