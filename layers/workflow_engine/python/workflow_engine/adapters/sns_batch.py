"""PublishBatch entries: attributes, sizes, and where a batch is cut."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

MAX_ENTRIES = 10
# SNS counts the message and the names, types and values of its attributes, in UTF-8 bytes, over the whole batch.
MAX_BYTES = 256 * 1024
_TYPE = "String"
Source = TypeVar("Source")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEntry(Generic[Source]):
    """One message of a batch and what it came from."""

    source: Source
    body: str
    attributes: dict[str, str]

    @property
    def size(self) -> int:
        return _bytes(self.body) + sum(_bytes(name) + _bytes(_TYPE) + _bytes(value) for name, value in self.attributes.items())

    def request(self, position: int) -> dict[str, Any]:
        attributes = {name: {"DataType": _TYPE, "StringValue": value} for name, value in self.attributes.items()}
        return {"Id": str(position), "Message": self.body, "MessageAttributes": attributes}


def cut(entries: Iterable[BatchEntry[Source]]) -> Iterator[list[BatchEntry[Source]]]:
    """Cut in order; an entry that is too large by itself travels alone, and SNS refuses it alone."""
    batch: list[BatchEntry[Source]] = []
    size = 0
    for entry in entries:
        if batch and (len(batch) == MAX_ENTRIES or size + entry.size > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    if batch:
        yield batch


def _bytes(text: str) -> int:
    return len(text.encode())
