"""A loopback proxy between engine and database: counts the commands on the wire and cuts the connection at a chosen one."""

import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import pytest
from pymysql.cursors import DictCursor

from local.database.url import DatabaseUrl
from tests.support.engine import FakeClock, Workbench
from tests.support.mysql_protocol import Kind, Packet
from tests.support.wire_link import PATIENCE, Command, Cut, Link, Moment
from workflow_engine.options import WorkFlowEngineOptions

_POLLS = 2_000


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
        self.links: list[Link] = []
        self._cuts: list[Cut] = []
        self._held: tuple[Link, Packet, Moment] | None = None
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

    def hold(self, link: Link, packet: Packet, moment: Moment) -> None:
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
            self.links.append(Link(self, len(self.links) + 1, client))
            self.links[-1].start()


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
