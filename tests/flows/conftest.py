"""Fixtures of the flows."""

from tests.support.reads import reads, rows

__all__ = ["reads", "rows"]
