"""An HTTPS endpoint as a consumer runs it: a certificate made on the spot, SNS's confirmation, SNS's notifications."""

import json
import ssl
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast
from urllib.request import urlopen

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from workflow_engine.adapters.clock import SystemClock

HOST = "127.0.0.1"
_CONFIRM_SECONDS = 10
_MAX_BODY_BYTES = 1024 * 1024

TakeText = Callable[[str, dict[str, str]], None]


class SnsEndpoint(ThreadingHTTPServer):
    """Takes what SNS posts for one topic; `confirmed` is set once the subscription has been confirmed."""

    daemon_threads = True

    def __init__(self, topic_arn: str, aws_url: str, take: TakeText) -> None:
        super().__init__((HOST, 0), _Handler)
        self.topic_arn = topic_arn
        self.aws_url = aws_url
        self.take = take
        self.confirmed = threading.Event()
        self.confirmation: dict[str, str] = {}
        # The handshake is left to each connection's own thread: one that stalls holds nobody up.
        self.socket = certificate_context().wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://{HOST}:{self.server_address[1]}/events"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a caller that hung up: SNS sends again what it could not deliver."""


class _Handler(BaseHTTPRequestHandler):
    timeout = 15

    @property
    def endpoint(self) -> SnsEndpoint:
        return cast("SnsEndpoint", self.server)

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > _MAX_BODY_BYTES:
            self._answer(413)
            return
        envelope: dict[str, Any] = json.loads(self.rfile.read(int(length)))
        if envelope.get("TopicArn") != self.endpoint.topic_arn:
            self._answer(403)
            return
        if envelope["Type"] == "SubscriptionConfirmation":
            self._answer(200)
            _visit(str(envelope["SubscribeURL"]), self.endpoint.aws_url)
            self.endpoint.confirmation = envelope
            self.endpoint.confirmed.set()
            return
        attributes = {name: str(attribute["Value"]) for name, attribute in envelope.get("MessageAttributes", {}).items()}
        self.endpoint.take(str(envelope["Message"]), attributes)
        self._answer(200)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
        """Keep the terminal for the story."""

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()


def _visit(url: str, aws_url: str) -> None:
    if not url.startswith(f"{aws_url}/"):
        raise ValueError("the confirmation does not lead to the stack's own SNS")
    with urlopen(url, timeout=_CONFIRM_SECONDS) as response:  # noqa: S310  # checked above
        response.read()


@contextmanager
def https_endpoint(stack: dict[str, Any], take: TakeText) -> Generator[SnsEndpoint]:
    """Serve the endpoint for the time of the block; `stack` is what `GET /_local` tells."""
    with SnsEndpoint(str(stack["topics"]["work"]), str(stack["aws"]), take) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="demo-https", daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def certificate_context() -> ssl.SSLContext:
    """A server's context with a certificate of its own; the files are gone when it is loaded."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = SystemClock().real_now()
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), critical=False)
        .sign(key, SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        pem = Path(folder) / "server.pem"
        pem.touch(mode=0o600)
        pem.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + certificate.public_bytes(Encoding.PEM))
        context.load_cert_chain(pem)
    return context
