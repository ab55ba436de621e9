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

    def need(self, count: int) -> None:
        """Wait until so much is there."""
        while len(self.rest) < count:
            data = self._side.recv(_CHUNK)
            if not data:
                raise EOFError("the other side is gone")
            self.rest += data

    def take(self, count: int) -> bytes:
        self.need(count)
        taken = bytes(self.rest[:count])
        del self.rest[:count]
        return taken

    def frame(self, place: int) -> tuple[int, int]:
        """Where the payload of the frame at this place begins and ends, once all of it is there."""
        self.need(place + 4)
        end = place + 4 + int.from_bytes(self.rest[place : place + 3], "little")
        self.need(end)
        return place + 4, end


def read_packet(stream: Stream) -> Packet:
    place, payload = 0, b""
    while True:
        begin, end = stream.frame(place)
        payload += stream.rest[begin:end]
        if end - begin < _WHOLE:
            number = stream.rest[3]
            return Packet(raw=stream.take(end), payload=bytes(payload), number=number)
        place = end


def read_answer(stream: Stream) -> Answer:
    """Read until the server has said everything about a command: it has executed it then, or refused it."""
    place, status = 0, _MORE_RESULTS
    while status & _MORE_RESULTS:
        begin, place = stream.frame(place)
        code = stream.rest[begin]
        if code == _OK:
            status = _status_of_ok(bytes(stream.rest[begin:place]))
        elif code != _ERROR:
            begin, place = _after_rows(stream, place)
            code, status = stream.rest[begin], int.from_bytes(stream.rest[begin + 3 : begin + 5], "little")
        if code == _ERROR:
            number = int.from_bytes(stream.rest[begin + 1 : begin + 3], "little")
            return Answer(raw=stream.take(place), is_in_transaction=False, error=number)
    return Answer(raw=stream.take(place), is_in_transaction=bool(status & _IN_TRANSACTION), error=None)


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


def _after_rows(stream: Stream, place: int) -> tuple[int, int]:
    """Pass over the columns, their end and the rows; return the frame that ends it all, which may be an error."""
    ends = 0
    while True:
        begin, place = stream.frame(place)
        code = stream.rest[begin]
        if code == _END and place - begin < _SHORTER_THAN_A_ROW:
            ends += 1
        if ends == 2 or code == _ERROR:
            return begin, place


def _status_of_ok(payload: bytes) -> int:
    place = _after_number(payload, _after_number(payload, 1))
    return int.from_bytes(payload[place : place + 2], "little")


def _after_number(payload: bytes, place: int) -> int:
    """Numbers are as long as their first byte says."""
    return place + {0xFC: 3, 0xFD: 4, 0xFE: 9}.get(payload[place], 1)
