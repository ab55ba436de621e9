"""What a monitor pass reports."""

from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(slots=True, kw_only=True)
class MonitorReport:
    """Counts of one pass, or of several added up."""

    passes: int = 0
    found: int = 0
    sent: int = 0
    given_back: int = 0
    failed: int = 0
    suspended: int = 0
    timed_out: int = 0
    noticed: int = 0
    closed: int = 0
    seconds: float = 0.0
    # The age of the oldest row that was due to a live consumer when the pass began.
    oldest_due_seconds: float = 0.0

    def add(self, other: "MonitorReport") -> None:
        for entry in fields(self):
            if entry.name != "oldest_due_seconds":
                setattr(self, entry.name, getattr(self, entry.name) + getattr(other, entry.name))
        self.oldest_due_seconds = max(self.oldest_due_seconds, other.oldest_due_seconds)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
