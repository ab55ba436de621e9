"""Who is told of an event, and how each row begins."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from workflow_engine.engine.rules.backoff import first_due
from workflow_engine.engine.rules.liveness import is_live
from workflow_engine.models.enums import AckStatus, EventKind
from workflow_engine.models.flags import LifeCycleKindFlag
from workflow_engine.models.subscriber import SubscriberRow
from workflow_engine.models.transition import NewAck, NewAckConsumer
from workflow_engine.options import WorkFlowEngineOptions

_FLAG_OF = {EventKind.TRANSITION: LifeCycleKindFlag.TRANSITION, EventKind.HOOK: LifeCycleKindFlag.HOOK}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A consumer of the definition, with what the moment makes of it."""

    subscriber: SubscriberRow
    is_live: bool
    routes: tuple[str, ...] | None

    def hears(self, kind: EventKind, route: str | None) -> bool:
        if not self.subscriber.kinds & _FLAG_OF[kind]:
            return False
        return kind is EventKind.TRANSITION or self.routes is None or any(fnmatchcase(route or "", pattern) for pattern in self.routes)


def listeners(subscribers: Iterable[SubscriberRow], now: datetime, options: WorkFlowEngineOptions) -> list[Listener]:
    return [
        Listener(
            subscriber=row,
            is_live=is_live(row.beat_seconds, bool(row.is_always_live), row.last_beat, now, options.consumer_ttl_seconds),
            routes=tuple(json.loads(row.routes)) if row.routes else None,
        )
        for row in subscribers
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The step whose events are told: its instance, its seq, and the moment."""

    instance_id: int
    seq: int
    now: datetime


def first_rows(acks: Sequence[NewAck], audience: Sequence[Listener], place: Place, options: WorkFlowEngineOptions) -> list[NewAckConsumer]:
    """One row per ack and listener: held behind an open lane, sent at once to a live consumer, waiting for a beat otherwise."""
    return [_first_row(ack, listener, place, options) for ack in acks for listener in audience if listener.hears(ack.kind, ack.route)]


def _first_row(ack: NewAck, listener: Listener, place: Place, options: WorkFlowEngineOptions) -> NewAckConsumer:
    is_held = bool(listener.subscriber.is_blocked)
    is_sent = listener.is_live and not is_held
    waits_until = first_due(place.now, options) if is_sent else place.now
    return NewAckConsumer(
        ack_id=ack.ack_id,
        consumer_id=listener.subscriber.consumer_id,
        instance_id=place.instance_id,
        seq=place.seq,
        kind=ack.kind,
        status=AckStatus.HELD if is_held else AckStatus.PENDING,
        next_due=None if is_held else waits_until,
        trigger_count=int(is_sent),
        first_sent_at=place.now if is_sent else None,
    )
