"""One connection through the wire: passes commands and answers on, and is cut where it is told to."""

import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tests.support.mysql_protocol import Answer, Kind, Packet, Stream, command_kind, connection_id, query_packet, read_answer, read_packet

if TYPE_CHECKING:
    from tests.support.wire import Wire

# Nothing here waits longer, whatever goes wrong.
PATIENCE = 20.0


class Moment(Enum):
    """When the connection is cut, seen from the chosen command."""

    BEFORE = "before it reaches the server"
    AFTER = "executed, nothing of the answer came"
    MIDDLE = "executed, half of the answer came"
    OVERLAP = "cut at once, and the server gets it while the engine's next read runs"
    LATE = "cut at once, and the server gets it just before the engine's next write"
    NEVER = "not cut: only `then` is called before it is forwarded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    connection: int
    kind: Kind
    text: str


@dataclass(slots=True, kw_only=True, eq=False)
class Cut:
    """At the `nth` command of the kind (of any kind: None); `then` runs when the server has ended the connection and the client does not know yet."""

    moment: Moment
    kind: Kind | None = None
    nth: int = 1
    then: Callable[[], None] | None = None
    seen: int = 0

    def is_due(self, kind: Kind) -> bool:
        if kind is Kind.QUIT or self.kind not in {None, kind}:
            return False
        self.seen += 1
        return self.seen == self.nth

    def call(self) -> None:
        if self.then:
            self.then()


class Link(threading.Thread):
    """One client's connection and its twin to the server; the protocol lets only one side speak at a time."""

    def __init__(self, wire: "Wire", number: int, client: socket.socket) -> None:
        super().__init__(daemon=True)
        self._wire, self._number, self._client = wire, number, client
        self._server = socket.create_connection((wire.server.host, wire.server.port), PATIENCE)
        self.server_id = 0
        for side in (self._client, self._server):
            side.settimeout(PATIENCE)
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._from_client, self._from_server = Stream(self._client), Stream(self._server)
        self._is_held = False

    def run(self) -> None:
        with suppress(OSError, EOFError, ValueError):
            packet: Packet | None = self._log_in()
            while packet is not None and self._exchange(packet):
                packet = self._next()
        if not self._is_held:
            self.close()

    def close(self) -> None:
        for side in (self._client, self._server):
            self._end(side)

    def deliver(self, packet: Packet) -> None:
        """Execute a packet that was held back; its client is gone."""
        self._server.sendall(packet.raw)
        read_answer(self._from_server)
        self._end(self._server)

    def _log_in(self) -> Packet | None:
        """Pass on whatever is said until the first command, which has number zero."""
        if self._wire.at_login:
            self._wire.at_login(self._number)
        while True:
            ready, _, _ = select.select([self._client, self._server], [], [], 0 if self._from_server.rest else PATIENCE)
            if self._server in ready or self._from_server.rest:
                packet = read_packet(self._from_server)
                self.server_id = self.server_id or connection_id(packet)
                self._client.sendall(packet.raw)
            elif self._client in ready:
                packet = read_packet(self._from_client)
                if packet.number == 0:
                    self._say_session()
                    return packet
                self._server.sendall(packet.raw)
            else:
                return None

    def _say_session(self) -> None:
        for text in self._wire.session:
            self._server.sendall(query_packet(text))
            assert read_answer(self._from_server).error is None, text

    def _next(self) -> Packet | None:
        ready, _, _ = select.select([self._client, self._server], [], [])
        if self._server in ready:
            # Nobody asked: the server says goodbye.
            self._client.sendall(self._server.recv(65_536))
            return None
        return read_packet(self._from_client)

    def _exchange(self, packet: Packet) -> bool:
        """Pass on a command and its answer; False ends the connection."""
        kind = command_kind(packet)
        cut = self._wire.note(Command(connection=self._number, kind=kind, text=packet.payload[1:300].decode("utf-8", "replace")))
        if cut is not None and cut.moment is not Moment.NEVER:
            return self._cut(packet, cut)
        if cut is not None:
            cut.call()
        if kind is Kind.WRITE:
            self._wire.let_go(Moment.LATE)
        self._server.sendall(packet.raw)
        if kind is Kind.QUIT:
            return False
        if kind is Kind.READ:
            self._wire.let_go(Moment.OVERLAP)
        self._client.sendall(self._answer().raw)
        return True

    def _answer(self) -> Answer:
        answer = read_answer(self._from_server)
        if answer.error is None:
            self._wire.is_in_transaction = answer.is_in_transaction
        else:
            self._wire.errors.append(answer.error)
        return answer

    def _cut(self, packet: Packet, cut: Cut) -> bool:
        if cut.moment in {Moment.OVERLAP, Moment.LATE}:
            self._is_held = True
            self._wire.hold(self, packet, cut.moment)
            cut.call()
            self._end(self._client)
            return False
        if cut.moment is not Moment.BEFORE:
            self._server.sendall(packet.raw)
            raw = self._answer().raw
            if cut.moment is Moment.MIDDLE:
                self._client.sendall(raw[: len(raw) // 2])
        self._end(self._server)
        # The engine's next read must not meet the locks of a connection that is only just dying.
        self._wire.forget(self.server_id)
        cut.call()
        self._end(self._client)
        return False

    @staticmethod
    def _end(side: socket.socket) -> None:
        with suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
        side.close()
