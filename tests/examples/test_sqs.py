"""The SQS worker, run as the program it is, on a queue of its own."""

import pytest

from tests.examples.place import CHECKED, NEXT, SQS, program, until

NAME = "vendor-sqs"


@pytest.fixture
def queue(place):
    """The address of a queue of the test's own."""
    return place.stack.aws("sqs").create_queue(QueueName=f"{NAME}-{place.env_code}")["QueueUrl"]


@pytest.fixture
def worker(place, queue, tmp_path):
    settings = place.settings(NAME, QUEUE=queue.rpartition("/")[2], WAIT_SECONDS="1", DATABASE=str(tmp_path / "memory.sqlite3"))
    with program(SQS, settings) as running:
        yield running


@pytest.fixture
def send(place, queue, worker):
    """The worker runs, but its subscription has ended: the test sends in SNS's place."""
    assert worker.process.poll() is None
    place.register(NAME, beat_seconds=20)

    def to_queue(message):
        attributes = {name: {"DataType": "String", "StringValue": value} for name, value in message.attributes.items()}
        place.stack.aws("sqs").send_message(QueueUrl=queue, MessageBody=message.body, MessageAttributes=attributes)

    return to_queue


def test_an_event_from_the_queue_is_verified_done_and_processed(place, worker):
    hook = place.hook(NAME, "V-1")
    worker.says(f"Processed {hook.ack_guid}")
    assert place.steps(hook) == [CHECKED, NEXT]
    assert place.status(NAME, hook) == "Processed"
    worker.says("Processed", times=3)


def test_a_forged_event_is_refused_deleted_and_not_acknowledged_and_the_genuine_one_is_done(place, worker, send):
    hook = place.hook(NAME, "V-1")
    send(hook.changed(webhook_signature="v1,bm90IG91ciBrZXk="))
    send(hook.changed(webhook_signature="ü"))
    worker.says("refused", times=2)
    assert (place.status(NAME, hook), place.steps(hook)) == ("Pending", [CHECKED])
    send(hook)
    worker.says(f"Processed {hook.ack_guid}")
    assert place.steps(hook) == [CHECKED, NEXT]


def test_an_event_that_comes_twice_is_done_once_and_acknowledged_twice(place, worker, send):
    hook = place.hook(NAME, "V-1")
    send(hook)
    send(hook)
    worker.says(f"Processed {hook.ack_guid}", times=2)
    assert place.steps(hook) == [CHECKED, NEXT]
    assert place.notices("DUPLICATE_REQUEST") == []


def test_an_instance_that_has_moved_on_is_left_alone_and_the_event_processed(place, worker, send):
    hook = place.hook(NAME, "V-1")
    place.trigger("V-1", "Accept")
    send(hook)
    worker.says(f"Processed {hook.ack_guid}")
    assert (place.status(NAME, hook), place.steps(hook)) == ("Processed", [CHECKED, NEXT])


def test_the_worker_beats_while_it_waits(place, worker):
    worker.says("ready")
    registered = place.last_beat(NAME)
    until(lambda: place.last_beat(NAME) > registered)
