"""A policy as the engine uses it: event names are codes, state names are keys, legacy spellings are gone."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutRule:
    """How long an instance may stay in a state, and what happens then; without `event_code` only a notice."""

    state_key: str
    state_name: str
    duration_minutes: int
    is_repeat: bool
    event_code: int | None
    max_retry: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyEmit:
    """One hook of a rule; `params` None means the rule's own."""

    route: str
    label: str | None
    on_entry: bool
    type: str | None
    order: int | None
    group: str | None
    ack_mode: str | None
    send: str | None
    not_before: str | None
    deadline: str | None
    params: tuple[str, ...] | None
    on_success: int | None
    on_failure: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """What arriving in a state means; `via` None holds for every event that leads there."""

    state_key: str
    via: int | None
    params: tuple[str, ...]
    on_success: int | None
    on_failure: int | None
    emits: tuple[PolicyEmit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDocument:
    """`params` keeps the author's order and content; `def_name` is None when the import's own definition is meant."""

    name: str
    def_name: str | None
    for_version: int | None
    params: Mapping[str, JsonValue]
    rules: tuple[PolicyRule, ...]
    timeouts: tuple[TimeoutRule, ...]
