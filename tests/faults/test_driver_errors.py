"""What the server and the driver can say, made to happen for real; each error is followed by a rollback, and no unit stays open."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.facts import deliveries, steps
from tests.support.mysql_protocol import Kind
from tests.support.operations import leave, one_held, submitted
from tests.support.sessions import Session, say, server_id, transactions, until_it_waits, within
from tests.support.targets import target_of
from tests.support.wire import Wire, WiredBench
from tests.support.wire_link import Moment
from workflow_engine.dal import Db, DbExecutionLoad, Deadline, Query, Statement, WorkFlowDAL
from workflow_engine.dal.db_errors import translate
from workflow_engine.errors import (
    ConnectionLostError,
    DeadlineExceededError,
    DuplicateKeyError,
    RestartUnitError,
    StorageError,
    TooLargeError,
)

LOCK_R1 = "SELECT id FROM instance WHERE external_ref = 'R-1' FOR UPDATE"
APPROVED = [(1, "Draft", 10, "Submitted"), (2, "Submitted", 20, "Approved")]


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
