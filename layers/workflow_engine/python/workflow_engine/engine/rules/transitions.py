"""Which transition an event means, or why it means none."""

from dataclasses import dataclass

from workflow_engine.models.blueprint import BlueprintEdge, BlueprintEvent, BlueprintState, LifeCycleBlueprint
from workflow_engine.models.enums import RefusalReason
from workflow_engine.models.instance import InstanceRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The transition to apply, or the reason for none."""

    reason: RefusalReason | None
    event: BlueprintEvent | None
    edge: BlueprintEdge | None = None

    @property
    def edge_to_take(self) -> BlueprintEdge:
        if self.edge is None:
            raise ValueError("a refused event has no edge")
        return self.edge


def judge(blueprint: LifeCycleBlueprint, instance: InstanceRow | None, state: BlueprintState, event_ref: int | str) -> Verdict:
    """Check in the documented order: terminal, not active, unknown event, transition, already there, invalid."""
    event = blueprint.event_of(event_ref)
    if instance is not None and instance.is_terminal:
        return Verdict(reason=RefusalReason.INSTANCE_IS_TERMINAL, event=event)
    if instance is not None and not instance.is_active:
        return Verdict(reason=RefusalReason.INSTANCE_NOT_ACTIVE, event=event)
    if event is None:
        return Verdict(reason=RefusalReason.UNKNOWN_EVENT, event=None)
    edge = blueprint.edges.get((state.state_id, event.event_id))
    if edge is not None:
        return Verdict(reason=None, event=event, edge=edge)
    already = blueprint.leads_to(state.state_id, event.event_id)
    return Verdict(reason=RefusalReason.NO_OP_ALREADY_IN_STATE if already else RefusalReason.INVALID_TRANSITION, event=event)
