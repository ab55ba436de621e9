"""Definition JSON to DefinitionDocument: any JSON in, a document or None out, with everything that was found."""

import json

from pydantic import JsonValue

from workflow_engine.engine.rules.canonical import content_hash
from workflow_engine.engine.rules.definition_graph import check_graph
from workflow_engine.engine.rules.definition_reader import DefinitionDraft, read_parts
from workflow_engine.engine.rules.document_limits import MAX_DESCRIPTION, MAX_INT, MAX_NAME, scan
from workflow_engine.engine.rules.findings import Findings, Path, quoted
from workflow_engine.engine.rules.names import name_key
from workflow_engine.engine.rules.object_reader import Node, ObjectReader, entries_of
from workflow_engine.models.definition import DefinitionDocument, DefinitionTransition
from workflow_engine.models.policy import TimeoutRule

ROOT: Path = ("definition",)
_RESERVED_NAMES = frozenset({"*", ".", ".."})


def parse_definition(value: JsonValue, findings: Findings) -> DefinitionDocument | None:
    """Return the document, or None when there is an error among the findings."""
    before = len(findings.errors)
    document = _read(value, findings) if scan(value, ROOT, findings) else None
    return document if len(findings.errors) == before else None


def load_definition(text: str) -> DefinitionDocument:
    """Read a stored document, which was found good when it was imported."""
    document = _read(json.loads(text), Findings())
    if document is None:
        raise ValueError("a stored definition is no JSON object with a name")
    return document


def definition_hash(document: DefinitionDocument) -> str:
    """Hash what the definition does: states, events, transitions and timeouts, whatever their order in the document."""
    states: list[JsonValue] = [[state.name, state.is_initial, state.is_final, state.category] for state in sorted(document.states, key=lambda state: state.key)]
    events: list[JsonValue] = [[event.code, event.name] for event in sorted(document.events, key=lambda event: event.code)]
    edges: list[JsonValue] = [list(edge) for edge in sorted((edge.from_key, edge.event_code, edge.to_key) for edge in document.transitions)]
    ordered = sorted(document.timeouts, key=lambda timeout: timeout.state_key)
    timeouts: list[JsonValue] = [[timeout.state_key, timeout.duration_minutes, timeout.is_repeat, timeout.event_code, timeout.max_retry] for timeout in ordered]
    return content_hash({"states": states, "events": events, "transitions": edges, "timeouts": timeouts})


def _read(value: JsonValue, findings: Findings) -> DefinitionDocument | None:
    reader = _open(Node(value, ROOT), findings)
    if reader is None:
        return None
    name = _name(reader, findings)
    version = reader.integer(reader.take("version"), 1, MAX_INT)
    description = reader.text(_without_blank(reader.take("description")), MAX_DESCRIPTION, is_prose=True)
    draft = read_parts(reader)
    reader.close()
    check_graph(draft, findings)
    if name is None:
        return None
    return DefinitionDocument(
        name=name,
        key=name_key(name),
        version=version,
        description=description,
        states=tuple(state.state for state in draft.states.values()),
        events=tuple(draft.events.by_code.values()),
        transitions=_transitions(draft),
        timeouts=_timeouts(draft),
    )


def _name(reader: ObjectReader, findings: Findings) -> str | None:
    node = reader.need(reader.take("name"), "name")
    name = reader.text(node, MAX_NAME)
    if node is not None and name in _RESERVED_NAMES:
        findings.error("RESERVED_NAME", node.path, f"{quoted(name)} means something else in registrations or addresses")
    return name


def _open(node: Node, findings: Findings) -> ObjectReader | None:
    """Open the flat form, or the wrapper whose `definition` holds the name beside the parts."""
    entries = entries_of(node)
    if entries is None:
        findings.error("INVALID_TYPE", node.path, "must be an object")
        return None
    head = entries.pop("definition", None)
    if head is None:
        return ObjectReader(entries, node.path, findings)
    inner = entries_of(head)
    if inner is None:
        findings.error("INVALID_TYPE", head.path, "must be an object")
        return ObjectReader(entries, node.path, findings)
    for key in (key for key in inner if key in entries):
        findings.error("CONFLICTING_KEYS", entries[key].path, f"{quoted(key)} is given inside and outside of definition")
    return ObjectReader(inner | entries, node.path, findings)


def _without_blank(node: Node | None) -> Node | None:
    """An empty description is none."""
    return None if node is None or (isinstance(node.value, str) and not node.value.strip()) else node


def _transitions(draft: DefinitionDraft) -> tuple[DefinitionTransition, ...]:
    return tuple(
        DefinitionTransition(from_key=edge.from_key, to_key=edge.to_key, event_code=edge.event_code)
        for edge in draft.edges
        if edge.from_key is not None and edge.to_key is not None and edge.event_code is not None
    )


def _timeouts(draft: DefinitionDraft) -> tuple[TimeoutRule, ...]:
    rules: list[TimeoutRule] = []
    for state in draft.states.values():
        keys = state.timeout
        if keys is not None:
            event = draft.events.find(keys.event)
            rules.append(
                TimeoutRule(
                    state_key=state.state.key,
                    state_name=state.state.name,
                    duration_minutes=keys.minutes,
                    is_repeat=keys.is_repeat,
                    event_code=event.code if event else None,
                    max_retry=keys.max_retry,
                )
            )
    return tuple(rules)
