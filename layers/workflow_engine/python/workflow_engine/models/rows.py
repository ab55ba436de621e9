"""Rows too small for a module of their own."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NextIdRow:
    next_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRow:
    count: int
