"""An HTTPS endpoint on this machine that keeps what it is sent and answers as told."""

import json
import ssl
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Condition, Thread
from typing import Any
from urllib.request import urlopen

from werkzeug.serving import make_ssl_devcert


@dataclass
class HttpsInbox:
    """`answers` are the next statuses; at their end everything is 200. Confirmations are kept and visited only on request."""

    address: str = ""
    answers: list[int] = field(default_factory=list)
    posts: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    _changed: Condition = field(default_factory=Condition)

    def take(self, kind: str, count: int) -> list[dict[str, Any]]:
        """Wait until so many envelopes of the kind have come, and return them all."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._of(kind)) >= count, timeout=20), f"{len(self._of(kind))} of {count} came"
            return self._of(kind)

    def confirm(self) -> str:
        with urlopen(self.take("SubscriptionConfirmation", 1)[-1]["SubscribeURL"], timeout=10) as answer:  # noqa: S310  # the stack's own address
            return str(answer.read().decode())

    def receive(self, headers: dict[str, str], envelope: dict[str, Any]) -> int:
        with self._changed:
            self.posts.append((headers, envelope))
            self._changed.notify_all()
            return self.answers.pop(0) if self.answers else 200

    def _of(self, kind: str) -> list[dict[str, Any]]:
        return [envelope for _, envelope in self.posts if envelope["Type"] == kind]


@contextmanager
def https_inbox(folder: Path) -> Generator[HttpsInbox]:
    inbox = HttpsInbox()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            envelope = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(inbox.receive({name.lower(): value for name, value in self.headers.items()}, envelope))
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """The test looks at what came instead."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*make_ssl_devcert(str(folder / "inbox"), host="127.0.0.1"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
        inbox.address = f"https://127.0.0.1:{server.server_port}/events"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield inbox
        finally:
            server.shutdown()
            thread.join()
