"""References inside a policy: to events, states and params, each with its place."""

from dataclasses import dataclass

from workflow_engine.engine.rules.document_limits import MAX_NAME, MAX_PARAM_CODES
from workflow_engine.engine.rules.findings import Path
from workflow_engine.engine.rules.object_reader import Node, ObjectReader, open_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """`value` is a code, or a name; what it must mean is checked against the definition."""

    value: int | str
    path: Path


def read_event(entry: ObjectReader, node: Node | None) -> Ref | None:
    value = entry.event(node)
    return Ref(value=value, path=node.path) if node is not None and value is not None else None


def read_complete(entry: ObjectReader) -> tuple[Ref | None, Ref | None]:
    """The events that a consumer raises after success and after failure."""
    complete = open_object(entry.take("complete"), entry.findings)
    if complete is None:
        return None, None
    success = read_event(complete, complete.take("success"))
    failure = read_event(complete, complete.take("failure"))
    complete.close()
    return success, failure


def read_param_codes(entry: ObjectReader, node: Node | None) -> tuple[Ref, ...] | None:
    """Codes of params; None when the key is absent, which for a hook means its rule's."""
    if node is None:
        return None
    texts = ((item, entry.text(item, MAX_NAME)) for item in entry.items(node, MAX_PARAM_CODES))
    return tuple(Ref(value=text, path=item.path) for item, text in texts if text is not None)
