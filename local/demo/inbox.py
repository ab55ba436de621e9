"""What a consumer has received: verified, in the order of arrival, waited for with a deadline."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One work event as it came: the very text, its attributes, and whether the signature is right."""

    text: str
    attributes: Mapping[str, str]
    is_signed: bool

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.text)
        return event

    @property
    def attempt(self) -> int:
        return int(self.attributes.get("attempt", "0"))

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def is_signed_with(key: str, text: str, attributes: Mapping[str, str]) -> bool:
    """Standard Webhooks: one of the signatures is the HMAC of id, timestamp and body. The age is not checked: a message may wait in a queue."""
    signed = f"{attributes.get('webhook-id')}.{attributes.get('webhook-timestamp')}.{text}".encode()
    digest = hmac.digest(base64.b64decode(key.removeprefix("whsec_")), signed, hashlib.sha256)
    wanted = f"v1,{base64.b64encode(digest).decode()}"
    return any(hmac.compare_digest(wanted, given) for given in attributes.get("webhook-signature", "").split())


class Inbox:
    """Filled by the consumer's receiver, read by the story; all inboxes of a story share one condition."""

    def __init__(self, arrived: threading.Condition) -> None:
        self.arrived = arrived
        self.all: list[Message] = []
        self._unread: list[Message] = []
        self._seen: set[tuple[str, int]] = set()

    def put(self, message: Message) -> None:
        """Keep the message, once: SNS itself may bring one and the same sending twice."""
        with self.arrived:
            sending = (message.attributes.get("webhook-id", ""), message.attempt)
            if sending not in self._seen:
                self._seen.add(sending)
                self.all.append(message)
                self._unread.append(message)
                self.arrived.notify_all()

    def take(self, count: int, patience: float, wanted: Callable[[Message], bool]) -> list[Message]:
        """Wait for as many wanted messages and take them; fewer when time is up."""
        deadline = time.monotonic() + patience
        with self.arrived:
            self.arrived.wait_for(lambda: sum(map(wanted, self._unread)) >= count, max(0.0, deadline - time.monotonic()))
            taken = [message for message in self._unread if wanted(message)][:count]
            self._unread = [message for message in self._unread if message not in taken]
        return taken

    @property
    def has_unread(self) -> bool:
        return bool(self._unread)

    def take_all(self) -> list[Message]:
        with self.arrived:
            taken, self._unread = self._unread, []
        return taken
