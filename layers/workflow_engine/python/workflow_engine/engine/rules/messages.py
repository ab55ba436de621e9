"""Stored events as messages for the publisher."""

import json
from collections.abc import Iterable, Mapping

from workflow_engine.engine.rules.lanes import send_order
from workflow_engine.models.ack import AckBodyRow, AckConsumerRow
from workflow_engine.models.enums import EventKind
from workflow_engine.models.events import WorkMessage


def stored_messages(rows: Iterable[AckConsumerRow], bodies: Iterable[AckBodyRow], names: Mapping[int, str]) -> list[WorkMessage]:
    """One message per claimed or released row, in lane order, with the body as it was stored."""
    by_id = {body.ack_id: body for body in bodies}
    return [_message(row, by_id[row.ack_id], names[row.consumer_id]) for row in sorted(rows, key=send_order)]


def _message(row: AckConsumerRow, stored: AckBodyRow, consumer: str) -> WorkMessage:
    env_code, definition = stored.env_code, stored.definition
    if env_code is None or definition is None:
        # The instance is gone; what was true of it stands in the event itself.
        body = json.loads(stored.body)
        env_code, definition = int(body["env_code"]), str(body["definition"])
    return WorkMessage(
        consumer_id=row.consumer_id,
        consumer=consumer,
        env_code=env_code,
        definition=definition,
        kind=EventKind(row.kind),
        route=stored.route,
        instance_id=row.instance_id,
        seq=row.seq,
        ack_id=row.ack_id,
        webhook_id=stored.ack_guid,
        body=stored.body,
        attempt=row.sends,
        first_sent_at=row.first_sent_at or row.modified,
        claimed_due=row.next_due,
    )
