"""LifeCycleBlueprint: an imported definition version as the engine uses it; never changes once loaded."""

from collections.abc import Mapping
from dataclasses import dataclass

from workflow_engine.models.flags import LifeCycleStateFlag
from workflow_engine.models.policy import PolicyDocument, TimeoutRule


@dataclass(frozen=True, slots=True, kw_only=True)
class BlueprintState:
    state_id: int
    name: str
    name_key: str
    flags: int

    @property
    def is_initial(self) -> bool:
        return bool(self.flags & LifeCycleStateFlag.INITIAL)

    @property
    def is_final(self) -> bool:
        return bool(self.flags & LifeCycleStateFlag.FINAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlueprintEvent:
    event_id: int
    code: int
    name: str
    name_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlueprintEdge:
    from_state_id: int
    to_state_id: int
    event_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeCycleBlueprint:
    definition_id: int
    def_version_id: int
    env_id: int
    env_code: int
    def_name: str
    name_key: str
    version: int
    states: Mapping[int, BlueprintState]
    events: Mapping[int, BlueprintEvent]
    events_by_code: Mapping[int, BlueprintEvent]
    events_by_key: Mapping[str, BlueprintEvent]
    edges: Mapping[tuple[int, int], BlueprintEdge]
    timeouts: Mapping[str, TimeoutRule]
    initial_state: BlueprintState

    def event_of(self, event: int | str) -> BlueprintEvent | None:
        """Find an event by code, by digits, or by name (trimmed, without case)."""
        if isinstance(event, int):
            return self.events_by_code.get(event)
        text = event.strip()
        if text.isascii() and text.isdigit():
            return self.events_by_code.get(int(text))
        return self.events_by_key.get(text.casefold())

    def leads_to(self, state_id: int, event_id: int) -> bool:
        """Tell whether some transition of this event ends in the state."""
        return any(edge.to_state_id == state_id and edge.event_id == event_id for edge in self.edges.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedPolicy:
    """The policy pinned to an instance, with the timeouts that hold for it: the version's, overridden per state by the policy's."""

    policy_id: int | None
    policy_hash: str | None
    document: PolicyDocument | None
    timeouts: Mapping[str, TimeoutRule]


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionRef:
    """What a (env, name) pair means; fixed once the definition exists."""

    definition_id: int
    env_id: int
    env_code: int
    def_name: str
    name_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestVersionRow:
    """What a new instance is pinned to."""

    def_version_id: int | None
    policy_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    definition_id: int
    def_version_id: int
    env_id: int
    env_code: int
    def_name: str
    name_key: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRow:
    policy_id: int
    policy_hash: str
    resolved: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutRow:
    state_name: str
    state_key: str
    duration_minutes: int
    mode: int
    event_code: int | None
    max_retry: int | None

    def rule(self) -> TimeoutRule:
        return TimeoutRule(
            state_key=self.state_key,
            state_name=self.state_name,
            duration_minutes=self.duration_minutes,
            is_repeat=bool(self.mode),
            event_code=self.event_code,
            max_retry=self.max_retry,
        )
