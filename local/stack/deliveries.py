"""What SNS does after a publish: HTTPS subscribers are confirmed, posted to and retried; queues get their message."""

import heapq
import itertools
import json
import logging
import secrets
import threading
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3

from workflow_engine.adapters.clock import SystemClock

_log = logging.getLogger(__name__)
_clock = SystemClock()
# SNS's own: fifteen seconds for an answer, then as often as the delivery policy of our subscriptions says.
ANSWER_SECONDS = 15.0
RETRY_SECONDS = (1.0, 2.0, 4.0)
_HTTP_OK = range(200, 300)


@dataclass(order=True)
class _Post:
    due: float
    number: int
    kind: str = field(compare=False)
    body: dict[str, Any] = field(compare=False)
    retries: int = field(default=0, compare=False)


class HttpsSubscriber:
    """One subscribed address: its own thread posts in order; a failed post is repeated later and holds nobody up."""

    def __init__(self, subscription_arn: str, topic_arn: str, address: str) -> None:
        self.subscription_arn = subscription_arn
        self.topic_arn = topic_arn
        self.address = address
        self.token = secrets.token_hex(32)
        self.is_confirmed = False
        self._pool = _pool_for(address)
        self._posts: list[_Post] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._is_open = True
        threading.Thread(target=self._work, name="https-subscriber", daemon=True).start()

    def ask_to_confirm(self, aws_url: str) -> None:
        """Send the token; whoever visits the address in the message proves that the endpoint wants to be told."""
        query = urlencode({"Action": "ConfirmSubscription", "TopicArn": self.topic_arn, "Token": self.token})
        text = f"You have chosen to subscribe to the topic {self.topic_arn}. To confirm, visit the SubscribeURL in this message."
        self._put("SubscriptionConfirmation", {"Token": self.token, "Message": text, "SubscribeURL": f"{aws_url}/?{query}"})

    def notify(self, message: str, message_id: str, attributes: dict[str, Any]) -> None:
        self._put("Notification", {"MessageId": message_id, "Message": message, "MessageAttributes": attributes})

    def close(self) -> None:
        with self._changed:
            self._is_open = False
            self._changed.notify()

    def _put(self, kind: str, body: dict[str, Any]) -> None:
        envelope = {"Type": kind, "MessageId": str(uuid.uuid4()), "TopicArn": self.topic_arn, "Timestamp": _timestamp(), **body}
        # The stack has no key of Amazon's. Consumers check our own signature, which is among the attributes.
        envelope |= {"SignatureVersion": "1", "Signature": "none-on-a-local-stack", "SigningCertURL": ""}
        with self._changed:
            heapq.heappush(self._posts, _Post(due=time.monotonic(), number=next(self._numbers), kind=kind, body=envelope))
            self._changed.notify()

    def _work(self) -> None:
        while post := self._next():
            if self._send(post) or post.retries == len(RETRY_SECONDS):
                continue
            post.due = time.monotonic() + RETRY_SECONDS[post.retries]
            post.retries += 1
            with self._changed:
                heapq.heappush(self._posts, post)

    def _next(self) -> _Post | None:
        with self._changed:
            while self._is_open:
                wait = self._posts[0].due - time.monotonic() if self._posts else None
                if wait is not None and wait <= 0:
                    return heapq.heappop(self._posts)
                self._changed.wait(wait)
        return None

    def _send(self, post: _Post) -> bool:
        headers = {
            "Content-Type": "text/plain; charset=UTF-8",
            "User-Agent": "Amazon Simple Notification Service Agent",
            "x-amz-sns-message-type": post.kind,
            "x-amz-sns-message-id": str(post.body["MessageId"]),
            "x-amz-sns-topic-arn": self.topic_arn,
            "x-amz-sns-subscription-arn": self.subscription_arn,
        }
        try:
            status = self._pool.request("POST", self.address, body=json.dumps(post.body).encode(), headers=headers, retries=False, redirect=False).status
        except urllib3.exceptions.HTTPError as error:
            _log.warning("%s cannot be posted to: %s", self.address, error)
            return False
        if status not in _HTTP_OK:
            _log.warning("%s answered %s", self.address, status)
        return status in _HTTP_OK


def _pool_for(address: str) -> urllib3.PoolManager:
    """Somebody's certificate on this machine proves nothing and need not; everybody else's is checked."""
    timeout = urllib3.Timeout(ANSWER_SECONDS)
    if not is_loopback(urlsplit(address).hostname or ""):
        return urllib3.PoolManager(timeout=timeout)
    urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    return urllib3.PoolManager(timeout=timeout, cert_reqs="CERT_NONE", assert_hostname=False)


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _timestamp() -> str:
    return _clock.real_now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
