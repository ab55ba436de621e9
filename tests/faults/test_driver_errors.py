"""What the server and the driver can say, made to happen for real; each error is followed by a rollback, and no unit stays open."""

import secrets
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from local.database_url import DatabaseUrl
from tests.support.engine import Workbench
from tests.support.facts import deliveries, steps
from tests.support.mysql_protocol import Kind
from tests.support.operations import leave, one_held, submitted
from tests.support.targets import target_of
from tests.support.waiting import until_it_waits, within
from tests.support.wire import Moment, Wire, WiredBench
from workflow_engine.dal import DatabaseTarget, Db, DbExecutionLoad, Deadline, Query, Statement, WorkFlowDAL
from workflow_engine.dal.db_errors import translate
from workflow_engine.errors import (
    AccessDeniedError,
    ConnectionLostError,
    DeadlineExceededError,
    DuplicateKeyError,
    RestartUnitError,
    StorageError,
    TooLargeError,
)

LOCK_R1 = "SELECT id FROM instance WHERE external_ref = 'R-1' FOR UPDATE"
APPROVED = [(1, "Draft", 10, "Submitted"), (2, "Submitted", 20, "Approved")]


class Session:
    """A connection of the test's own, with a transaction open."""

    def __init__(self, wire: Wire) -> None:
        self._connection = wire.server.connect()
        self.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")

    def run(self, sql: str) -> Any:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def end(self) -> None:
        self._connection.rollback()

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def session(wire: Wire) -> Generator[Session]:
    made = Session(wire)
    yield made
    made.close()


def say(bench: Workbench, sql: str) -> None:
    """Something said on the engine's own connection."""
    bench.db.send(DbExecutionLoad(deadline=bench.deadline()), [Statement(sql=sql, values={})])


def server_id(wire: Wire) -> int:
    return wire.links[-1].server_id


def transactions(wire: Wire) -> list[dict[str, Any]]:
    """What the server knows to be open on the engine's connections."""
    ids = ", ".join(str(link.server_id) for link in wire.links)
    return wire.sql(f"SELECT trx_state FROM information_schema.innodb_trx WHERE trx_mysql_thread_id IN ({ids})")


def test_a_lock_wait_is_rolled_back_and_the_unit_starts_again(wire: Wire, bench_on_wire: WiredBench, session: Session):
    submitted(bench_on_wire)
    say(bench_on_wire, "SET SESSION innodb_lock_wait_timeout = 1")
    session.run(LOCK_R1)
    wire.cut(Moment.NEVER, Kind.ROLLBACK, then=session.end)
    with wire.counting() as trips:
        answer = bench_on_wire.trigger("Approve")
    assert (answer.applied, wire.errors, transactions(wire)) == (True, [1205], [])
    assert [trip.kind.value for trip in trips] == ["read", "rollback", "read", "write"]
    assert steps(bench_on_wire) == APPROVED


def test_a_deadlock_is_rolled_back_and_the_unit_starts_again(wire: Wire, bench_on_wire: WiredBench, session: Session):
    """The other side breaks our order: it has the ack's row and then wants the instance. It has changed more, so the server ends ours."""
    first = one_held(bench_on_wire)[0]
    for number in range(50):
        session.run(f"INSERT INTO category (id, name, name_key) VALUES ({-number - 1}, 'x', 'other {number}')")
    session.run(f"SELECT ack_id FROM ack_consumer WHERE ack_id = (SELECT id FROM ack WHERE guid = '{first.ack_guid}') FOR UPDATE")
    with ThreadPoolExecutor(1) as pool:
        wire.cut(Moment.NEVER, Kind.WRITE, then=lambda: pool.submit(crossing, session))
        with wire.counting() as trips:
            answer = bench_on_wire.ack(first.ack_guid, "Processed")
    assert (answer.result, wire.errors, transactions(wire)) == ("applied", [1213], [])
    assert [trip.kind.value for trip in trips if trip.kind is not Kind.PLAIN] == ["read", "write", "rollback", "read", "write"]
    assert [(row.seq, row.status, row.sends) for row in deliveries(bench_on_wire) if row.consumer == "c1"] == [(1, "PROCESSED", 1), (2, "PENDING", 1)]
    assert bench_on_wire.sent("c1")[-1:] == [("c1", 2, "transition", 1)]


def crossing(session: Session) -> None:
    session.run(LOCK_R1)
    session.end()


