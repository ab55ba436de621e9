"""Canonical JSON and the hash made from it."""

import hashlib
import json
from uuid import UUID

from pydantic import JsonValue


def canonical_json(value: JsonValue) -> str:
    """One text for equal values: keys sorted, no white space, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def author_json(value: JsonValue) -> str:
    """The document as its author wrote it: keys and arrays in the author's order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def content_hash(value: JsonValue) -> str:
    """SHA-256 of the canonical JSON, cut to the size of a GUID and written as one."""
    return str(UUID(bytes=hashlib.sha256(canonical_json(value).encode("ascii")).digest()[:16]))
