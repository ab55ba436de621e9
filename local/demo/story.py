"""What a chapter is made of: calls and received messages, each printed from what came and checked against what must come."""

import json
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from local.demo.api import Api, ApiError, StoryError
from local.demo.https import SnsEndpoint, https_endpoint
from local.demo.inbox import Inbox, Message, is_signed_with
from local.demo.print import Printer
from local.demo.queue import Queue, polled_queue
from local.machine import ROOT

EXAMPLE = ROOT / "examples" / "vendor_registration"
DEFINITION = "VendorRegistration"
APPLICATION, OPERATOR = "portal", "ops"
BEAT_SECONDS = 20
# One beat every twelve hours at least: silent for a day, a consumer would be reported.
_LONGEST_STEP_SECONDS = 12 * 3600


@dataclass
class DemoConsumer:
    """A service that listens: it verifies what it receives with the key it got at its registration."""

    name: str
    transport: str
    inbox: Inbox
    wishes: dict[str, Any]
    endpoint: dict[str, str] = field(default_factory=dict[str, str])
    signing_key: str = ""
    is_away: bool = False

    def take(self, text: str, attributes: dict[str, str]) -> None:
        self.inbox.put(Message(text=text, attributes=attributes, is_signed=is_signed_with(self.signing_key, text, attributes)))


