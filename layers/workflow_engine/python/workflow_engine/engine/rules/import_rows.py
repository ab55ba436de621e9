"""The rows of a new definition version."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workflow_engine.engine.rules.names import name_key
from workflow_engine.models.definition import DefinitionDocument, DefinitionState
from workflow_engine.models.flags import LifeCycleStateFlag, LifeCycleTransitionFlag
from workflow_engine.models.new_blueprint import CategoryRow, NewEvent, NewState, NewTransition
from workflow_engine.models.policy import TimeoutRule


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRows:
    categories: list[CategoryRow]
    states: list[NewState]
    events: list[NewEvent]
    transitions: list[NewTransition]
    timeouts: list[tuple[int, TimeoutRule]]


def version_rows(document: DefinitionDocument, known: Sequence[CategoryRow], next_id: Callable[[], int]) -> VersionRows:
    """Rows in the author's order; only categories that are not known yet become rows."""
    new_categories = _new_categories(document, {row.name_key for row in known}, next_id)
    category_ids = {row.name_key: row.category_id for row in (*known, *new_categories)}
    states = [_state(state, category_ids, next_id()) for state in document.states]
    events = [NewEvent(event_id=next_id(), code=event.code, name=event.name, name_key=event.key) for event in document.events]
    state_ids = {state.name_key: state.state_id for state in states}
    event_ids = {event.code: event.event_id for event in events}
    transitions = [
        NewTransition(
            transition_id=next_id(),
            from_state_id=state_ids[edge.from_key],
            to_state_id=state_ids[edge.to_key],
            event_id=event_ids[edge.event_code],
            flags=LifeCycleTransitionFlag.SELF_LOOP if edge.from_key == edge.to_key else LifeCycleTransitionFlag.NONE,
        )
        for edge in document.transitions
    ]
    timeouts = [(next_id(), timeout) for timeout in document.timeouts]
    return VersionRows(categories=new_categories, states=states, events=events, transitions=transitions, timeouts=timeouts)


def category_keys(document: DefinitionDocument) -> list[str]:
    return sorted({name_key(state.category) for state in document.states if state.category})


def _new_categories(document: DefinitionDocument, known: set[str], next_id: Callable[[], int]) -> list[CategoryRow]:
    """Sorted, so that two imports insert in the same order and do not wait for each other in a circle."""
    names = {name_key(state.category): state.category for state in reversed(document.states) if state.category}
    return [CategoryRow(category_id=next_id(), category_name=names[key], name_key=key) for key in sorted(names) if key not in known]


def _state(state: DefinitionState, category_ids: dict[str, int], state_id: int) -> NewState:
    flags = (LifeCycleStateFlag.INITIAL if state.is_initial else LifeCycleStateFlag.NONE) | (
        LifeCycleStateFlag.FINAL if state.is_final else LifeCycleStateFlag.NONE
    )
    category_id = category_ids[name_key(state.category)] if state.category else None
    return NewState(state_id=state_id, category_id=category_id, name=state.name, name_key=state.key, flags=flags)
