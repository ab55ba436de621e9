"""As much of MySQL's protocol as it takes to tell commands apart and to see where an answer ends."""

import socket
from dataclasses import dataclass
from enum import Enum

_WHOLE = 0xFFFFFF
_QUERY, _QUIT, _PING = 0x03, 0x01, 0x0E
_OK, _END, _ERROR = 0x00, 0xFE, 0xFF
_SHORTER_THAN_A_ROW = 9
_CHUNK = 65_536
_IN_TRANSACTION, _MORE_RESULTS = 0x0001, 0x0008


class Kind(Enum):
    """What a command is to a unit of work."""

    SESSION = "session"  # what the driver says after logging in
    READ = "read"  # opens a transaction and reads
    WRITE = "write"  # ends in COMMIT
    ROLLBACK = "rollback"
    PLAIN = "plain"  # stands alone, or goes on reading in an open transaction
    PING = "ping"
    QUIT = "quit"


@dataclass(frozen=True, slots=True)
class Packet:
    """One message of either side: `raw` as it goes over the wire, `payload` without its frames."""

    raw: bytes
    payload: bytes
    number: int


@dataclass(frozen=True, slots=True)
class Answer:
    raw: bytes
    is_in_transaction: bool
    error: int | None


class Stream:
    """What a socket gives, cut as it is asked for; `rest` came early and waits here, where `select` does not see it."""

    def __init__(self, side: socket.socket) -> None:
        self._side = side
        self.rest = bytearray()

    def read(self, count: int) -> bytes:
        while len(self.rest) < count:
            data = self._side.recv(_CHUNK)
            if not data:
                raise EOFError("the other side is gone")
            self.rest += data
        taken = bytes(self.rest[:count])
        del self.rest[:count]
        return taken


def read_packet(stream: Stream) -> Packet:
    raw, payload, number = b"", b"", None
    while True:
        head = stream.read(4)
        body = stream.read(int.from_bytes(head[:3], "little"))
        number = head[3] if number is None else number
        raw, payload = raw + head + body, payload + body
        if len(body) < _WHOLE:
            return Packet(raw=raw, payload=payload, number=number)


def read_answer(stream: Stream) -> Answer:
    """Read until the server has said everything about a command: it has executed it then, or refused it."""
    raw = b""
    while True:
        first = read_packet(stream)
        raw += first.raw
        if first.payload[0] == _ERROR:
            return Answer(raw=raw, is_in_transaction=False, error=int.from_bytes(first.payload[1:3], "little"))
        if first.payload[0] == _OK:
            status = _status_of_ok(first.payload)
        else:
            rows, status, error = _read_rows(stream)
            raw += rows
            if error is not None:
                return Answer(raw=raw, is_in_transaction=False, error=error)
        if not status & _MORE_RESULTS:
            return Answer(raw=raw, is_in_transaction=bool(status & _IN_TRANSACTION), error=None)


def command_kind(packet: Packet) -> Kind:
    code = packet.payload[0]
    if code != _QUERY:
        return {_QUIT: Kind.QUIT, _PING: Kind.PING}.get(code, Kind.PLAIN)
    text = packet.payload[1:]
    if text.startswith(b"SET "):
        return Kind.SESSION
    if text == b"ROLLBACK":
        return Kind.ROLLBACK
    if text.endswith(b";COMMIT"):
        return Kind.WRITE
    return Kind.READ if text.startswith(b"START TRANSACTION") else Kind.PLAIN


def query_packet(text: str) -> bytes:
    payload = bytes([_QUERY]) + text.encode()
    return len(payload).to_bytes(3, "little") + b"\x00" + payload


def connection_id(greeting: Packet) -> int:
    """The server's number for the connection: after the protocol's version and the server's, which ends with a zero."""
    place = greeting.payload.index(b"\x00", 1) + 1
    return int.from_bytes(greeting.payload[place : place + 4], "little")


def _read_rows(stream: Stream) -> tuple[bytes, int, int | None]:
    """The columns, the rows, and the status that the end of the rows carries."""
    raw, ends = b"", 0
    while True:
        packet = read_packet(stream)
        raw += packet.raw
        if packet.payload[0] == _ERROR:
            return raw, 0, int.from_bytes(packet.payload[1:3], "little")
        if packet.payload[0] == _END and len(packet.payload) < _SHORTER_THAN_A_ROW:
            ends += 1
            if ends == 2:
                return raw, int.from_bytes(packet.payload[3:5], "little"), None


def _status_of_ok(payload: bytes) -> int:
    place = _after_number(payload, _after_number(payload, 1))
    return int.from_bytes(payload[place : place + 2], "little")


def _after_number(payload: bytes, place: int) -> int:
    """Numbers are as long as their first byte says."""
    return place + {0xFC: 3, 0xFD: 4, 0xFE: 9}.get(payload[place], 1)