@dataclass
class Story:
    """One play of the example. `step` is what a failure names; nothing is printed that was not answered or received."""

    api: Api
    show: Printer
    env_code: int
    patience: float
    consumers: dict[str, DemoConsumer]
    https: SnsEndpoint
    queue: Queue
    guids: dict[str, str] = field(default_factory=dict[str, str])
    chapter: int = 0
    step: str = "0"
    _count: int = 0

    def begin(self, number: int, title: str, explanation: str) -> None:
        """Open a chapter; everybody who is not away beats, as services do all the time."""
        self.chapter, self._count = number, 0
        self.show.chapter(number, title, explanation)
        self.beat_all()

    def now_at(self, what: str) -> None:
        self._count += 1
        self.step = f"{self.chapter}.{self._count} ({what})"

    def expect(self, what: str, expected: object, got: object) -> None:
        if expected != got:
            raise StoryError(self.step, f"{what} {expected}", got)

    def call(self, who: str, method: str, path: str, body: Any = None, **query: Any) -> Any:
        try:
            return self.api.call(who, method, path, body, **query)
        except ApiError as error:
            raise StoryError(self.step, f"an answer to {method} {path}", error) from error

    def trigger(self, ref: str, event: str, expected: tuple[str, str], request_id: str) -> dict[str, Any]:
        """The application raises an event; the answer says what became of it."""
        self.now_at(f"{APPLICATION} raises {event} for {ref}")
        body = {"env_code": self.env_code, "def_name": DEFINITION, "external_ref": ref, "event": event, "request_id": request_id, "actor": APPLICATION}
        answer: dict[str, Any] = self.call(APPLICATION, "POST", "/v1/trigger", body)
        moved = f"{answer['from_state']} → {answer['to_state']}" if answer["applied"] else f"not applied: {answer['reason']}"
        replayed = ", replayed" if answer["replayed"] else ""
        self.show.line(APPLICATION, "→ trigger", f"{answer['event']['name']}: {moved}", f"{answer['external_ref']}, seq {answer['seq']}{replayed}")
        self.expect("the move", expected, (answer["from_state"], answer["to_state"]))
        self.guids[ref] = answer["instance_guid"]
        return answer

    def receive(self, name: str, ref: str, seq: int, kinds: Sequence[str] = ("transition",), attempt: int = 1) -> list[Message]:
        """Wait for one message of each kind, and print them as they arrived."""
        self.now_at(f"{name} receives seq {seq} of {ref}")
        consumer = self.consumers[name]
        wanted = _wanted(ref, seq)
        taken = consumer.inbox.take(len(kinds), self.patience, wanted)
        for message in taken:
            what, remark = told(message)
            self.show.line(name, f"← {consumer.transport}", f"seq {message.event['seq']}  {message.event['kind']:<10}  {what}", remark)
        self.expect(f"within {self.patience:g} s", sorted(kinds), sorted(message.event["kind"] for message in taken))
        self.expect("attempts", [attempt] * len(taken), [message.attempt for message in taken])
        self.expect("verified signatures", len(taken), sum(message.is_signed for message in taken))
        return taken

    def ack(self, name: str, messages: Iterable[Message], outcome: str) -> None:
        for message in messages:
            event = message.event
            self.now_at(f"{name} acknowledges seq {event['seq']} as {outcome}")
            body = {"env_code": self.env_code, "consumer": name, "ack_guid": event["ack_guid"], "outcome": outcome}
            answer = self.call(name, "POST", "/v1/ack", body)
            self.show.line(name, "→ ack", f"seq {event['seq']}  {event['kind']:<10}  {answer['status']}")
            self.expect("the acknowledgement", ("applied", outcome), (answer["result"], answer["status"]))

    def beat(self, name: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.call(name, "POST", "/v1/heartbeat", {"env_code": self.env_code, "consumer": name})
        return answer

    def beat_all(self) -> None:
        for consumer in self.consumers.values():
            if consumer.signing_key and not consumer.is_away:
                self.beat(consumer.name)

    def move_clock(self, seconds: int, text: str) -> None:
        """Said openly: time does not pass, the engine's clock is set ahead, in steps between which everybody beats."""
        self.now_at(f"the clock is moved by {text}")
        left, now = seconds, ""
        while left > 0:
            part = min(left, _LONGEST_STEP_SECONDS)
            now = str(self.call(OPERATOR, "PUT", "/_local/clock", {"advance_seconds": part})["now"])
            left -= part
            self.beat_all()
        self.show.line("clock", "» moved", f"ahead by {text}, by hand: the engine's time is now {now[:19].replace('T', ' ')}")

    def monitor(self) -> None:
        """Ask for a pass instead of waiting for the next one; who finds the work, this pass or the timer's, makes no difference."""
        self.now_at("a pass of the monitor")
        report = self.call(OPERATOR, "POST", "/_local/monitor")
        self.expect("passes", 1, report["passes"])

    def notices(self, ref: str, code: str) -> list[dict[str, Any]]:
        self.now_at(f"notices {code} of {ref}")
        query = {"env_code": self.env_code, "instance_guid": self.guids[ref], "code": code}
        items: list[dict[str, Any]] = self.call(OPERATOR, "GET", "/v1/notices", **query)["items"]
        return sorted(items, key=lambda item: (item["occurred_at"], item["consumer"] or ""))

    def read(self, ref: str, what: str) -> dict[str, Any]:
        self.now_at(f"{what} of {ref}")
        answer: dict[str, Any] = self.call(OPERATOR, "GET", f"/v1/instances/{self.guids[ref]}/{what}")
        return answer


def told(message: Message) -> tuple[str, str]:
    """What a message is about, and how it came."""
    event = message.event
    what = event["route"] if event["kind"] == "hook" else f"{event['from_state']} → {event['to_state']}"
    return what, f"attempt {message.attempt} {'✓' if message.is_signed else '✗'}"


def _wanted(ref: str, seq: int) -> Callable[[Message], bool]:
    return lambda message: message.event["external_ref"] == ref and message.event["seq"] == seq


@contextmanager
def opened_story(api: Api, show: Printer, *, env_code: int = 1, patience: float = 15.0) -> Generator[Story]:
    """Bring up the two consumers' own ends, an HTTPS endpoint and a queue; what they are told they get by registering."""
    stack = api.call(OPERATOR, "GET", "/_local")
    arrived = threading.Condition()
    registry = DemoConsumer("registry", "https", Inbox(arrived), {"definitions": [DEFINITION], "kinds": ["transition", "hook"]})
    audit = DemoConsumer("audit", "sqs", Inbox(arrived), {"definitions": ["*"], "kinds": ["transition"]})
    with ExitStack() as ends:
        https = ends.enter_context(https_endpoint(stack, registry.take))
        queue = ends.enter_context(polled_queue(stack, f"audit-{env_code}", audit.take))
        registry.endpoint = {"protocol": "https", "address": https.url}
        audit.endpoint = {"protocol": "sqs", "address": queue.arn}
        consumers = {consumer.name: consumer for consumer in (registry, audit)}
        yield Story(api=api, show=show, env_code=env_code, patience=patience, consumers=consumers, https=https, queue=queue)


def example(name: str) -> Any:
    return json.loads((EXAMPLE / f"{name}.json").read_text("utf-8"))
