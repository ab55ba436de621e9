"""Rows and documents as the rules get them, with defaults: a test names only what it is about."""

from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from tests.support.engine import START
from workflow_engine.models.ack import AckConsumerRow
from workflow_engine.models.blueprint import BlueprintEdge, BlueprintEvent, BlueprintState, LifeCycleBlueprint
from workflow_engine.models.enums import AckStatus, EventKind, GaveUp
from workflow_engine.models.flags import LifeCycleInstanceFlag, LifeCycleKindFlag, LifeCycleStateFlag
from workflow_engine.models.instance import InstanceRow
from workflow_engine.models.subscriber import DispatchConsumerRow, SubscriberRow
from workflow_engine.models.transition import NewAck, NewHook
from workflow_engine.options import WorkFlowEngineOptions

OPTIONS = WorkFlowEngineOptions()
# What a request may carry: JSON has no NaN and no infinity.
_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12)
real_json = st.recursive(_scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4), max_leaves=12)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def ack_row(ack_id: int = 1, **facts: Any) -> AckConsumerRow:
    """An event just sent to consumer 1."""
    row = {"ack_guid": f"ack-{ack_id}", "consumer_id": 1, "instance_id": 7, "seq": 1, "kind": EventKind.TRANSITION, "status": AckStatus.PENDING}
    times = {"next_due": after(40), "first_sent_at": START, "delivered_at": None, "processed_at": None, "created": START, "modified": START}
    return AckConsumerRow(**{"ack_id": ack_id, **row, **times, "trigger_count": 1, "sends": 1, "retry_count": 0, "gave_up": None, **facts})


def held_row(ack_id: int = 1, **facts: Any) -> AckConsumerRow:
    return ack_row(ack_id, **{"status": AckStatus.HELD, "next_due": None, "first_sent_at": None, "trigger_count": 0, "sends": 0, **facts})


def subscriber(consumer_id: int = 1, **facts: Any) -> SubscriberRow:
    """Always live, hears everything, and its lane is free."""
    row = {"consumer": f"c{consumer_id}", "kinds": LifeCycleKindFlag.TRANSITION | LifeCycleKindFlag.HOOK, "routes": None, "beat_seconds": None}
    return SubscriberRow(**{"consumer_id": consumer_id, **row, "is_always_live": True, "last_beat": START, "is_blocked": False, **facts})


def dispatch_consumer(consumer_id: int = 1, **facts: Any) -> DispatchConsumerRow:
    row = {"consumer": f"c{consumer_id}", "env_code": 1, "owner": "local", "principals": "[]", "beat_seconds": None, "is_always_live": True}
    more = {"last_beat": START, "on_exhausted": GaveUp.SUSPEND, "deleted_id": 0, "closed_ack_id": None, "down_noticed_at": None, "modified": START}
    return DispatchConsumerRow(**{"consumer_id": consumer_id, **row, **more, **facts})


def instance_row(instance_id: int = 7, **facts: Any) -> InstanceRow:
    ids = {"instance_guid": f"guid-{instance_id}", "definition_id": 1, "def_version_id": 1, "policy_id": None, "external_ref": f"R-{instance_id}"}
    state = {"current_state_id": 1, "last_event_id": None, "flags": LifeCycleInstanceFlag.ACTIVE, "suspended_by": None, "message": None, "seq": 0, "stay_id": 0}
    times = {"state_entered_at": START, "stale_at": None, "state_due_at": None, "created": START}
    return InstanceRow(**{"instance_id": instance_id, **ids, **state, **times, **facts})


def new_ack(ack_id: int = 1, route: str | None = None) -> NewAck:
    kind = EventKind.TRANSITION if route is None else EventKind.HOOK
    return NewAck(ack_id=ack_id, ack_guid=f"ack-{ack_id}", kind=kind, hook_id=None if route is None else 1_000 + ack_id, route=route, body="{}")


def new_hook(**facts: Any) -> NewHook:
    nothing = dict.fromkeys(("label", "hook_type", "order", "group", "ack_mode", "send", "not_before", "deadline", "on_success", "on_failure"))
    return NewHook(**{"hook_id": 5, "position": 0, "route": "APP.X", "on_entry": True, **nothing, "params": [], **facts})


def blueprint(edges: dict[tuple[str, str], str] | None = None, final: tuple[str, ...] = ("Done",)) -> LifeCycleBlueprint:
    """Built from {(state, event): state}; the first state named is the initial one, events have the codes 10, 20, …"""
    chosen = edges or {("Draft", "Submit"): "Open", ("Open", "Close"): "Done", ("Open", "Touch"): "Open"}
    names = list(dict.fromkeys(name for (start, _), end in chosen.items() for name in (start, end)))
    flags = {name: LifeCycleStateFlag.FINAL if name in final else LifeCycleStateFlag.NONE for name in names} | {names[0]: LifeCycleStateFlag.INITIAL}
    states = {name: BlueprintState(state_id=place, name=name, name_key=name.casefold(), flags=flags[name]) for place, name in enumerate(names, 1)}
    events = {
        name: BlueprintEvent(event_id=100 + place, code=10 * place, name=name, name_key=name.casefold())
        for place, name in enumerate(dict.fromkeys(event for _, event in chosen), 1)
    }
    made = [
        BlueprintEdge(from_state_id=states[start].state_id, to_state_id=states[end].state_id, event_id=events[event].event_id)
        for (start, event), end in chosen.items()
    ]
    return LifeCycleBlueprint(
        definition_id=1,
        def_version_id=1,
        env_id=1,
        env_code=1,
        def_name="Made",
        name_key="made",
        version=1,
        states={state.state_id: state for state in states.values()},
        events={event.event_id: event for event in events.values()},
        events_by_code={event.code: event for event in events.values()},
        events_by_key={event.name_key: event for event in events.values()},
        edges={(edge.from_state_id, edge.event_id): edge for edge in made},
        timeouts={},
        initial_state=states[names[0]],
    )
