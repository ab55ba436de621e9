"""One transition, decided from what was read: the pipeline that application triggers and timeouts share (guidelines 3.2)."""

import json
from collections.abc import Mapping, Sequence
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
    from workflow_engine.dal import Statement, UnitIds
    from workflow_engine.engine.ack_manager import AckManager
    from workflow_engine.engine.policy_enforcer import PolicyEnforcer, RuleContext
    from workflow_engine.engine.state_machine import ApplyTransitionResult, Standing, StateMachine, Stay
    from workflow_engine.engine.tools import EngineTools
    from workflow_engine.models.subscriber import SubscriberRow

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
class TransitionCase:
    """An event meets an instance: all that the decision looks at. `ids.unit_id` becomes the lifecycle_id."""

    standing: "Standing"
    subscribers: "Sequence[SubscriberRow]"
    command: TransitionCommand
    ids: "UnitIds"
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionOutcome:
    """What to write, what to send after the commit, and what to answer."""

    result: LifeCycleTriggerResult
    decided_at: datetime
    statements: "list[Statement]" = field(default_factory=list)
    messages: list[WorkMessage] = field(default_factory=list)
    notices: list[LifeCycleNotice] = field(default_factory=list)


class TransitionPipeline:
    def __init__(self, tools: "EngineTools", state_machine: "StateMachine", policy_enforcer: "PolicyEnforcer", ack_manager: "AckManager") -> None:
        self._dal = tools.dal
        self._options = tools.options
        self._state_machine = state_machine
        self._policy_enforcer = policy_enforcer
        self._ack_manager = ack_manager

    def decide(self, case: TransitionCase) -> TransitionOutcome:
        """Judge the event: apply it, or answer with the reason why not."""
        audience = listeners(case.subscribers, case.now, self._options)
        if not any(listener.hears(EventKind.TRANSITION, None) for listener in audience):
            name = case.standing.blueprint.def_name
            raise ConflictError("NO_TRANSITION_CONSUMER", f"no consumer of transitions is registered for '{name}'; register one with POST /v1/consumers")
        verdict = self._state_machine.judge(case.standing, case.command.event)
        return self._refuse(case, verdict) if verdict.edge is None else self._apply(case, verdict, audience)

    def fingerprint(self, standing: "Standing", command: TransitionCommand) -> str:
        event = standing.blueprint.event_of(command.event)
        return fingerprint(event, command.event, (command.actor, command.payload, command.ack_required, command.occurred_at))

    def replay(self, case: TransitionCase, answer: str) -> TransitionOutcome:
        """The stored answer once more; nothing new but the notice."""
        result = LifeCycleTriggerResult.model_validate_json(answer).model_copy(update={"replayed": True})
        data = {"request_id": case.command.request_id, "applied": result.applied, "reason": result.reason}
        return TransitionOutcome(result=result, decided_at=case.now, notices=[notice_of(case.standing, NoticeCode.DUPLICATE_REQUEST, case.now, data)])

    def _refuse(self, case: TransitionCase, verdict: Verdict) -> TransitionOutcome:
        standing, command, reason = case.standing, case.command, verdict.reason or RefusalReason.INVALID_TRANSITION
        result = _result(standing, verdict, None, [])
        statements = self._state_machine.create_only(standing, case.now)
        if command.request_id is not None and reason in _REMEMBERED:
            statements.append(self._remember(case, result))
        code = NoticeCode.NOOP_ALREADY_IN_STATE if reason is RefusalReason.NO_OP_ALREADY_IN_STATE else NoticeCode.TRANSITION_REJECTED
        data = {"reason": reason.value, "event": str(command.event), "state": standing.state.name, "request_id": command.request_id}
        return TransitionOutcome(result=result, decided_at=case.now, statements=statements, notices=[notice_of(standing, code, case.now, data)])

    def _apply(self, case: TransitionCase, verdict: Verdict, audience: Sequence[Listener]) -> TransitionOutcome:
        """Transition, rule context, hooks, acks, notices: the order of the guidelines."""
        applied = self._state_machine.apply_transition(case.standing, verdict.edge_to_take, case.ids.unit_id, case.now, case.command.stay)
        facts = _facts(case, applied)
        document, arrival = case.standing.policy.document, (applied.to_state.name_key, applied.event.code)
        context = self._policy_enforcer.resolve_rule_context_from_json(document, *arrival)
        hooks = self._policy_enforcer.emit_hooks(document, *arrival, case.ids)
        heard = [hook for hook in hooks if any(listener.hears(EventKind.HOOK, hook.route) for listener in audience)]
        acks = self._acks(facts, context, heard, case.ids) if case.command.ack_required else []
        rows = self._ack_manager.ensure_consumers_insert_only(facts, acks, audience, case.now)
        result = _result(case.standing, verdict, applied, acks)
        if case.command.ack_required:
            messages = self._ack_manager.messages(facts, acks, rows, audience)
        else:
            messages = self._ack_manager.once_messages(facts, context, hooks, audience, case.now)
        return TransitionOutcome(
            result=result,
            decided_at=case.now,
            statements=[
                applied.statement,
                *self._timeline(case, facts, applied, hooks),
                *self._ack_manager.statements(facts, acks, rows, case.now),
                *([self._remember(case, result)] if case.command.request_id is not None else []),
            ],
            messages=messages,
            notices=_unheard_notices(case, facts, [hook.route for hook in hooks if hook not in heard]),
        )

    def _acks(self, facts: EventFacts, context: "RuleContext", hooks: Sequence[NewHook], ids: "UnitIds") -> list[NewAck]:
        return [self._ack_manager.create_lifecycle_ack(facts, context, ids), *(self._ack_manager.create_hook_ack(facts, hook, ids) for hook in hooks)]

    def _timeline(self, case: TransitionCase, facts: EventFacts, applied: "ApplyTransitionResult", hooks: Sequence[NewHook]) -> "list[Statement]":
        command = case.command
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
        stored = [self._dal.hook.insert(facts.lifecycle_id, facts.instance_id, hooks, case.now)] if hooks else []
        return [self._dal.lifecycle.insert_after_cas(new, case.now), self._dal.lifecycle.insert_data(new), *stored]

    def _remember(self, case: TransitionCase, result: LifeCycleTriggerResult) -> "Statement":
        new = NewRequestLog(
            instance_id=case.standing.instance_id,
            request_id=case.command.request_id or "",
            unit_id=case.ids.unit_id,
            fingerprint=self.fingerprint(case.standing, case.command),
            answer=result.model_dump_json(),
        )
        return self._dal.request_log.insert(new, case.now)


