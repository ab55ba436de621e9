"""How connections are made, lost and made again: too many of them, changed passwords, killed while idle and within a unit."""

import secrets
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from local.database.url import DatabaseUrl
from tests.support.facts import steps
from tests.support.mysql_protocol import Kind
from tests.support.operations import leave, submitted
from tests.support.sessions import server_id
from tests.support.wire import Wire, WiredBench
from tests.support.wire_link import Moment
from workflow_engine.dal import DatabaseTarget, Db
from workflow_engine.errors import (
    AccessDeniedError,
    StorageError,
)

APPROVED = [(1, "Draft", 10, "Submitted"), (2, "Submitted", 20, "Approved")]


@contextmanager
def user_with(wire: Wire, limit: str = "") -> Generator[DatabaseUrl]:
    """A login of its own; the first one over TLS, so that MySQL knows its password from then on."""
    name, password = f"wfe_{secrets.token_hex(6)}", secrets.token_hex(8)
    wire.sql(f"CREATE USER '{name}'@'%' IDENTIFIED BY '{password}' {limit}")
    wire.sql(f"GRANT ALL PRIVILEGES ON {wire.server.name}.* TO '{name}'@'%'")
    url = replace(wire.server, user=name, password=password)
    url.execute("SELECT 1")
    try:
        yield url
    finally:
        wire.sql(f"DROP USER '{name}'@'%'")


def through(wire: Wire, user: DatabaseUrl, password: Callable[[bool], str] | None = None) -> DatabaseTarget:
    listener = DatabaseUrl.parse(wire.url)
    return DatabaseTarget(host=listener.host, port=listener.port, database=user.name, user=lambda _: user.user, password=password or (lambda _: user.password))


def test_too_many_connections_are_answered_soon_with_try_again(wire: Wire, bench_on_wire: WiredBench):
    leave(bench_on_wire)
    with user_with(wire, "WITH MAX_USER_CONNECTIONS 1") as user:
        taken = user.connect()
        bench_on_wire.use(Db(through(wire, user)))
        began = time.monotonic()
        with pytest.raises(StorageError) as error:
            bench_on_wire.trigger("Submit")
        assert (type(error.value), time.monotonic() - began < 3) == (StorageError, True)
        taken.close()
        assert bench_on_wire.trigger("Submit").applied
        bench_on_wire.engine.close()


def test_a_connection_that_comes_free_in_time_is_taken(wire: Wire, bench_on_wire: WiredBench):
    leave(bench_on_wire)
    with user_with(wire, "WITH MAX_USER_CONNECTIONS 1") as user:
        taken = user.connect()
        before = len(wire.links)
        taken_id = taken.thread_id()

        def let_go(number: int) -> None:
            if number == before + 3:
                taken.close()
                wire.forget(taken_id)

        wire.at_login = let_go
        bench_on_wire.use(Db(through(wire, user)))
        assert bench_on_wire.trigger("Submit").applied
        assert len(wire.links) == before + 3
        bench_on_wire.engine.close()


def test_a_rotated_secret_is_read_again_once(wire: Wire, bench_on_wire: WiredBench):
    leave(bench_on_wire)
    asked: list[bool] = []

    def password(fresh: bool) -> str:  # noqa: FBT001  # the target's shape
        asked.append(fresh)
        return wire.server.password if fresh else "of yesterday"

    bench_on_wire.use(Db(through(wire, wire.server, password)))
    assert bench_on_wire.trigger("Submit").applied
    assert asked == [False, True]


def test_a_secret_that_is_wrong_for_good_is_read_again_once_and_answered_soon(wire: Wire, bench_on_wire: WiredBench):
    leave(bench_on_wire)
    asked: list[bool] = []

    def password(fresh: bool) -> str:  # noqa: FBT001  # the target's shape
        asked.append(fresh)
        return "wrong"

    bench_on_wire.use(Db(through(wire, wire.server, password)))
    began = time.monotonic()
    with pytest.raises(AccessDeniedError):
        bench_on_wire.trigger("Submit")
    assert (asked, time.monotonic() - began < 2) == ([False, True], True)


def test_a_connection_killed_while_idle_is_opened_again(wire: Wire, bench_on_wire: WiredBench):
    submitted(bench_on_wire)
    wire.sql(f"KILL {server_id(wire)}")
    wire.forget(server_id(wire))
    answer = bench_on_wire.trigger("Approve", request_id="r-2")
    assert (answer.applied, answer.replayed, len(wire.links), wire.is_in_transaction) == (True, False, 2, False)
    assert (steps(bench_on_wire), len(bench_on_wire.sent())) == (APPROVED, 6)


def test_a_stale_connection_is_found_out_before_it_is_used(wire: Wire, bench_on_wire: WiredBench, monkeypatch: pytest.MonkeyPatch):
    """After a long idle time the engine asks first, so that nothing is uncertain."""
    submitted(bench_on_wire)
    wire.sql(f"KILL {server_id(wire)}")
    wire.forget(server_id(wire))
    monkeypatch.setattr("workflow_engine.dal.db._IDLE_SECONDS", -1.0)
    with wire.counting() as trips:
        assert bench_on_wire.trigger("Approve").applied
    assert [trip.kind.value for trip in trips if trip.kind not in {Kind.SESSION, Kind.PING}] == ["read", "write"]


def test_a_connection_that_dies_within_a_unit_is_not_replaced_within_it(wire: Wire, bench_on_wire: WiredBench, monkeypatch: pytest.MonkeyPatch):
    """Half a unit on a new connection would be committed statement by statement."""
    submitted(bench_on_wire)
    monkeypatch.setattr("workflow_engine.dal.db._IDLE_SECONDS", -1.0)
    wire.cut(Moment.NEVER, Kind.READ, then=lambda: monkeypatch.setattr(bench_on_wire.db, "_last_used", 0.0))
    wire.cut(Moment.BEFORE, Kind.PING, nth=2)
    with wire.counting() as trips:
        answer = bench_on_wire.trigger("Approve", request_id="r-2")
    wire.forgive()
    assert (answer.applied, answer.replayed) == (True, False)
    for trip in trips:
        if trip.kind is Kind.WRITE:
            assert Kind.READ in [other.kind for other in trips if other.connection == trip.connection], "a write without its read"


@pytest.mark.parametrize("kind", [Kind.READ, Kind.WRITE])
def test_a_connection_killed_within_a_unit_changes_nothing_but_the_time_it_takes(wire: Wire, bench_on_wire: WiredBench, kind: Kind):
    submitted(bench_on_wire)
    wire.cut(Moment.NEVER, kind, then=lambda: ended(wire))
    answer = bench_on_wire.trigger("Approve", request_id="r-2")
    assert (answer.applied, answer.replayed, len(wire.links), wire.is_in_transaction) == (True, False, 2, False)
    assert steps(bench_on_wire) == APPROVED


def ended(wire: Wire) -> None:
    wire.sql(f"KILL {server_id(wire)}")
    wire.forget(server_id(wire))
