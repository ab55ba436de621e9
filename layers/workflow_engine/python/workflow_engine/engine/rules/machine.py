"""A definition seen from its policy: which states and events there are, and what leads where."""

from collections.abc import Mapping
from dataclasses import dataclass

from workflow_engine.engine.rules.definition_events import EventBook
from workflow_engine.models.definition import DefinitionDocument, DefinitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    def_name: str
    def_key: str
    states: Mapping[str, DefinitionState]
    events: EventBook
    exits: frozenset[tuple[str, int]]
    arrivals: Mapping[str, frozenset[int]]


def machine_of(document: DefinitionDocument) -> Machine:
    events, arrivals = EventBook(), {state.key: set[int]() for state in document.states}
    for event in document.events:
        events.add(event)
    for edge in document.transitions:
        arrivals[edge.to_key].add(edge.event_code)
    return Machine(
        def_name=document.name,
        def_key=document.key,
        states={state.key: state for state in document.states},
        events=events,
        exits=frozenset((edge.from_key, edge.event_code) for edge in document.transitions),
        arrivals={key: frozenset(codes) for key, codes in arrivals.items()},
    )
