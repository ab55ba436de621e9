"""Rows that an import is about to write."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRow:
    category_id: int
    category_name: str
    name_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDefVersion:
    def_version_id: int
    definition_id: int
    version: int
    content_hash: str
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewState:
    state_id: int
    category_id: int | None
    name: str
    name_key: str
    flags: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    event_id: int
    code: int
    name: str
    name_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTransition:
    transition_id: int
    from_state_id: int
    to_state_id: int
    event_id: int
    flags: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPolicy:
    policy_id: int
    definition_id: int
    policy_name: str
    content_hash: str
    document: str
    resolved: str
    warnings: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLinkRow:
    """A policy and a version it belongs to; the highest stamp of a version is its current policy, of a definition its newest."""

    policy_id: int
    policy_name: str
    content_hash: str
    def_version_id: int
    stamp: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyTextRow:
    policy_id: int
    policy_name: str
    document: str
    warnings: str
