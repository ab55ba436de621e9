"""Stored events as messages for the publisher."""

import json

import pytest

from tests.support.engine import START
from tests.support.made import ack_row, after
from workflow_engine.engine.rules.messages import stored_messages
from workflow_engine.models.ack import AckBodyRow
from workflow_engine.models.enums import EventKind
from workflow_engine.models.events import WorkMessage


def stored(ack_id: int = 1, **facts: object) -> AckBodyRow:
    fixed = {"ack_guid": f"ack-{ack_id}", "instance_id": 7, "body": f'{{"n": {ack_id}}}', "route": None, "env_code": 3, "definition": "Leave"}
    return AckBodyRow(**{"ack_id": ack_id, **fixed, **facts})


def test_a_message_has_the_stored_body_and_what_its_row_says():
    row = ack_row(sends=4, seq=9, next_due=after(60), kind=EventKind.HOOK)
    assert stored_messages([row], [stored(route="APP.X", body='{ "kept":  "as it is" }')], {1: "c1"}) == [
        WorkMessage(
            consumer_id=1,
            consumer="c1",
            env_code=3,
            definition="Leave",
            kind=EventKind.HOOK,
            route="APP.X",
            instance_id=7,
            seq=9,
            ack_id=1,
            webhook_id="ack-1",
            body='{ "kept":  "as it is" }',
            attempt=4,
            first_sent_at=START,
            claimed_due=after(60),
        )
    ]


def test_messages_come_in_the_order_of_their_lanes_whatever_the_order_of_rows_and_bodies():
    rows = [ack_row(4, seq=2), ack_row(3, seq=1, kind=EventKind.HOOK), ack_row(2, seq=1, kind=EventKind.HOOK), ack_row(5, seq=1), ack_row(1, consumer_id=2)]
    messages = stored_messages(rows, [stored(number) for number in (5, 3, 1, 2, 4)], {1: "c1", 2: "c2"})
    assert [(message.consumer, message.ack_id) for message in messages] == [("c1", 5), ("c1", 2), ("c1", 3), ("c1", 4), ("c2", 1)]
    assert [message.body for message in messages] == [f'{{"n": {number}}}' for number in (5, 2, 3, 4, 1)]


def test_one_body_serves_all_its_consumers():
    messages = stored_messages([ack_row(1, consumer_id=1), ack_row(1, consumer_id=2)], [stored(1)], {1: "c1", 2: "c2"})
    assert [(message.consumer, message.body) for message in messages] == [("c1", '{"n": 1}'), ("c2", '{"n": 1}')]


def test_of_an_instance_that_is_gone_the_event_itself_says_where_it_belongs():
    body = json.dumps({"env_code": 5, "definition": "Gone"})
    (message,) = stored_messages([ack_row()], [stored(env_code=None, definition=None, body=body)], {1: "c1"})
    assert (message.env_code, message.definition, message.body) == (5, "Gone", body)


def test_a_row_without_a_body_is_a_fault_and_not_an_empty_message():
    with pytest.raises(KeyError):
        stored_messages([ack_row(2)], [stored(1)], {1: "c1"})
