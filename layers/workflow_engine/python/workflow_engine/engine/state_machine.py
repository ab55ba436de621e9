"""StateMachine: ensures the instance and applies the transition; dumb by design, decides and returns statements."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from workflow_engine.engine.rules.state_due import NEVER_FIRED, state_due
from workflow_engine.engine.rules.transitions import Verdict, judge
from workflow_engine.models.blueprint import AttachedPolicy, BlueprintEdge, BlueprintEvent, BlueprintState, LifeCycleBlueprint
from workflow_engine.models.due import FiringsRow
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.instance import InstanceRow
from workflow_engine.models.transition import InstanceState, NewInstance, StateDue

if TYPE_CHECKING:
    from workflow_engine.dal import Statement, UnitIds, WorkFlowDAL
    from workflow_engine.options import WorkFlowEngineOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The instance an event meets: the locked row, or the one about to be made."""

    row: InstanceRow | None
    new: NewInstance | None
    state: BlueprintState
    seq: int
    blueprint: LifeCycleBlueprint
    policy: AttachedPolicy

    @property
    def instance_id(self) -> int:
        return self.row.instance_id if self.row else self.made.instance_id

    @property
    def instance_guid(self) -> str:
        return self.row.instance_guid if self.row else self.made.instance_guid

    @property
    def external_ref(self) -> str:
        return self.row.external_ref if self.row else self.made.external_ref

    @property
    def made(self) -> NewInstance:
        if self.new is None:
            raise ValueError("neither a row nor a new instance")
        return self.new


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyTransitionResult:
    """The transition that was applied, with the statement that does it."""

    from_state: BlueprintState
    to_state: BlueprintState
    event: BlueprintEvent
    lifecycle_id: int
    after: InstanceState
    statement: "Statement"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """A stay that a timeout's own self-loop continues."""

    stay_id: int
    entered_at: datetime
    stale_at: datetime
    firings: FiringsRow


class StateMachine:
    def __init__(self, dal: "WorkFlowDAL", options: "WorkFlowEngineOptions") -> None:
        self._dal = dal
        self._options = options

    def ensure_instance(self, row: InstanceRow | None, target: tuple[int, str], pinned: tuple[LifeCycleBlueprint, AttachedPolicy], ids: "UnitIds") -> Standing:
        """Stand on the locked row, or on a new instance in the initial state with version and policy pinned for good."""
        blueprint, policy = pinned
        if row is not None:
            return Standing(row=row, new=None, state=blueprint.states[row.current_state_id], seq=row.seq, blueprint=blueprint, policy=policy)
        new = NewInstance(
            instance_id=ids.next_id(),
            instance_guid=ids.next_guid(),
            definition_id=target[0],
            def_version_id=blueprint.def_version_id,
            policy_id=policy.policy_id,
            external_ref=target[1],
        )
        return Standing(row=None, new=new, state=blueprint.initial_state, seq=0, blueprint=blueprint, policy=policy)

    def judge(self, standing: Standing, event_ref: int | str) -> Verdict:
        return judge(standing.blueprint, standing.row, standing.state, event_ref)

    def create_only(self, standing: Standing, now: datetime) -> list["Statement"]:
        """A refused first event still makes the instance, in its initial state."""
        if standing.new is None:
            return []
        due = self.enter(standing, standing.state, now)
        state = InstanceState(state_id=standing.state.state_id, event_id=None, flags=LifeCycleInstanceFlag.ACTIVE, seq=0, stay_id=0, entered_at=now, due=due)
        return [self._dal.instance.insert(standing.new, state, now)]

    def apply_transition(self, standing: Standing, edge: BlueprintEdge, lifecycle_id: int, now: datetime, stay: Stay | None = None) -> ApplyTransitionResult:
        """Move by compare-and-set; a new instance is written where the event brings it, its first step says where it came from."""
        blueprint = standing.blueprint
        to_state = blueprint.states[edge.to_state_id]
        continued = stay if edge.to_state_id == edge.from_state_id else None
        after = self._after(standing, edge, lifecycle_id, now, continued)
        if standing.row is not None:
            statement = self._dal.instance.update_state_cas(standing.row, after, now)
        else:
            statement = self._dal.instance.insert(standing.made, after, now)
        return ApplyTransitionResult(
            from_state=standing.state,
            to_state=to_state,
            event=blueprint.events[edge.event_id],
            lifecycle_id=lifecycle_id,
            after=after,
            statement=statement,
        )

    def enter(self, standing: Standing, state: BlueprintState, now: datetime) -> StateDue:
        """Return the due times of a stay that begins now; a final state has none."""
        if state.is_final:
            return StateDue()
        stale_at = now + timedelta(seconds=self._options.default_state_stale_seconds)
        return state_due(standing.policy.timeouts.get(state.name_key), now, NEVER_FIRED, stale_at)

    def _after(self, standing: Standing, edge: BlueprintEdge, lifecycle_id: int, now: datetime, stay: Stay | None) -> InstanceState:
        to_state = standing.blueprint.states[edge.to_state_id]
        flags = LifeCycleInstanceFlag(standing.row.flags if standing.row else LifeCycleInstanceFlag.ACTIVE)
        if to_state.is_final:
            flags = (flags | LifeCycleInstanceFlag.COMPLETED) & ~LifeCycleInstanceFlag.ACTIVE
        if stay is not None:
            due = state_due(standing.policy.timeouts.get(to_state.name_key), stay.entered_at, stay.firings, stay.stale_at)
        else:
            due = self.enter(standing, to_state, now)
        return InstanceState(
            state_id=to_state.state_id,
            event_id=edge.event_id,
            flags=flags,
            seq=standing.seq + 1,
            stay_id=stay.stay_id if stay else lifecycle_id,
            entered_at=stay.entered_at if stay else now,
            due=due,
        )
