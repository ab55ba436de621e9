"""A loopback proxy between engine and database: counts the commands on the wire and cuts the connection at a chosen one."""

import select
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Self

import pytest
from pymysql.cursors import DictCursor

from local.database_url import DatabaseUrl
from tests.support.engine import FakeClock, Workbench
from tests.support.mysql_protocol import Answer, Kind, Packet, Stream, command_kind, connection_id, query_packet, read_answer, read_packet
from workflow_engine.options import WorkFlowEngineOptions

# Nothing here waits longer, whatever goes wrong.
PATIENCE = 20.0
_POLLS = 2_000


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


class Wire:
    """Listens on loopback; `url` is the database's address seen through it. Close it, or use it as a context."""

    def __init__(self, database_url: str) -> None:
        self.server = DatabaseUrl.parse(database_url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = str(replace(self.server, host="127.0.0.1", port=self._listener.getsockname()[1]))
        self.commands: list[Command] = []
        self.errors: list[int] = []
        self.is_in_transaction = False
        # Statements that every new connection starts with, and who is told of a login.
        self.session: list[str] = []
        self.at_login: Callable[[int], None] | None = None
        self.links: list[_Link] = []
        self._cuts: list[Cut] = []
        self._held: tuple[_Link, Packet, Moment] | None = None
        self._lock = threading.RLock()
        self._looking = threading.Lock()
        self._look = self.server.connect()
        self._look.autocommit(True)  # noqa: FBT003  # the driver's own signature
        self._wiping: list[str] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(PATIENCE)
        for link in self.links:
            link.close()
            link.join(PATIENCE)
        self._look.close()

    def cut(self, moment: Moment, kind: Kind | None = None, nth: int = 1, then: Callable[[], None] | None = None) -> None:
        """Plan a cut, counted from now; several may be planned."""
        with self._lock:
            self._cuts.append(Cut(moment=moment, kind=kind, nth=nth, then=then))

    def forgive(self) -> None:
        """Forget what was planned and did not come about."""
        with self._lock:
            self._cuts.clear()

    @property
    def is_cut(self) -> bool:
        """Everything that was planned has happened, and the server has got what was held back."""
        with self._lock:
            return not self._cuts and self._held is None

    def kinds(self) -> list[str]:
        """The commands as words, without what a login says."""
        return [command.kind.value for command in self.commands if command.kind not in {Kind.SESSION, Kind.QUIT}]

    @contextmanager
    def counting(self) -> Generator[list[Command]]:
        """Give the commands of the block: each of them was one round trip."""
        found, start = [], len(self.commands)
        yield found
        found += [command for command in self.commands[start:] if command.kind is not Kind.QUIT]

    def note(self, command: Command) -> Cut | None:
        """Write the command down; return the cut whose turn it is."""
        with self._lock:
            self.commands.append(command)
            due = [cut for cut in self._cuts if cut.is_due(command.kind)]
            self._cuts = [cut for cut in self._cuts if cut not in due]
            return due[0] if due else None

    def hold(self, link: "_Link", packet: Packet, moment: Moment) -> None:
        with self._lock:
            self._held = (link, packet, moment)

    def let_go(self, moment: Moment) -> None:
        """Give the server what was held back for this moment, and wait until it is executed."""
        with self._lock:
            if self._held and self._held[2] is moment:
                link, packet, _ = self._held
                link.deliver(packet)
                self._held = None

    def forget(self, server_id: int) -> None:
        """Wait until the server has ended a connection and rolled back what it left open."""
        for _ in range(_POLLS):
            if not self.sql(f"SELECT id FROM information_schema.processlist WHERE id = {server_id}"):
                return
        raise TimeoutError(f"the server does not end connection {server_id}")

    def sql(self, text: str) -> list[dict[str, Any]]:
        """Ask the server past the wire, over one connection that is kept: TLS makes a new one dear."""
        with self._looking, self._look.cursor(DictCursor) as cursor:
            cursor.execute(text)
            return list(cursor.fetchall())

    def wipe(self) -> None:
        """Empty the tables, as `clean_database` does before the test."""
        if not self._wiping:
            tables = [row["name"] for row in self.sql("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()")]
            deletes = [f"DELETE FROM {name}" for name in tables if name not in {"id_block", "monitor_lease"} and not name.startswith("schema_")]
            self._wiping = ["SET foreign_key_checks = 0", *deletes, "SET foreign_key_checks = 1"]
        for text in self._wiping:
            self.sql(text)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.links.append(_Link(self, len(self.links) + 1, client))
            self.links[-1].start()


class _Link(threading.Thread):
    """One client's connection and its twin to the server; the protocol lets only one side speak at a time."""

    def __init__(self, wire: Wire, number: int, client: socket.socket) -> None:
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


class WiredBench(Workbench):
    """A bench whose engine speaks through the wire; what the test itself looks up goes past it."""

    def __init__(self, wire: Wire, clock: FakeClock | None = None, **options: Any) -> None:
        super().__init__(wire.url, WorkFlowEngineOptions(**options), clock)
        self.database_url = str(wire.server)
        self._wire = wire

    def sql(self, text: str) -> list[dict[str, Any]]:
        return self._wire.sql(text)


def wired(wire: Wire, clock: FakeClock | None = None, **options: Any) -> WiredBench:
    return WiredBench(wire, clock, **options)


@pytest.fixture
def wire(clean_database: str) -> Generator[Wire]:
    with Wire(clean_database) as made:
        yield made


@pytest.fixture
def bench_on_wire(wire: Wire) -> Generator[Workbench]:
    made = wired(wire)
    yield made
    made.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what was counted; the figures travel with the tests' reports, from whichever process ran them."""
    reports = [report for report in terminalreporter.stats.get("passed", []) if isinstance(report, pytest.TestReport)]
    figures = [value for report in reports for name, value in report.user_properties if name == "round trips" and isinstance(value, list)]
    table: dict[str, list[str]] = {}
    for what, column, count in sorted(figures):
        table.setdefault(what, []).append(f"{count} ({column})" if column else str(count))
    if table:
        terminalreporter.section("round trips on the wire, COMMIT included")
        for what, counts in table.items():
            terminalreporter.write_line(f"{what:<52}{', '.join(counts)}")
