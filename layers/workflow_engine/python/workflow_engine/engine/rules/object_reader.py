"""Reads one JSON object: every key is asked for or reported, every wrong value is a finding, nothing raises."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from workflow_engine.engine.rules.findings import Findings, Path, quoted
from workflow_engine.engine.rules.names import MAX_EVENT_CODE, event_ref

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place in the request."""

    value: JsonValue
    path: Path


class ObjectReader:
    """JSON null counts as absent. Call `close` when all known keys were asked for: the rest are warnings."""

    def __init__(self, entries: Mapping[str, Node], path: Path, findings: Findings) -> None:
        self._entries = entries
        self._asked: set[str] = set()
        self.path = path
        self.findings = findings

    def take(self, key: str) -> Node | None:
        self._asked.add(key)
        node = self._entries.get(key)
        return node if node is not None and node.value is not None else None

    def take_alias(self, key: str, alias: str) -> Node | None:
        """The value under either name; both with different values contradict each other."""
        node, other = self.take(key), self.take(alias)
        if node is not None and other is not None and node.value != other.value:
            self.findings.error("CONFLICTING_KEYS", other.path, f"{quoted(alias)} says something else than {quoted(key)}")
        return node if node is not None else other

    def need(self, node: Node | None, key: str) -> Node | None:
        if node is None:
            self.findings.error("MISSING_KEY", self.path, f"{quoted(key)} is missing")
        return node

    def text(self, node: Node | None, limit: int, *, is_prose: bool = False) -> str | None:
        """Trimmed text of 1 to `limit` characters; only prose may have line breaks and the like."""
        text = self._raw_text(node)
        if node is None or text is None:
            return None
        if not is_prose and _UNPRINTABLE.search(text):
            # Names and routes become attributes of SNS messages, which refuses them with the event.
            self._wrong_value(node, "must not have control characters")
        elif 0 < len(text) <= limit:
            return text
        else:
            self._wrong_value(node, f"must have 1 to {limit} characters")
        return None

    def choice(self, node: Node | None, choices: Sequence[str]) -> str | None:
        text = self._raw_text(node)
        if node is None or text is None:
            return None
        if text.lower() in choices:
            return text.lower()
        self._wrong_value(node, f"must be one of {', '.join(choices)}")
        return None

    def flag(self, node: Node | None, *, default: bool) -> bool:
        if node is None:
            return default
        if isinstance(node.value, bool):
            return node.value
        self._wrong_type(node, "true or false")
        return default

    def integer(self, node: Node | None, low: int, high: int) -> int | None:
        if node is None:
            return None
        if not isinstance(node.value, int) or isinstance(node.value, bool):
            self._wrong_type(node, "a whole number")
        elif low <= node.value <= high:
            return node.value
        else:
            self._wrong_value(node, f"must lie between {low} and {high}")
        return None

    def items(self, node: Node | None, limit: int) -> list[Node]:
        """The elements of an array; too many of them are one finding, not one each."""
        if node is None:
            return []
        if not isinstance(node.value, list):
            self._wrong_type(node, "an array")
            return []
        if len(node.value) > limit:
            self.findings.error("TOO_MANY", node.path, f"has {len(node.value)} elements, {limit} are allowed")
            return []
        return [Node(value, (*node.path, index)) for index, value in enumerate(node.value)]

    def event(self, node: Node | None) -> int | str | None:
        """An event's code, or the key of its name."""
        if node is None:
            return None
        if isinstance(node.value, bool) or not isinstance(node.value, (int, str)):
            self._wrong_type(node, "an event's code or name")
            return None
        ref = event_ref(node.value)
        if ref == "" or (isinstance(ref, int) and not 0 <= ref <= MAX_EVENT_CODE):
            self._wrong_value(node, f"must be a name, or a code between 0 and {MAX_EVENT_CODE}")
            return None
        return ref

    def close(self) -> None:
        for key, node in self._entries.items():
            if key not in self._asked:
                self.findings.warning("UNKNOWN_KEY", node.path, f"{quoted(key)} is not known and has no effect")

    def _raw_text(self, node: Node | None) -> str | None:
        if node is None:
            return None
        if isinstance(node.value, str):
            return node.value.strip()
        self._wrong_type(node, "text")
        return None

    def _wrong_type(self, node: Node, wanted: str) -> None:
        self.findings.error("INVALID_TYPE", node.path, f"must be {wanted}")

    def _wrong_value(self, node: Node, message: str) -> None:
        self.findings.error("INVALID_VALUE", node.path, message)


def entries_of(node: Node) -> dict[str, Node] | None:
    """The keys of an object with their places; None when it is no object."""
    if not isinstance(node.value, dict):
        return None
    return {key: Node(value, (*node.path, key)) for key, value in node.value.items()}


def open_object(node: Node | None, findings: Findings) -> ObjectReader | None:
    if node is None:
        return None
    entries = entries_of(node)
    if entries is None:
        findings.error("INVALID_TYPE", node.path, "must be an object")
        return None
    return ObjectReader(entries, node.path, findings)
