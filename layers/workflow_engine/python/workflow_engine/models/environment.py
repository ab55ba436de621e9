"""Environments: one row a code, made by the first import or registration that names it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentRow:
    env_id: int
    env_code: int
    env_name: str
