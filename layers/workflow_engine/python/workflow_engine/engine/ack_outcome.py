"""AckOutcomeOrchestrator: a consumer's word, and everything that follows from it, in one unit of work (guidelines 3.4)."""

from typing import TYPE_CHECKING

from workflow_engine.engine.ack_decision import AckDecision, AckSeen, decide_acks
from workflow_engine.engine.ack_reading import AckReading
from workflow_engine.engine.rules.liveness import is_live
from workflow_engine.engine.rules.messages import stored_messages
from workflow_engine.errors import ErrorItem, InvalidRequestError, NotFoundError
from workflow_engine.models.ack import AckAnswer, AckBatchAnswer, AckRequest
from workflow_engine.models.enums import AckStatus
from workflow_engine.models.events import WorkMessage

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, Statement, UnitIds
    from workflow_engine.engine.suspension import Suspension
    from workflow_engine.engine.tools import EngineTools


class AckOutcomeOrchestrator:
    def __init__(self, tools: "EngineTools", suspension: "Suspension") -> None:
        self._dal = tools.dal
        self._outbox = tools.outbox
        self._clock = tools.clock
        self._options = tools.options
        self._suspension = suspension
        self._reading = AckReading(tools.dal, suspension)

    def ack(self, request: AckRequest, principal: str, deadline: "Deadline") -> AckAnswer | AckBatchAnswer:
        """Apply one outcome or a batch; a released event is published after the commit."""
        unit = AckUnit(self, request, principal, self._dal.unit_ids())
        decision, messages = self._dal.run(deadline, unit)
        self._outbox.send(messages, decision.notices, deadline)
        return _only(decision.answers) if request.acks is None else AckBatchAnswer(items=decision.answers)

    def read(self, load: "DbExecutionLoad", request: AckRequest, principal: str) -> AckSeen:
        return self._reading.read(load, request, principal)

    def decide(self, seen: AckSeen, request: AckRequest) -> AckDecision:
        now, consumer = self._clock.now(), seen.consumer
        live = is_live(consumer.beat_seconds, bool(consumer.is_always_live), consumer.last_beat, now, self._options.consumer_ttl_seconds)
        return decide_acks(seen, request.items(), is_live=live, now=now, options=self._options)

    def write(self, load: "DbExecutionLoad", decision: AckDecision, ids: "UnitIds") -> list[WorkMessage]:
        """Change rows, release what is free, read its bodies, commit: one packet."""
        leaf = self._dal.ack_consumer
        statements: list[Statement] = [leaf.update(row) for row in [*decision.changed.values(), *decision.released]]
        statements += [leaf.update_message(row, message, retried_at) for row, message, retried_at in decision.words]
        for lifted in decision.lifted:
            _, statement = self._suspension.lift(load, lifted.instance, decision.now)
            rearmed = self._suspension.rearm(lifted.open_rows, decision.changed, reopen=False, now=decision.now)
            statements += [statement, *rearmed.statements]
            decision.released.extend(rearmed.released)
            decision.names.update({row.consumer_id: row.consumer for row in lifted.open_rows.consumers.values()})
        statements += self._outbox.notice_statements(decision.notices, ids)
        if not statements:
            return []
        sent = [row for row in decision.released if row.sends]
        bodies = [self._dal.ack.list_bodies_by_ids([row.ack_id for row in sent])] if sent else []
        results = self._dal.write(load, [*statements, *bodies])
        return stored_messages(sent, results[-1], decision.names) if sent else []

    def still_released(self, load: "DbExecutionLoad", committed: AckDecision) -> list[WorkMessage]:
        """Publish what a committed attempt released, unless the monitor or a consumer has touched it since."""
        sent = [row for row in committed.released if row.sends]
        if not sent:
            return []
        leaf, consumer_ids = self._dal.due, sorted({row.consumer_id for row in sent})
        reads = [leaf.list_by_ack_ids(consumer_id, [row.ack_id for row in sent if row.consumer_id == consumer_id]) for consumer_id in consumer_ids]
        bodies, *present = self._dal.read_mixed(load, [self._dal.ack.list_bodies_by_ids([row.ack_id for row in sent]), *reads])
        due = {row.key: row.next_due for rows in present for row in rows if row.status == AckStatus.PENDING}
        untouched = [row for row in sent if row.key in due and due[row.key] == row.next_due]
        return stored_messages(untouched, bodies, committed.names)


class AckUnit:
    """One request's unit of work; remembers what it decided, because a lost connection may hide that it was committed."""

    def __init__(self, orchestrator: AckOutcomeOrchestrator, request: AckRequest, principal: str, ids: "UnitIds") -> None:
        self._orchestrator = orchestrator
        self._request = request
        self._principal = principal
        self._ids = ids
        self._tried: list[AckDecision] = []

    def __call__(self, load: "DbExecutionLoad") -> tuple[AckDecision, list[WorkMessage]]:
        seen = self._orchestrator.read(load, self._request, self._principal)
        committed = next((tried for tried in self._tried if load.is_uncertain and tried.is_in(seen)), None)
        if committed is not None:
            return committed, self._orchestrator.still_released(load, committed)
        decision = self._orchestrator.decide(seen, self._request)
        self._tried.append(decision)
        return decision, self._orchestrator.write(load, decision, self._ids)


def _only(answers: list[AckAnswer]) -> AckAnswer:
    answer = answers[0]
    if answer.error is None:
        return answer
    if answer.error.code == "ACK_NOT_FOUND":
        raise NotFoundError("ack", answer.error.detail)
    raise InvalidRequestError(answer.error.detail, (ErrorItem(pointer="/retry_at", code="OUT_OF_RANGE", message=answer.error.detail),))
