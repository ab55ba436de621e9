"""Lifecycle rows: one a step."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleStampRow:
    """Enough to recognise a step that an earlier attempt of the same unit wrote."""

    lifecycle_id: int
    seq: int
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLogRow:
    unit_id: int
    fingerprint: str
    answer: str
