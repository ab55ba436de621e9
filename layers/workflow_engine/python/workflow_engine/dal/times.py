"""DATETIME(6) text from the driver to an aware UTC time."""

from datetime import UTC, datetime


def utc_from_text(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
