"""What an ack needs to know: its consumer, its rows, their instances under lock, and the lanes they stand in."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workflow_engine.engine.ack_decision import AckSeen, InstanceSeen
from workflow_engine.engine.rules.lanes import MAX_ROWS_OF_SEQ, LaneView
from workflow_engine.engine.rules.ownership import is_owner
from workflow_engine.errors import NotFoundError, NotOwnerError
from workflow_engine.models.ack import AckConsumerRow, AckItem, AckRequest
from workflow_engine.models.enums import AckStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workflow_engine.dal import DbExecutionLoad, Query, WorkFlowDAL
    from workflow_engine.engine.suspension import Suspension
    from workflow_engine.models.subscriber import DispatchConsumerRow

_MAX_CACHED = 10_000
# How many statements one instance's lane takes in a batch's packet.
_LANE_READS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class AckRows:
    """One read: the consumer if there is one, its rows of the given guids, and their locked instances."""

    consumer: "DispatchConsumerRow | None"
    rows: list[AckConsumerRow]
    instances: dict[int, InstanceSeen]


class AckReading:
    def __init__(self, dal: "WorkFlowDAL", suspension: "Suspension") -> None:
        self._dal = dal
        self._suspension = suspension
        self._consumer_ids: dict[tuple[int, str], int] = {}

    def read(self, load: "DbExecutionLoad", request: AckRequest, principal: str) -> AckSeen:
        """Lock and read: one packet for a single ack, one more for a batch; the owner is checked before anything else is said."""
        guids = [item.ack_guid for item in request.items() if isinstance(item, AckItem)]
        found = self._rows(load, guids, self._consumer_id(load, request))
        if found.consumer is not None and found.consumer.is_deleted and request.consumer is not None:
            # The remembered id belongs to a consumer that is gone; its name may live on.
            self._consumer_ids.pop(_name_of(request), None)
            found = self._rows(load, guids, self._consumer_id(load, request))
        consumer = _checked(found.consumer, request, principal)
        return AckSeen(
            consumer=consumer, rows={row.ack_guid: row for row in found.rows}, instances=self._with_more(load, found, consumer.consumer_id, len(guids))
        )

    def _consumer_id(self, load: "DbExecutionLoad", request: AckRequest) -> int:
        """Resolve a name once per sandbox: it can only come to mean another id after its consumer was deleted, which every read shows."""
        if request.consumer_id is not None:
            return request.consumer_id
        name = _name_of(request)
        if name not in self._consumer_ids:
            found = self._dal.first(self._dal.reading(load.deadline), self._dal.dispatch.get_consumer_by_guid(*name))
            if found is None:
                raise NotFoundError("consumer", f"no consumer '{request.consumer}' in environment {request.env_code}")
            if len(self._consumer_ids) >= _MAX_CACHED:
                self._consumer_ids.clear()
            self._consumer_ids[name] = found.consumer_id
        return self._consumer_ids[name]

    def _rows(self, load: "DbExecutionLoad", guids: "Sequence[str]", consumer_id: int) -> AckRows:
        return self._one(load, guids[0], consumer_id) if len(guids) == 1 else self._batch(load, guids or [""], consumer_id)

    def _one(self, load: "DbExecutionLoad", ack_guid: str, consumer_id: int) -> AckRows:
        leaf = self._dal.ack_consumer
        instances, consumers, rows, pending, parked, held, suspending = self._dal.read_mixed(
            load,
            [
                self._dal.instance.lock_by_ack_guid(ack_guid),
                self._dal.dispatch.get_consumer(consumer_id),
                leaf.get_by_guid(ack_guid, consumer_id),
                leaf.list_lane_by_guid(consumer_id, ack_guid, AckStatus.PENDING, 2),
                leaf.list_lane_by_guid(consumer_id, ack_guid, AckStatus.PARKED, 2),
                leaf.list_lowest_held_by_guid(consumer_id, ack_guid),
                leaf.list_by_ack_instance(ack_guid, AckStatus.SUSPENDING, 2),
            ],
        )
        lane = LaneView(blockers=[*pending, *parked], held=held)
        seen = {row.instance_id: InstanceSeen(instance=row, lane=lane, suspending=suspending) for row in instances}
        return AckRows(consumer=consumers[0] if consumers else None, rows=rows, instances=seen)

    def _batch(self, load: "DbExecutionLoad", guids: "Sequence[str]", consumer_id: int) -> AckRows:
        leaf, take = self._dal.ack_consumer, len(guids) + 1
        places = self._dal.read(self._dal.reading(load.deadline), self._dal.instance.list_ids_by_ack_guids(guids))[0]
        ids = sorted({place.instance_id for place in places}) or [0]
        lanes: list[Query[AckConsumerRow]] = []
        for instance_id in ids:
            lane = (consumer_id, instance_id)
            lanes += [leaf.list_lane(lane, AckStatus.PENDING, take), leaf.list_lane(lane, AckStatus.PARKED, take)]
            lanes += [leaf.list_lowest_held(lane), leaf.list_by_instance(instance_id, AckStatus.SUSPENDING, take)]
        head: list[Query[Any]] = [self._dal.instance.lock_by_ids(ids), self._dal.dispatch.get_consumer(consumer_id)]
        locked, consumers, rows, *read = self._dal.read_mixed(load, [*head, leaf.list_by_guids(guids, consumer_id), *lanes])
        seen: dict[int, InstanceSeen] = {}
        for row in locked:
            start = _LANE_READS * ids.index(row.instance_id)
            pending, parked, held, suspending = read[start : start + _LANE_READS]
            seen[row.instance_id] = InstanceSeen(instance=row, lane=LaneView(blockers=[*pending, *parked], held=held), suspending=suspending)
        return AckRows(consumer=consumers[0] if consumers else None, rows=rows, instances=seen)

    def _with_more(self, load: "DbExecutionLoad", found: AckRows, consumer_id: int, count: int) -> dict[int, InstanceSeen]:
        """Acks on rows that were never sent, or that suspended their instance, need a second look: rare, so not in the first packet."""
        seen = dict(found.instances)
        for instance_id in {row.instance_id for row in found.rows if row.status == AckStatus.HELD} & set(seen):
            held = self._dal.read(load, self._dal.ack_consumer.list_lane((consumer_id, instance_id), AckStatus.HELD, count + MAX_ROWS_OF_SEQ))[0]
            seen[instance_id] = seen[instance_id].with_held(held)
        for instance_id in {row.instance_id for row in found.rows if row.status == AckStatus.SUSPENDING} & set(seen):
            seen[instance_id] = seen[instance_id].with_rows(self._suspension.read_rows(load, instance_id))
        return seen


def _name_of(request: AckRequest) -> tuple[int, str]:
    return (request.env_code or 0, request.consumer or "")


def _checked(consumer: "DispatchConsumerRow | None", request: AckRequest, principal: str) -> "DispatchConsumerRow":
    if consumer is None or consumer.is_deleted:
        raise NotFoundError("consumer", f"no consumer {request.consumer or request.consumer_id}")
    if not is_owner(consumer.owner, consumer.principals, principal):
        raise NotOwnerError("only the owner of a consumer may acknowledge for it")
    return consumer
