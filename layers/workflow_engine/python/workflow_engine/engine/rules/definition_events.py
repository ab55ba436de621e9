"""The events of a definition: declared in `events`, or by the codes that its transitions use."""

from dataclasses import dataclass, field

from workflow_engine.engine.rules.document_limits import MAX_EVENTS, MAX_NAME
from workflow_engine.engine.rules.findings import Findings, Path, quoted
from workflow_engine.engine.rules.names import MAX_EVENT_CODE, is_code_text, name_key
from workflow_engine.engine.rules.object_reader import Node, ObjectReader, open_object
from workflow_engine.models.definition import DefinitionEvent


@dataclass(slots=True)
class EventBook:
    """Finds events by code and by name key."""

    by_code: dict[int, DefinitionEvent] = field(default_factory=dict[int, DefinitionEvent])
    by_key: dict[str, DefinitionEvent] = field(default_factory=dict[str, DefinitionEvent])

    def find(self, ref: int | str | None) -> DefinitionEvent | None:
        if isinstance(ref, int):
            return self.by_code.get(ref)
        return self.by_key.get(ref) if ref is not None else None

    def add(self, event: DefinitionEvent) -> None:
        self.by_code[event.code] = event
        self.by_key[event.key] = event


@dataclass(frozen=True, slots=True, kw_only=True)
class EventUse:
    """What a transition says of its event; the paths are None where it says nothing."""

    ref: int | str | None
    name: str | None
    path: Path
    name_path: Path


def declared_events(reader: ObjectReader, node: Node | None) -> EventBook:
    book = EventBook()
    for item in reader.items(node, MAX_EVENTS):
        entry = open_object(item, reader.findings)
        if entry is None:
            continue
        code_node, name_node = entry.take("code"), entry.take("name")
        code = _declared_code(entry, entry.need(code_node, "code"))
        name = entry.text(name_node, MAX_NAME)
        entry.close()
        if code is not None:
            _add(book, code, name, name_node.path if name_node else item.path, reader.findings)
    return book


def implied_events(uses: list[EventUse], findings: Findings) -> EventBook:
    """Without `events`, a code that a transition uses is an event; the first name given for it is its name."""
    names: dict[int, tuple[str | None, Path]] = {}
    for use in uses:
        if not isinstance(use.ref, int):
            continue
        known = names.get(use.ref, (None, use.path))[0]
        if known is not None and use.name is not None and name_key(known) != name_key(use.name):
            findings.error("CONFLICTING_EVENT_NAME", use.name_path, f"event {use.ref} was called {quoted(known)} before")
        if known is None:
            names[use.ref] = (use.name, use.name_path if use.name else use.path)
    book = EventBook()
    for code, (name, path) in names.items():
        _add(book, code, name, path, findings)
    return book


def _declared_code(entry: ObjectReader, node: Node | None) -> int | None:
    """A code is a number; digits are taken for one, as everywhere else."""
    if node is not None and isinstance(node.value, str) and is_code_text(node.value):
        ref = entry.event(node)
        return ref if isinstance(ref, int) else None
    return entry.integer(node, 0, MAX_EVENT_CODE)


def _add(book: EventBook, code: int, name: str | None, path: Path, findings: Findings) -> None:
    event = DefinitionEvent(code=code, name=name or str(code), key=name_key(name or str(code)))
    if code in book.by_code:
        findings.error("DUPLICATE_EVENT", path, f"event {code} is declared twice")
    elif event.key in book.by_key:
        findings.error("DUPLICATE_EVENT", path, f"two events are called {quoted(event.name)}")
    elif is_code_text(event.name) and event.key != str(code):
        findings.error("INVALID_VALUE", path, "a name made of digits would be taken for another event's code")
    else:
        book.add(event)
