"""AckOutcomeOrchestrator: a consumer's word, and everything that follows from it, in one unit of work (guidelines 3.4)."""

from typing import TYPE_CHECKING

from workflow_engine.engine.ack_decision import AckDecision, AckSeen, InstanceSeen, decide_acks
from workflow_engine.engine.rules.lanes import MAX_ROWS_OF_SEQ, LaneView
from workflow_engine.engine.rules.liveness import is_live
from workflow_engine.engine.rules.messages import stored_messages
from workflow_engine.engine.rules.ownership import is_owner
from workflow_engine.errors import InvalidRequestError, NotFoundError, NotOwnerError
from workflow_engine.models.ack import AckAnswer, AckBatchAnswer, AckConsumerRow, AckItem, AckRequest
from workflow_engine.models.enums import AckStatus
from workflow_engine.models.events import WorkMessage

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, Query, WorkFlowDAL
    from workflow_engine.engine.outbox import Outbox
    from workflow_engine.engine.ports import Clock
    from workflow_engine.engine.suspension import Suspension
    from workflow_engine.models.subscriber import DispatchConsumerRow
    from workflow_engine.options import WorkFlowEngineOptions

_MAX_CACHED = 10_000


class AckOutcomeOrchestrator:
    def __init__(self, dal: "WorkFlowDAL", suspension: "Suspension", outbox: "Outbox", clock: "Clock", options: "WorkFlowEngineOptions") -> None:
        self._dal = dal
        self._suspension = suspension
        self._outbox = outbox
        self._clock = clock
        self._options = options
        self._consumer_ids: dict[tuple[int, str], int] = {}

    def ack(self, request: AckRequest, principal: str, deadline: "Deadline") -> AckAnswer | AckBatchAnswer:
        """Apply one outcome or a batch; a released event is published after the commit."""
        unit = AckUnit(self, self._dal, request, principal)
        decision, messages = self._dal.run(deadline, unit)
        self._outbox.send(messages, decision.notices, deadline)
        if request.acks is None:
            return _only(decision.answers)
        return AckBatchAnswer(items=decision.answers)

    def consumer_id(self, load: "DbExecutionLoad", request: AckRequest) -> int:
        """Resolve the name once per sandbox; a name can only come to mean another id after its consumer was deleted, which the read shows."""
        if request.consumer_id is not None:
            return request.consumer_id
        key = (request.env_code or 0, request.consumer or "")
        if key not in self._consumer_ids:
            found = self._dal.first(self._dal.reading(load.deadline), self._dal.dispatch.get_consumer_by_guid(*key))
            if found is None:
                raise NotFoundError("consumer", f"no consumer '{request.consumer}' in environment {request.env_code}")
            if len(self._consumer_ids) >= _MAX_CACHED:
                self._consumer_ids.clear()
            self._consumer_ids[key] = found.consumer_id
        return self._consumer_ids[key]

    def forget(self, request: AckRequest) -> None:
        self._consumer_ids.pop((request.env_code or 0, request.consumer or ""), None)

    def check(self, consumer: "DispatchConsumerRow | None", request: AckRequest, principal: str) -> "DispatchConsumerRow":
        """The owner is checked before anything else is said."""
        if consumer is None or consumer.is_deleted:
            raise NotFoundError("consumer", f"no consumer {request.consumer or request.consumer_id}")
        if not is_owner(consumer.owner, consumer.principals, principal):
            raise NotOwnerError("only the owner of a consumer may acknowledge for it")
        return consumer

    def read(self, load: "DbExecutionLoad", items: list[AckItem], consumer_id: int) -> tuple[list["DispatchConsumerRow"], list[AckConsumerRow], dict[int, InstanceSeen]]:
        """Lock the instances, then read the rows and lanes: one packet for a single ack, one more for a batch."""
        if len(items) == 1:
            return self._read_one(load, items[0].ack_guid, consumer_id)
        return self._read_batch(load, [item.ack_guid for item in items], consumer_id)

    def _read_one(self, load: "DbExecutionLoad", ack_guid: str, consumer_id: int) -> tuple[list["DispatchConsumerRow"], list[AckConsumerRow], dict[int, InstanceSeen]]:
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
        return consumers, rows, {row.instance_id: InstanceSeen(instance=row, lane=lane, suspending=suspending) for row in instances}

    def _read_batch(self, load: "DbExecutionLoad", guids: list[str], consumer_id: int) -> tuple[list["DispatchConsumerRow"], list[AckConsumerRow], dict[int, InstanceSeen]]:
        leaf, take = self._dal.ack_consumer, len(guids) + 1
        places = self._dal.read(self._dal.reading(load.deadline), self._dal.instance.list_ids_by_ack_guids(guids or [""]))[0]
        ids = sorted({place.instance_id for place in places}) or [0]
        queries: list[Query[object]] = [self._dal.instance.lock_by_ids(ids), self._dal.dispatch.get_consumer(consumer_id), leaf.list_by_guids(guids or [""], consumer_id)]
        for instance_id in ids:
            lane = (consumer_id, instance_id)
            queries += [leaf.list_lane(lane, AckStatus.PENDING, take), leaf.list_lane(lane, AckStatus.PARKED, take), leaf.list_lowest_held(lane), leaf.list_by_instance(instance_id, AckStatus.SUSPENDING, take)]
        instances, consumers, rows, *lanes = self._dal.read_mixed(load, queries)
        seen = {row.instance_id: row for row in instances}
        groups = {instance_id: lanes[4 * place : 4 * place + 4] for place, instance_id in enumerate(ids)}
        return consumers, rows, {key: InstanceSeen(instance=seen[key], lane=LaneView(blockers=[*group[0], *group[1]], held=group[2]), suspending=group[3]) for key, group in groups.items() if key in seen}

    def seen(self, load: "DbExecutionLoad", request: AckRequest, principal: str) -> AckSeen:
        items = [item for item in request.items() if isinstance(item, AckItem)]
        consumers, rows, instances = self.read(load, items, self.consumer_id(load, request))
        consumer = consumers[0] if consumers else None
        if consumer is not None and consumer.is_deleted and request.consumer is not None:
            # The cached id belongs to a consumer that is gone; its name may live on.
            self.forget(request)
            consumers, rows, instances = self.read(load, items, self.consumer_id(load, request))
            consumer = consumers[0] if consumers else None
        checked = self.check(consumer, request, principal)
        return AckSeen(consumer=checked, rows={row.ack_guid: row for row in rows}, instances=self._more(load, items, rows, instances, checked.consumer_id))

    def _more(self, load: "DbExecutionLoad", items: list[AckItem], rows: list[AckConsumerRow], instances: dict[int, InstanceSeen], consumer_id: int) -> dict[int, InstanceSeen]:
        """Acks on rows that were never sent, or that suspended their instance, need a second look: rare, so not in the first packet."""
        for instance_id, seen in list(instances.items()):
            own = [row for row in rows if row.instance_id == instance_id]
            if any(row.status == AckStatus.HELD for row in own):
                held = self._dal.read(load, self._dal.ack_consumer.list_lane((consumer_id, instance_id), AckStatus.HELD, len(items) + MAX_ROWS_OF_SEQ))[0]
                instances[instance_id] = seen.with_held(held)
            if any(row.status == AckStatus.SUSPENDING for row in own):
                instances[instance_id] = instances[instance_id].with_rows(self._suspension.read_rows(load, instance_id))
        return instances

    def decide(self, seen: AckSeen, items: list[AckItem | AckAnswer]) -> AckDecision:
        now = self._clock.now()
        consumer = seen.consumer
        live = is_live(consumer.beat_seconds, bool(consumer.is_always_live), consumer.last_beat, now, self._options.consumer_ttl_seconds)
        return decide_acks(seen, items, is_live=live, now=now, options=self._options)

    def write(self, load: "DbExecutionLoad", seen: AckSeen, decision: AckDecision) -> list[WorkMessage]:
        """Change rows, release what is free, read its bodies, commit: one packet."""
        leaf, released = self._dal.ack_consumer, list(decision.released)
        statements = [leaf.update(row) for row in [*decision.changed.values(), *released]]
        statements += [leaf.update_message(row, message, retried_at) for row, message, retried_at in decision.words]
        names = {seen.consumer.consumer_id: seen.consumer.consumer}
        for lifted in decision.lifted:
            _, statement = self._suspension.lift(load, lifted.instance, decision.now)
            rearmed = self._suspension.rearm(lifted.open_rows, decision.changed, reopen=False, now=decision.now)
            statements += [statement, *rearmed.statements]
            released += rearmed.released
            names |= {row.consumer_id: row.consumer for row in lifted.open_rows.consumers.values()}
        sent = [row for row in released if row.sends]
        statements += self._outbox.notice_statements(decision.notices, self._dal.unit_ids())
        if not statements:
            return []
        reads = [self._dal.ack.list_bodies_by_ids([row.ack_id for row in sent])] if sent else []
        results = self._dal.write(load, [*statements, *reads])
        return stored_messages(sent, results[-1], names) if sent else []


