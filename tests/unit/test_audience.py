"""Who is told of an event, and how each row begins."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import START
from tests.support.made import OPTIONS, after, new_ack, subscriber
from workflow_engine.engine.rules.audience import Place, first_rows, listeners
from workflow_engine.models.enums import AckStatus, EventKind
from workflow_engine.models.flags import LifeCycleKindFlag
from workflow_engine.models.transition import NewAckConsumer

TRANSITION, HOOK = LifeCycleKindFlag.TRANSITION, LifeCycleKindFlag.HOOK


@pytest.mark.parametrize(
    ("kinds", "routes", "heard"),
    [
        (TRANSITION | HOOK, None, {None, "APP.A", "APP.B", "OPS"}),
        (TRANSITION, None, {None}),
        (HOOK, None, {"APP.A", "APP.B", "OPS"}),
        (TRANSITION | HOOK, ["APP.*"], {None, "APP.A", "APP.B"}),
        (HOOK, ["APP.A", "OPS"], {"APP.A", "OPS"}),
        (HOOK, ["app.*"], set()),
        (TRANSITION | HOOK, [], {None}),
    ],
)
def test_a_consumer_hears_its_kinds_and_of_hooks_its_routes(kinds: int, routes: list[str] | None, heard: set[str | None]):
    (listener,) = listeners([subscriber(kinds=kinds, routes=None if routes is None else json.dumps(routes))], START, OPTIONS)
    found = {route for route in ("APP.A", "APP.B", "OPS") if listener.hears(EventKind.HOOK, route)}
    assert found | ({None} if listener.hears(EventKind.TRANSITION, None) else set()) == heard


@pytest.mark.parametrize(
    ("beat_seconds", "is_always_live", "age", "is_live"),
    [(None, True, 10**6, True), (10, False, 30, True), (10, False, 30.000001, False), (None, False, 30, True), (None, False, 31, False), (10, True, 31, True)],
)
def test_a_consumer_is_live_within_three_beats_within_the_ttl_or_always(beat_seconds: int | None, age: float, *, is_always_live: bool, is_live: bool):
    (listener,) = listeners([subscriber(beat_seconds=beat_seconds, is_always_live=is_always_live)], after(age), OPTIONS)
    assert listener.is_live is is_live


@pytest.mark.parametrize(
    ("is_blocked", "is_live", "status", "due", "attempts"),
    [
        (False, True, AckStatus.PENDING, 41, 1),
        (False, False, AckStatus.PENDING, 1, 0),
        (True, True, AckStatus.HELD, None, 0),
        (True, False, AckStatus.HELD, None, 0),
    ],
)
def test_a_row_begins_as_sent_waiting_or_held(status: AckStatus, due: float | None, attempts: int, *, is_blocked: bool, is_live: bool):
    now = after(1)
    audience = listeners([subscriber(is_blocked=is_blocked, is_always_live=is_live, beat_seconds=None if is_live else 0)], now, OPTIONS)
    assert first_rows([new_ack(3)], audience, Place(instance_id=7, seq=9, now=now), OPTIONS) == [
        NewAckConsumer(
            ack_id=3,
            consumer_id=1,
            instance_id=7,
            seq=9,
            kind=EventKind.TRANSITION,
            status=status,
            next_due=None if due is None else after(due),
            trigger_count=attempts,
            first_sent_at=now if attempts else None,
        )
    ]


SUBSCRIBERS = st.lists(
    st.builds(
        lambda kinds, routes, live, blocked: {"kinds": kinds, "routes": routes, "is_always_live": live, "beat_seconds": 0, "is_blocked": blocked},
        st.sampled_from([TRANSITION, HOOK, TRANSITION | HOOK]),
        st.sampled_from([None, '["A.*"]', '["B.X"]', "[]"]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=6,
)


@given(SUBSCRIBERS, st.lists(st.sampled_from(["A.X", "A.Y", "B.X"]), max_size=4))
def test_there_is_one_row_for_each_ack_and_each_consumer_that_hears_it(facts: list[dict[str, object]], routes: list[str]):
    now = after(1)
    audience = listeners([subscriber(number, **one) for number, one in enumerate(facts, 1)], now, OPTIONS)
    acks = [new_ack(1), *(new_ack(number, route) for number, route in enumerate(routes, 2))]
    rows = first_rows(acks, audience, Place(instance_id=7, seq=1, now=now), OPTIONS)
    heard = [(ack.ack_id, listener.subscriber.consumer_id) for ack in acks for listener in audience if listener.hears(ack.kind, ack.route)]
    assert [(row.ack_id, row.consumer_id) for row in rows] == heard
    for row in rows:
        is_sent = row.first_sent_at is not None
        assert is_sent == (row.trigger_count == 1) == (row.status == AckStatus.PENDING and row.next_due is not None and row.next_due > now)
        assert (row.next_due is None) == (row.status == AckStatus.HELD)
