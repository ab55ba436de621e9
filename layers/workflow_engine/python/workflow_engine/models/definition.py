"""A definition as it was imported, aliases and wrapper resolved."""

from dataclasses import dataclass

from workflow_engine.models.policy import TimeoutRule


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionState:
    """`name` as authored, `key` as compared."""

    name: str
    key: str
    is_initial: bool
    is_final: bool
    category: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionEvent:
    code: int
    name: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionTransition:
    from_key: str
    to_key: str
    event_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionDocument:
    """`version` and `description` are what the author wrote beside the content, not content."""

    name: str
    key: str
    version: int | None
    description: str | None
    states: tuple[DefinitionState, ...]
    events: tuple[DefinitionEvent, ...]
    transitions: tuple[DefinitionTransition, ...]
    timeouts: tuple[TimeoutRule, ...]
