"""Why an instance stands where it stands (design section 4): what is open, what is held and by what, who is down, what could move it."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from workflow_engine.engine.instances import view_of
from workflow_engine.engine.notices import notice_view
from workflow_engine.engine.rules.guids import is_guid
from workflow_engine.engine.rules.state_due import is_exhausted, next_timeout_at
from workflow_engine.engine.rules.why_lists import MOST_ENTRIES, Lanes, down_consumers, gave_up_acks, held_acks, open_acks, statuses_of
from workflow_engine.engine.rules.why_summary import StepFailure, WhyFacts, why_summary
from workflow_engine.errors import NotFoundError
from workflow_engine.models.due import FiringsRow
from workflow_engine.models.enums import InstanceStatus, StateDueKind, SuspendedBy
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.instance import EventView, InstanceView
from workflow_engine.models.notice import NoticeRow
from workflow_engine.models.why import LaneRow, PossibleEvent, RunningTimeout, StandingRow, Why, WhyAckRow

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, WorkFlowDAL
    from workflow_engine.engine.blueprint_manager import BlueprintManager
    from workflow_engine.engine.ports import Clock
    from workflow_engine.models.blueprint import LifeCycleBlueprint
    from workflow_engine.options import WorkFlowEngineOptions

_LAST_NOTICES = 20
_CAN_MOVE = frozenset({InstanceStatus.ACTIVE, InstanceStatus.SUSPENDED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was read of the instance, but for the rows of its lanes."""

    view: InstanceView
    standing: StandingRow
    lanes: list[LaneRow]
    failed: list[WhyAckRow]
    firings: FiringsRow
    notices: list[NoticeRow]

    @property
    def status(self) -> InstanceStatus:
        return InstanceStatus.of(self.standing.flags)


class WhyReader:
    def __init__(self, dal: "WorkFlowDAL", blueprints: "BlueprintManager", clock: "Clock", options: "WorkFlowEngineOptions") -> None:
        self._dal = dal
        self._blueprints = blueprints
        self._clock = clock
        self._options = options

    def why(self, guid: str, deadline: "Deadline") -> Why:
        """Explain an instance; what is read does not grow with what it has piled up."""
        if not is_guid(guid):
            raise _unknown()
        return self._dal.run_reading(deadline, partial(self._why, guid))

    def _why(self, guid: str, load: "DbExecutionLoad") -> Why:
        seen = self._read(load, guid)
        blueprint = self._blueprints.get_blueprint_by_version_id(load, seen.standing.def_version_id)
        facts = _facts(seen, self._lanes(load, seen), self._timeout(load, seen, blueprint), _events(seen, blueprint))
        return Why(
            instance=seen.view,
            summary=why_summary(facts),
            open=list(facts.open),
            held=list(facts.held),
            gave_up=list(facts.gave_up),
            down=list(facts.down),
            timeout=facts.timeout,
            events=list(facts.events),
            notices=[notice_view(row) for row in seen.notices],
        )

    def _read(self, load: "DbExecutionLoad", guid: str) -> Seen:
        views, standings = self._dal.read(load, self._dal.instance_view.get_by_guid(guid), self._dal.why.get_standing(guid))
        if not views or not standings:
            raise _unknown()
        standing = standings[0]
        lanes, failed, firings, notices = self._dal.read(
            load,
            self._dal.why.list_lanes(standing, MOST_ENTRIES),
            self._dal.why.list_failed_of_step(standing, MOST_ENTRIES),
            self._dal.lc_timeout.get_firings(standing.instance_id, standing.stay_id),
            self._dal.why.list_notices(guid, _LAST_NOTICES),
        )
        return Seen(view=view_of(views[0]), standing=standing, lanes=lanes, failed=failed, firings=firings[0], notices=notices)

    def _lanes(self, load: "DbExecutionLoad", seen: Seen) -> Lanes:
        """Read each lane's lowest rows."""
        take = _rows_a_lane(seen.lanes)
        wanted = [(lane.consumer_id, status) for lane in seen.lanes for status in statuses_of(lane)]
        queries = [self._dal.why.list_lane_rows(seen.standing.instance_id, consumer_id, status, take) for consumer_id, status in wanted]
        rows = [row for found in self._dal.read_all(load, queries) for row in found]
        consumers = {lane.consumer_id: lane for lane in seen.lanes}
        return Lanes(consumers=consumers, rows=rows, now=self._clock.now(), ttl_seconds=self._options.consumer_ttl_seconds)

    def _timeout(self, load: "DbExecutionLoad", seen: Seen, blueprint: "LifeCycleBlueprint") -> RunningTimeout | None:
        """Return the timeout that is running; none while the instance is not active, or when it is used up."""
        policy = self._blueprints.attached_policy(load, blueprint, seen.standing.policy_id)
        rule = policy.timeouts.get(blueprint.states[seen.standing.state_id].name_key)
        if rule is None or seen.status is not InstanceStatus.ACTIVE or is_exhausted(rule, seen.firings):
            return None
        is_next = seen.standing.state_due_kind == StateDueKind.TIMEOUT
        due_at = seen.view.state_due_at if is_next else next_timeout_at(rule, seen.view.state_entered_at, seen.firings)
        if due_at is None:
            return None
        event = None if rule.event_code is None else blueprint.events_by_code.get(rule.event_code)
        shown = EventView(code=event.code, name=event.name) if event else None
        return RunningTimeout(event=shown, mode="repeat" if rule.is_repeat else "once", n=seen.firings.n, max_retry=rule.max_retry, due_at=due_at)


def _unknown() -> NotFoundError:
    return NotFoundError("instance", "no instance has this guid")


def _events(seen: Seen, blueprint: "LifeCycleBlueprint") -> list[PossibleEvent]:
    """The events with a transition from the current state; none where nothing can move the instance any more."""
    if seen.status not in _CAN_MOVE:
        return []
    edges = [edge for (state_id, _), edge in blueprint.edges.items() if state_id == seen.standing.state_id]
    found = [(blueprint.events[edge.event_id], blueprint.states[edge.to_state_id]) for edge in edges]
    return [PossibleEvent(code=event.code, name=event.name, to_state=state.name) for event, state in sorted(found, key=lambda pair: pair[0].code)][
        :MOST_ENTRIES
    ]


def _rows_a_lane(lane_rows: list[LaneRow]) -> int:
    """How many rows of one status are read in a lane, so that no lane crowds out another."""
    return MOST_ENTRIES // max(1, sum(bool(statuses_of(lane)) for lane in lane_rows))


def _facts(seen: Seen, lanes: Lanes, timeout: RunningTimeout | None, events: list[PossibleEvent]) -> WhyFacts:
    return WhyFacts(
        instance=seen.view,
        status=seen.status,
        is_operators=seen.standing.suspended_by == SuspendedBy.OPERATOR,
        has_acks=bool(seen.standing.has_acks),
        open=open_acks(lanes),
        held=held_acks(lanes, is_suspended=bool(seen.standing.flags & LifeCycleInstanceFlag.SUSPENDED)),
        most_held=_rows_a_lane(seen.lanes),
        gave_up=gave_up_acks(lanes, seen.failed),
        failures=[StepFailure(consumer=row.consumer, message=row.message) for row in seen.failed if row.gave_up is None],
        down=down_consumers(lanes),
        timeout=timeout,
        events=events,
    )
