"""Reads of events by those they were sent to: a message may have been lost, or too small for its payload."""

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from workflow_engine.engine.rules.guids import is_guid
from workflow_engine.engine.rules.ownership import is_owner
from workflow_engine.errors import NotFoundError, NotOwnerError
from workflow_engine.models.ack_view import AckEvent
from workflow_engine.models.enums import AckStatus

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, WorkFlowDAL

_OMITTED = "payload_omitted"


class AckReader:
    def __init__(self, dal: "WorkFlowDAL") -> None:
        self._dal = dal

    def get_ack(self, ack_guid: str, env_code: int, consumer: str, principal: str, deadline: "Deadline") -> AckEvent:
        """Return the stored event to its consumer's owner, with the payload even where the message left it out."""
        consumer_id = self._dal.run_reading(deadline, partial(self._owned_consumer, env_code, consumer, principal))
        return self._dal.run_reading(deadline, partial(self._event, ack_guid, consumer, consumer_id))

    def _owned_consumer(self, env_code: int, consumer: str, principal: str, load: "DbExecutionLoad") -> int:
        found = self._dal.first(load, self._dal.dispatch.get_consumer_by_guid(env_code, consumer))
        if found is None:
            raise NotFoundError("consumer", f"no consumer '{consumer}' in environment {env_code}")
        if not is_owner(found.owner, found.principals, principal):
            raise NotOwnerError("only the owner of a consumer may read its events")
        return found.consumer_id

    def _event(self, ack_guid: str, consumer: str, consumer_id: int, load: "DbExecutionLoad") -> AckEvent:
        row = self._dal.first(load, self._dal.ack_view.get_event(ack_guid, consumer_id)) if is_guid(ack_guid) else None
        if row is None:
            raise NotFoundError("ack", f"no event with this ack_guid was addressed to '{consumer}'")
        body: dict[str, Any] = json.loads(row.body)
        # Once the payload is in, the mark would send a consumer here again.
        if body.pop(_OMITTED, False):
            body["payload"] = self._payload(load, ack_guid)
        return AckEvent(ack_guid=row.ack_guid, consumer=consumer, status=AckStatus(row.status).label, event=body)

    def _payload(self, load: "DbExecutionLoad", ack_guid: str) -> Any:
        stored = self._dal.first(load, self._dal.ack_view.get_payload(ack_guid))
        return json.loads(stored.payload) if stored and stored.payload else None
