"""Reads the parts of a definition document and keeps the place of each, for the findings that follow."""

from dataclasses import dataclass, field

from workflow_engine.engine.rules.definition_events import EventBook, EventUse, declared_events, implied_events
from workflow_engine.engine.rules.document_limits import MAX_EVENTS, MAX_NAME, MAX_STATES, MAX_TRANSITIONS
from workflow_engine.engine.rules.findings import Path, quoted
from workflow_engine.engine.rules.names import name_key
from workflow_engine.engine.rules.object_reader import Node, ObjectReader, open_object
from workflow_engine.engine.rules.timeout_keys import TimeoutKeys, read_timeout
from workflow_engine.models.definition import DefinitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDraft:
    state: DefinitionState
    timeout: TimeoutKeys | None
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeDraft:
    """A transition as far as it could be understood; None where it could not."""

    from_key: str | None
    to_key: str | None
    event_code: int | None
    path: Path


@dataclass(slots=True)
class DefinitionDraft:
    """Everything that could be read, errors or not."""

    states: dict[str, StateDraft] = field(default_factory=dict[str, StateDraft])
    events: EventBook = field(default_factory=EventBook)
    edges: list[EdgeDraft] = field(default_factory=list[EdgeDraft])
    states_path: Path = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _EdgeKeys:
    from_key: str | None
    to_key: str | None
    use: EventUse
    path: Path


def read_parts(reader: ObjectReader) -> DefinitionDraft:
    draft = DefinitionDraft()
    states = reader.need(reader.take("states"), "states")
    draft.states_path = states.path if states else reader.path
    draft.states = _read_states(reader, states)
    events = reader.take("events")
    keys = _read_edges(reader, draft, reader.need(reader.take("transitions"), "transitions"))
    is_declared = events is not None and events.value != []
    if is_declared:
        draft.events = declared_events(reader, events)
    else:
        draft.events = implied_events([key.use for key in keys], reader.findings)
        if len(draft.events.by_code) > MAX_EVENTS:
            reader.findings.error("TOO_MANY", reader.path, f"the transitions use {len(draft.events.by_code)} events, {MAX_EVENTS} are allowed")
    draft.edges = [_resolve(reader, draft.events, key, is_declared=is_declared) for key in keys]
    return draft


def _read_states(reader: ObjectReader, node: Node | None) -> dict[str, StateDraft]:
    found: dict[str, StateDraft] = {}
    for item in reader.items(node, MAX_STATES):
        entry = open_object(item, reader.findings)
        draft = _read_state(entry) if entry else None
        if draft is None:
            continue
        if draft.state.key in found:
            reader.findings.error("DUPLICATE_STATE", (*item.path, "name"), f"two states are called {quoted(draft.state.name)}")
        else:
            found[draft.state.key] = draft
    return found


def _read_state(entry: ObjectReader) -> StateDraft | None:
    name = entry.text(entry.need(entry.take("name"), "name"), MAX_NAME)
    is_initial = entry.flag(entry.take("is_initial"), default=False)
    is_final = entry.flag(entry.take("is_final"), default=False)
    category = entry.text(entry.take("category"), MAX_NAME)
    timeout = read_timeout(entry, is_optional=True)
    entry.close()
    if name is None:
        return None
    state = DefinitionState(name=name, key=name_key(name), is_initial=is_initial, is_final=is_final, category=category)
    return StateDraft(state=state, timeout=timeout, path=entry.path)


def _read_edges(reader: ObjectReader, draft: DefinitionDraft, node: Node | None) -> list[_EdgeKeys]:
    entries = (open_object(item, reader.findings) for item in reader.items(node, MAX_TRANSITIONS))
    return [_read_edge(entry, draft) for entry in entries if entry is not None]


def _read_edge(entry: ObjectReader, draft: DefinitionDraft) -> _EdgeKeys:
    from_key = _state_key(entry, draft, "from")
    to_key = _state_key(entry, draft, "to")
    event, name = entry.take("event"), entry.take_alias("event_name", "eventName")
    # A transition may give nothing but its event's name.
    ref = entry.event(entry.need(event or name, "event"))
    event_name = entry.text(name, MAX_NAME)
    entry.close()
    path = event.path if event else name.path if name else entry.path
    use = EventUse(ref=ref, name=event_name, path=path, name_path=name.path if name else path)
    return _EdgeKeys(from_key=from_key, to_key=to_key, use=use, path=entry.path)


def _state_key(entry: ObjectReader, draft: DefinitionDraft, key: str) -> str | None:
    node = entry.need(entry.take(key), key)
    name = entry.text(node, MAX_NAME)
    if node is None or name is None:
        return None
    if name_key(name) not in draft.states:
        # No state could be read at all: that was said once, where the states are.
        if draft.states:
            entry.findings.error("UNKNOWN_STATE", node.path, f"there is no state {quoted(name)}")
        return None
    return name_key(name)


def _resolve(reader: ObjectReader, events: EventBook, keys: _EdgeKeys, *, is_declared: bool) -> EdgeDraft:
    use, event = keys.use, events.find(keys.use.ref)
    # No declared event could be read at all: that was said once, where the events are.
    if use.ref is not None and event is None and (events.by_code or not is_declared):
        reader.findings.error("UNKNOWN_EVENT", use.path, f"there is no event {quoted(str(use.ref))}")
    if is_declared and event is not None and use.name is not None and name_key(use.name) != event.key:
        reader.findings.warning("EVENT_NAME_DIFFERS", use.name_path, f"event {event.code} is called {quoted(event.name)}; this name has no effect")
    return EdgeDraft(from_key=keys.from_key, to_key=keys.to_key, event_code=event.code if event else None, path=keys.path)
