"""An SNS that refuses on request: a loopback server that speaks its query protocol and keeps what it was sent."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import boto3
from botocore.config import Config

SUBSCRIPTION_ARN = "arn:aws:sns:eu-central-1:123456789012:work:1"
_NAMESPACE = "http://sns.amazonaws.com/doc/2010-03-31/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The whole call is refused."""

    status: int
    code: str
    message: str = "refused"


@dataclass(slots=True)
class SnsStub:
    """`script` says how to answer, call by call: a Refusal, or the messages to refuse; at its end everything is taken."""

    url: str = ""
    script: list[Refusal | set[str]] = field(default_factory=list)
    calls: list[dict[str, str]] = field(default_factory=list)

    @property
    def sent(self) -> list[list[str]]:
        """The messages of every PublishBatch call."""
        return [messages_of(call) for call in self.calls if call["Action"] == "PublishBatch"]

    def client(self) -> Any:
        """A client with our limits, but without the waiting between its attempts."""
        config = Config(connect_timeout=1, read_timeout=1, retries={"total_max_attempts": 1})
        return boto3.client("sns", endpoint_url=self.url, region_name="eu-central-1", aws_access_key_id="x", aws_secret_access_key="x", config=config)

    def answer(self, call: dict[str, str]) -> tuple[int, str]:
        self.calls.append(call)
        step = self.script.pop(0) if self.script else set()
        if isinstance(step, Refusal):
            error = f"<Error><Type>Sender</Type><Code>{step.code}</Code><Message>{step.message}</Message></Error>"
            return step.status, f'<ErrorResponse xmlns="{_NAMESPACE}">{error}</ErrorResponse>'
        return 200, _result(call["Action"], call, step)


def messages_of(call: dict[str, str]) -> list[str]:
    """Return the messages of one PublishBatch, in order."""
    return [call[f"{_entry(number)}.Message"] for number in range(1, 11) if f"{_entry(number)}.Message" in call]


def attributes_of(call: dict[str, str], number: int) -> dict[str, str]:
    """Return the attributes of one entry, from 1."""
    names = {
        position: call[f"{_entry(number)}.MessageAttributes.entry.{position}.Name"]
        for position in range(1, 20)
        if f"{_entry(number)}.MessageAttributes.entry.{position}.Name" in call
    }
    return {name: call[f"{_entry(number)}.MessageAttributes.entry.{position}.Value.StringValue"] for position, name in names.items()}


@contextmanager
def running_stub(*script: Refusal | set[str]) -> Generator[SnsStub]:
    stub = SnsStub(script=list(script))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["content-length"])).decode()
            status, body = stub.answer({name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()})
            self.send_response(status)
            self.send_header("content-type", "text/xml")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _entry(number: int) -> str:
    return f"PublishBatchRequestEntries.member.{number}"


def _result(action: str, call: dict[str, str], refused: set[str]) -> str:
    if action != "PublishBatch":
        result = f"<SubscriptionArn>{SUBSCRIPTION_ARN}</SubscriptionArn>"
        return f'<{action}Response xmlns="{_NAMESPACE}"><{action}Result>{result}</{action}Result></{action}Response>'
    taken, failed = "", ""
    for number, message in enumerate(messages_of(call), start=1):
        entry_id = call[f"{_entry(number)}.Id"]
        if message in refused:
            failed += f"<member><Id>{entry_id}</Id><Code>InternalError</Code><Message>no</Message><SenderFault>false</SenderFault></member>"
        else:
            taken += f"<member><Id>{entry_id}</Id><MessageId>m-{entry_id}</MessageId></member>"
    result = f"<Successful>{taken}</Successful><Failed>{failed}</Failed>"
    return f'<PublishBatchResponse xmlns="{_NAMESPACE}"><PublishBatchResult>{result}</PublishBatchResult></PublishBatchResponse>'