class AckUnit:
    """One request's unit of work; remembers what it decided, because a lost connection may hide that it was committed."""

    def __init__(self, orchestrator: AckOutcomeOrchestrator, dal: "WorkFlowDAL", request: AckRequest, principal: str) -> None:
        self._orchestrator = orchestrator
        self._dal = dal
        self._request = request
        self._principal = principal
        self._tried: list[AckDecision] = []

    def __call__(self, load: "DbExecutionLoad") -> tuple[AckDecision, list[WorkMessage]]:
        seen = self._orchestrator.seen(load, self._request, self._principal)
        committed = next((tried for tried in self._tried if load.is_uncertain and tried.is_in(seen)), None)
        if committed is not None:
            return committed, self._still_released(load, seen, committed)
        decision = self._orchestrator.decide(seen, self._request.items())
        self._tried.append(decision)
        return decision, self._orchestrator.write(load, seen, decision)

    def _still_released(self, load: "DbExecutionLoad", seen: AckSeen, committed: AckDecision) -> list[WorkMessage]:
        """Publish what that attempt released, unless the monitor or the consumer has touched it since."""
        sent = [row for row in committed.released if row.sends]
        if not sent:
            return []
        ids = [row.ack_id for row in sent]
        now, bodies = self._dal.read(load, self._dal.ack_consumer.list_by_guids([row.ack_guid for row in sent], seen.consumer.consumer_id), self._dal.ack.list_bodies_by_ids(ids))
        still = {row.key for row in now if row.status == AckStatus.PENDING}
        due = {row.key: row.next_due for row in now}
        untouched = [row for row in sent if row.key in still and due[row.key] == row.next_due]
        return stored_messages(untouched, bodies, {seen.consumer.consumer_id: seen.consumer.consumer})


def _only(answers: list[AckAnswer]) -> AckAnswer:
    answer = answers[0]
    if answer.error is None:
        return answer
    if answer.error.code == "ACK_NOT_FOUND":
        raise NotFoundError("ack", answer.error.detail)
    raise InvalidRequestError(answer.error.detail)
