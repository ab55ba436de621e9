"""What a definition's states and transitions must be like together."""

from workflow_engine.engine.rules.definition_events import EventBook
from workflow_engine.engine.rules.definition_reader import DefinitionDraft, EdgeDraft, StateDraft
from workflow_engine.engine.rules.findings import Findings, quoted


def check_graph(draft: DefinitionDraft, findings: Findings) -> None:
    _check_initial(draft, findings)
    _check_duplicates(draft, findings)
    exits: dict[str, list[EdgeDraft]] = {}
    for edge in draft.edges:
        if edge.from_key is not None:
            exits.setdefault(edge.from_key, []).append(edge)
    for key, state in draft.states.items():
        _check_exits(state, exits.get(key, []), findings)
        _check_timeout(state, exits.get(key, []), draft.events, findings)
    _warn_unreachable(draft, exits, findings)


def _check_initial(draft: DefinitionDraft, findings: Findings) -> None:
    initial = [state for state in draft.states.values() if state.state.is_initial]
    if not initial:
        findings.error("NO_INITIAL_STATE", draft.states_path, "one state must have is_initial true")
    for state in initial[1:]:
        findings.error("MULTIPLE_INITIAL_STATES", (*state.path, "is_initial"), f"{quoted(initial[0].state.name)} is the initial state already")


def _check_duplicates(draft: DefinitionDraft, findings: Findings) -> None:
    seen: set[tuple[str, int]] = set()
    for edge in draft.edges:
        if edge.from_key is None or edge.event_code is None:
            continue
        if (edge.from_key, edge.event_code) in seen:
            name = draft.states[edge.from_key].state.name
            findings.error("DUPLICATE_TRANSITION", edge.path, f"event {edge.event_code} leaves {quoted(name)} twice")
        seen.add((edge.from_key, edge.event_code))


def _check_exits(draft: StateDraft, exits: list[EdgeDraft], findings: Findings) -> None:
    name = quoted(draft.state.name)
    if draft.state.is_final:
        if exits:
            findings.error("FINAL_STATE_HAS_EXIT", (*draft.path, "is_final"), f"{name} is final, but {len(exits)} transitions leave it")
    elif not exits:
        findings.error("STUCK_STATE", draft.path, f"nothing leads out of {name}, and it is not final")
    elif all(edge.to_key == edge.from_key for edge in exits):
        findings.error("SELF_LOOP_ONLY", draft.path, f"{name} leads only to itself")


def _check_timeout(draft: StateDraft, exits: list[EdgeDraft], events: EventBook, findings: Findings) -> None:
    timeout = draft.timeout
    if timeout is None:
        return
    if draft.state.is_final:
        findings.warning("TIMEOUT_ON_FINAL_STATE", draft.path, "an instance in a final state never times out")
    if timeout.event is None:
        return
    event = events.find(timeout.event)
    if event is None:
        findings.error("UNKNOWN_EVENT", timeout.path, f"there is no event {quoted(str(timeout.event))}")
    elif all(edge.event_code != event.code for edge in exits):
        findings.error("TIMEOUT_EVENT_NOT_LEGAL", timeout.path, f"event {event.code} does not leave {quoted(draft.state.name)}")


def _warn_unreachable(draft: DefinitionDraft, exits: dict[str, list[EdgeDraft]], findings: Findings) -> None:
    reached = [key for key, state in draft.states.items() if state.state.is_initial]
    seen = set(reached)
    while reached:
        for edge in exits.get(reached.pop(), []):
            if edge.to_key is not None and edge.to_key not in seen:
                seen.add(edge.to_key)
                reached.append(edge.to_key)
    for key, state in draft.states.items():
        if seen and key not in seen:
            findings.warning("UNREACHABLE_STATE", state.path, f"nothing leads to {quoted(state.state.name)}")