def test_a_writer_that_became_read_only_is_left_for_a_new_connection(wire: Wire, bench_on_wire: WiredBench):
    submitted(bench_on_wire)
    say(bench_on_wire, "SET SESSION TRANSACTION READ ONLY")
    answer = bench_on_wire.trigger("Approve", request_id="r-2")
    assert (answer.applied, answer.replayed, wire.errors, len(wire.links)) == (True, False, [1792], 2)
    assert steps(bench_on_wire) == APPROVED


def test_a_server_that_stays_read_only_is_tried_until_the_deadline_and_not_longer(wire: Wire, bench_on_wire: WiredBench):
    submitted(bench_on_wire)
    say(bench_on_wire, "SET SESSION TRANSACTION READ ONLY")
    wire.session = ["SET SESSION TRANSACTION READ ONLY"]
    began = time.monotonic()
    with pytest.raises(DeadlineExceededError):
        within(bench_on_wire, 0.7, lambda bench: bench.trigger("Approve"))
    assert time.monotonic() - began < 2
    assert set(wire.errors) == {1792}
    assert len(wire.errors) > 2
    assert (steps(bench_on_wire), transactions(wire)) == (APPROVED[:1], [])


@pytest.mark.parametrize("number", [1205, 1213, 1290, 1792, 1836])
def test_what_a_failover_or_a_lock_says_makes_the_unit_start_again(number: int):
    assert type(translate(number, "", "SELECT")) is RestartUnitError


@pytest.mark.parametrize("number", [1040, 1203, 1226, 2003])
def test_no_connection_is_worth_another_try_and_certain_to_have_changed_nothing(number: int):
    assert type(translate(number, "", "connect")) is StorageError


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


def test_a_query_killed_while_it_waits_for_a_lock_is_tried_again(wire: Wire, bench_on_wire: WiredBench, session: Session):
    submitted(bench_on_wire)
    session.run(LOCK_R1)
    waiting = server_id(wire)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(bench_on_wire.trigger, "Approve", request_id="r-2")
        until_it_waits(wire, waiting)
        wire.sql(f"KILL QUERY {waiting}")
        wire.forget(waiting)
        session.end()
        answer = call.result(20)
    assert (answer.applied, answer.replayed, steps(bench_on_wire)) == (True, False, APPROVED)


def test_a_deadline_ends_the_wait_for_a_lock(wire: Wire, bench_on_wire: WiredBench, session: Session):
    submitted(bench_on_wire)
    session.run(LOCK_R1)
    began = time.monotonic()
    with pytest.raises(DeadlineExceededError):
        within(bench_on_wire, 0.5, lambda bench: bench.trigger("Approve", request_id="r-2"))
    assert 0.4 < time.monotonic() - began < 2
    session.end()
    answer = bench_on_wire.trigger("Approve", request_id="r-2")
    assert (answer.applied, answer.replayed, steps(bench_on_wire), wire.is_in_transaction) == (True, False, APPROVED, False)


def test_no_time_at_all_sends_nothing(wire: Wire, bench_on_wire: WiredBench):
    submitted(bench_on_wire)
    with wire.counting() as trips, pytest.raises(DeadlineExceededError):
        within(bench_on_wire, -1.0, lambda bench: bench.trigger("Approve"))
    assert trips == []


def test_a_packet_that_is_too_large_for_the_server_is_refused_after_few_tries(clean_database: str):
    dal = WorkFlowDAL(Db(target_of(clean_database)))
    tries = []
    large = Query(sql=f"SELECT LENGTH('{'x' * (65 << 20)}') AS n", values={}, row_type=dict)

    def unit(load: DbExecutionLoad) -> None:
        tries.append(load.is_uncertain)
        dal.read(load, large)

    # The server says so and hangs up; whether its word or a broken pipe comes first is chance.
    with pytest.raises((TooLargeError, ConnectionLostError)):
        dal.run(Deadline.after(20), unit)
    assert tries == [False, True, True, True][: len(tries)]
    dal.close()


def test_a_key_that_clashes_for_good_does_not_loop_until_the_deadline(wire: Wire, bench_on_wire: WiredBench):
    leave(bench_on_wire)
    again = Statement(sql="INSERT INTO environment (id, code, name, created) SELECT id, code, name, created FROM environment", values={})
    began = time.monotonic()
    with wire.counting() as trips, pytest.raises(DuplicateKeyError):
        bench_on_wire.dal.run(bench_on_wire.deadline(), lambda load: bench_on_wire.dal.write(load, [again]))
    assert [trip.kind.value for trip in trips] == ["write", "rollback"] * 6
    assert (time.monotonic() - began < 2, transactions(wire), wire.is_in_transaction) == (True, [], False)