def notice_of(standing: "Standing", code: NoticeCode, now: datetime, data: Mapping[str, object]) -> LifeCycleNotice:
    """A notice about the instance that an event met."""
    return LifeCycleNotice(
        code=code,
        occurred_at=now,
        env_code=standing.blueprint.env_code,
        instance_id=standing.instance_id,
        instance_guid=standing.instance_guid,
        external_ref=standing.external_ref,
        data=dict(data),
    )


def _unheard_notices(case: TransitionCase, facts: EventFacts, routes: list[str]) -> list[LifeCycleNotice]:
    """Hooks that nobody listens to are kept without acks, and said."""
    return [notice_of(case.standing, NoticeCode.NO_HOOK_CONSUMER, case.now, {"routes": routes, "lifecycle_id": facts.lifecycle_id})] if routes else []


def _facts(case: TransitionCase, applied: "ApplyTransitionResult") -> EventFacts:
    standing, command = case.standing, case.command
    return EventFacts(
        blueprint=standing.blueprint,
        policy_hash=standing.policy.policy_hash,
        instance_id=standing.instance_id,
        instance_guid=standing.instance_guid,
        external_ref=standing.external_ref,
        lifecycle_id=applied.lifecycle_id,
        seq=applied.after.seq,
        occurred_at=command.occurred_at or case.now,
        event=applied.event,
        from_state=applied.from_state.name,
        to_state=applied.to_state.name,
        actor=command.actor,
        payload=command.payload,
    )


def _result(standing: "Standing", verdict: Verdict, applied: "ApplyTransitionResult | None", acks: Sequence[NewAck]) -> LifeCycleTriggerResult:
    return LifeCycleTriggerResult(
        applied=applied is not None,
        reason=verdict.reason.value if verdict.reason else None,
        replayed=False,
        instance_guid=standing.instance_guid,
        external_ref=standing.external_ref,
        definition=standing.blueprint.def_name,
        def_version=standing.blueprint.version,
        from_state=standing.state.name,
        to_state=applied.to_state.name if applied else None,
        current_state=applied.to_state.name if applied else standing.state.name,
        event=EventView(code=verdict.event.code, name=verdict.event.name) if verdict.event else None,
        lifecycle_id=applied.lifecycle_id if applied else None,
        seq=applied.after.seq if applied else standing.seq,
        ack_guid=next((ack.ack_guid for ack in acks if ack.kind is EventKind.TRANSITION), None),
        hook_ack_guids=[ack.ack_guid for ack in acks if ack.kind is EventKind.HOOK],
    )
