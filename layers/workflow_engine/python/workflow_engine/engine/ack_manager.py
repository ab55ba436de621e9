"""AckManager: what is kept of an event until every consumer has processed it."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from workflow_engine.engine.rules.audience import Listener, Place, first_rows
from workflow_engine.engine.rules.event_body import EventFacts, hook_body, transition_body
from workflow_engine.models.enums import AckStatus, EventKind
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.transition import NewAck, NewAckConsumer, NewHook

if TYPE_CHECKING:
    from workflow_engine.dal import Query, Statement, UnitIds, WorkFlowDAL
    from workflow_engine.engine.policy_enforcer import RuleContext
    from workflow_engine.models.ack import DueRow
    from workflow_engine.options import WorkFlowEngineOptions


class AckManager:
    def __init__(self, dal: "WorkFlowDAL", options: "WorkFlowEngineOptions") -> None:
        self._dal = dal
        self._options = options

    def create_lifecycle_ack(self, facts: EventFacts, context: "RuleContext", ids: "UnitIds") -> NewAck:
        ack_guid = ids.next_guid()
        body = transition_body(facts, ack_guid, context.params, (context.on_success, context.on_failure))
        return NewAck(ack_id=ids.next_id(), ack_guid=ack_guid, kind=EventKind.TRANSITION, hook_id=None, route=None, body=body)

    def create_hook_ack(self, facts: EventFacts, hook: NewHook, ids: "UnitIds") -> NewAck:
        ack_guid = ids.next_guid()
        body = hook_body(facts, ack_guid, hook)
        return NewAck(ack_id=ids.next_id(), ack_guid=ack_guid, kind=EventKind.HOOK, hook_id=hook.hook_id, route=hook.route, body=body)

    def ensure_consumers_insert_only(self, facts: EventFacts, acks: Sequence[NewAck], audience: Sequence[Listener], now: datetime) -> list[NewAckConsumer]:
        """Make a row for every listener of a new event; rows that exist are never touched by this, whatever is registered or replayed."""
        return first_rows(acks, audience, Place(instance_id=facts.instance_id, seq=facts.seq, now=now), self._options)

    def list_due_dispatch(self, consumer_id: int, now: datetime, after: tuple[datetime, int]) -> "Query[DueRow]":
        """A page of what is due to a consumer, transitions and hooks together: a seq goes out as a whole."""
        return self._dal.ack_consumer.list_due_paged(consumer_id, now, after, self._options.monitor_page_size)

    def statements(self, facts: EventFacts, acks: Sequence[NewAck], rows: Sequence[NewAckConsumer], now: datetime) -> list["Statement"]:
        """Insert acks, their links and their consumer rows: one statement a table, whatever the number."""
        if not acks:
            return []
        hooks = [ack for ack in acks if ack.hook_id is not None]
        links = [self._dal.ack.link_lifecycle(facts.lifecycle_id, ack.ack_id) for ack in acks if ack.hook_id is None]
        return [
            self._dal.ack.insert(facts.instance_id, acks, now),
            *links,
            *([self._dal.ack.link_hooks(hooks)] if hooks else []),
            *([self._dal.ack_consumer.insert(rows, now)] if rows else []),
        ]

    def messages(self, facts: EventFacts, acks: Sequence[NewAck], rows: Sequence[NewAckConsumer], audience: Sequence[Listener]) -> list[WorkMessage]:
        """Return what goes out now: per consumer in order, the transition first."""
        by_id = {ack.ack_id: ack for ack in acks}
        names = {listener.subscriber.consumer_id: listener.subscriber.consumer for listener in audience}
        sent = [row for row in rows if row.status == AckStatus.PENDING and row.first_sent_at is not None]
        return [
            self._message(facts, by_id[row.ack_id], (row.consumer_id, names[row.consumer_id]), row.first_sent_at or facts.occurred_at, row.next_due)
            for row in sorted(sent, key=lambda row: (row.consumer_id, row.kind, row.ack_id))
        ]

    def once_messages(self, facts: EventFacts, context: "RuleContext", hooks: Sequence[NewHook], told: Sequence[Listener], now: datetime) -> list[WorkMessage]:
        """Without acks: once, to whoever is live, outside the order."""
        body = transition_body(facts, None, context.params, (context.on_success, context.on_failure))
        events = [_unkept(0, None, body), *(_unkept(hook.hook_id, hook.route, hook_body(facts, None, hook)) for hook in hooks)]
        return [
            self._message(facts, event, (listener.subscriber.consumer_id, listener.subscriber.consumer), now, None)
            for listener in told
            for event in events
            if listener.is_live and listener.hears(event.kind, event.route)
        ]

    def _message(self, facts: EventFacts, ack: NewAck, consumer: tuple[int, str], sent_at: datetime, claimed_due: datetime | None) -> WorkMessage:
        return WorkMessage(
            consumer_id=consumer[0],
            consumer=consumer[1],
            env_code=facts.blueprint.env_code,
            definition=facts.blueprint.def_name,
            kind=ack.kind,
            route=ack.route,
            instance_id=facts.instance_id,
            seq=facts.seq,
            ack_id=ack.ack_id or None,
            webhook_id=ack.ack_guid or f"{facts.lifecycle_id}:{ack.hook_id or 0}",
            body=ack.body,
            attempt=1,
            first_sent_at=sent_at,
            claimed_due=claimed_due,
        )


def _unkept(hook_id: int, route: str | None, body: str) -> NewAck:
    return NewAck(ack_id=0, ack_guid="", kind=EventKind.HOOK if route else EventKind.TRANSITION, hook_id=hook_id, route=route, body=body)
