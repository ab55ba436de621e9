"""After the story: lines to paste, and the two consumers at work on whatever comes of them."""

import time
from dataclasses import dataclass
from typing import NoReturn

from local.demo.api import ApiError
from local.demo.chapters import FORGOTTEN, VENDOR
from local.demo.inbox import Message
from local.demo.print import WIDTH
from local.demo.story import DEFINITION, OPERATOR, DemoConsumer, Story, told

_BEAT_EVERY_SECONDS = 5.0
_TWO_DAYS_AND_AN_HOUR = 49 * 3600
_TICKET = """{{"env_code":{env},"definition":{{"name":"Ticket",
  "states":[{{"name":"Open","is_initial":true}},{{"name":"Closed","is_final":true}}],
  "events":[{{"code":1,"name":"Close"}}],
  "transitions":[{{"from":"Open","event":1,"to":"Closed"}}]}}}}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """A command that works when pasted, and what it does."""

    title: str
    command: str


def what_to_try(it: Story, url: str, published: int) -> list[Try]:
    """The commands in the order in which they make sense; `published` is the number of the last message of the story."""
    forgotten, env = it.guids[FORGOTTEN], it.env_code
    event = f'{{"instance_guid":"{forgotten}",\n  "event":"Accept","request_id":"try-1"}}'
    ticket = f'{{"env_code":{env},"def_name":"Ticket","external_ref":"T-1",\n  "event":"Close","request_id":"try-1"}}'
    return [
        Try(title="Is it healthy?", command=_get(f"{url}/v1/health")),
        Try(title="All vendors", command=_get(f"'{url}/v1/instances?env_code={env}&def_name={DEFINITION}'")),
        Try(title=f"Why does {FORGOTTEN} stand where it stands?", command=_get(f"{url}/v1/instances/{forgotten}/why")),
        Try(title=f"The timeline of {VENDOR}", command=_get(f"{url}/v1/instances/{it.guids[VENDOR]}/timeline")),
        Try(title=f"Raise the next event for {FORGOTTEN}; pasted twice, the second answer says replayed", command=_send(f"{url}/v1/trigger", event)),
        Try(title="A workflow of your own; audit hears of every definition", command=_send(f"{url}/v1/import", _TICKET.format(env=env))),
        Try(title="An instance of it, created and closed by its first event", command=_send(f"{url}/v1/trigger", ticket)),
        Try(
            title=f"Move the clock by two days and an hour, so that the timeout of {FORGOTTEN} is due",
            command=_send(f"-X PUT {url}/_local/clock", f'{{"advance_seconds":{_TWO_DAYS_AND_AN_HOUR}}}'),
        ),
        Try(title="Ask the monitor to look now; by itself it looks every ten seconds", command=_get(f"-X POST {url}/_local/monitor")),
        Try(title="What an operator should know", command=_get(f"'{url}/v1/notices?env_code={env}&kind=OverDue'")),
        Try(title="Every message SNS was given since the story ended", command=_get(f"'{url}/_local/published?after={published}'")),
    ]


def _get(target: str) -> str:
    """One line where it fits; the answer is laid out for reading."""
    line = f"curl -s {target} | python3 -m json.tool"
    return line if len(line) <= WIDTH else line.replace(" | ", " \\\n  | ")


def _send(target: str, body: str) -> str:
    """The new line after the answer keeps the next prompt off it."""
    line = f"curl -s {target} -d '{body}'; echo"
    return line if len(line) <= WIDTH else line.replace(" -d ", " -d \\\n  ")


def show_what_to_try(it: Story, url: str) -> None:
    published = it.api.call(OPERATOR, "GET", "/_local/published")
    last = int(published[-1]["n"]) if published else 0
    it.show.heading(
        "Now you",
        "The engine stays up, and so do registry and audit: they beat, and acknowledge whatever comes. Paste these into a "
        "second terminal and watch this one. Ctrl-C ends everything and leaves nothing behind.",
    )
    for number, one in enumerate(what_to_try(it, url, last), 1):
        it.show.command(f"{number}. {one.title}", one.command)
    it.show.heading("What registry and audit receive from here on", "Nothing yet; lines appear as messages arrive.")
    it.show.blank()


def go_on(it: Story) -> NoReturn:
    """Beat and acknowledge until somebody ends the program."""
    beats = 0.0
    arrived = it.consumers["registry"].inbox.arrived
    while True:
        if time.monotonic() >= beats:
            beats = time.monotonic() + _BEAT_EVERY_SECONDS
            for name in it.consumers:
                _attempt_beat(it, name)
        for consumer in it.consumers.values():
            for message in consumer.inbox.take_all():
                _process(it, consumer, message)
        with arrived:
            arrived.wait_for(lambda: any(consumer.inbox.has_unread for consumer in it.consumers.values()), max(0.0, beats - time.monotonic()))


def _attempt_beat(it: Story, name: str) -> None:
    try:
        it.api.call(name, "POST", "/v1/heartbeat", {"env_code": it.env_code, "consumer": name})
    except ApiError as error:
        it.show.line(name, "→ beat", f"refused: {error}")


def _process(it: Story, consumer: DemoConsumer, message: Message) -> None:
    """Say what came, do nothing with it, and say that it is done."""
    event, (what, remark) = message.event, told(message)
    it.show.line(consumer.name, f"← {consumer.transport}", f"{event['external_ref']}  seq {event['seq']}  {what}", remark)
    if not message.is_signed or event["ack_guid"] is None:
        return
    body = {"env_code": it.env_code, "consumer": consumer.name, "ack_guid": event["ack_guid"], "outcome": "Processed"}
    try:
        answer = it.api.call(consumer.name, "POST", "/v1/ack", body)
    except ApiError as error:
        it.show.line(consumer.name, "→ ack", f"refused: {error}")
        return
    it.show.line(consumer.name, "→ ack", f"{event['external_ref']}  seq {event['seq']}  {event['kind']} {answer['status']}")
