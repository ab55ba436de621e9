"""A queue as a consumer reads it: made in the stack's own SQS, polled by a thread."""

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from local.stack.cloud import client

_WAIT_SECONDS = 1
_AFTER_TROUBLE_SECONDS = 0.2

TakeText = Callable[[str, dict[str, str]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    url: str
    arn: str


@contextmanager
def polled_queue(stack: dict[str, Any], name: str, take: TakeText) -> Generator[Queue]:
    """Make the queue, let SNS write to it, and take what comes for the time of the block; `stack` is what `GET /_local` tells."""
    sqs = client("sqs", str(stack["aws"]))
    done = threading.Event()
    queue = _make(sqs, name, str(stack["topics"]["work"]))
    thread = threading.Thread(target=_poll, args=(sqs, queue, take, done), name="demo-queue", daemon=True)
    thread.start()
    try:
        yield queue
    finally:
        done.set()
        thread.join()
        sqs.close()


def _make(sqs: Any, name: str, topic_arn: str) -> Queue:
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    statement = {"Effect": "Allow", "Principal": {"Service": "sns.amazonaws.com"}, "Action": "sqs:SendMessage", "Resource": arn}
    policy = {"Version": "2012-10-17", "Statement": [{**statement, "Condition": {"ArnEquals": {"aws:SourceArn": topic_arn}}}]}
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps(policy)})
    return Queue(url=url, arn=arn)


def _poll(sqs: Any, queue: Queue, take: TakeText, done: threading.Event) -> None:
    while not done.is_set():
        try:
            _take_some(sqs, queue, take)
        except (BotoCoreError, ClientError):
            # Whatever was not deleted comes again.
            done.wait(_AFTER_TROUBLE_SECONDS)


def _take_some(sqs: Any, queue: Queue, take: TakeText) -> None:
    found = sqs.receive_message(QueueUrl=queue.url, MaxNumberOfMessages=10, WaitTimeSeconds=_WAIT_SECONDS, MessageAttributeNames=["All"])
    for message in found.get("Messages", []):
        attributes = {name: value.get("StringValue", "") for name, value in message.get("MessageAttributes", {}).items()}
        take(message.get("Body", ""), attributes)
        sqs.delete_message(QueueUrl=queue.url, ReceiptHandle=message.get("ReceiptHandle", ""))
