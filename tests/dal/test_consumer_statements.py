"""Statements of consumers: what they read, and what stops them."""

from datetime import timedelta

import pytest

from tests.support.consumers import OTHER_ROLE, ROLE, ConsumerDesk, deadline, rows_read
from tests.support.engine import START
from tests.support.rows import MadeConsumer, Sql
from workflow_engine.dal import DbExecutionLoad
from workflow_engine.engine.rules.registration import ConsumerPlace, registration_of
from workflow_engine.errors import DuplicateKeyError
from workflow_engine.models.consumer import ConsumerRow, RegisterConsumerRequest
from workflow_engine.models.enums import AckStatus

HELD, DUE = 20_000, 7


@pytest.fixture
def backlog(desk: ConsumerDesk) -> MadeConsumer:
    """A consumer with many held and closed rows and few that are due, among others with many due rows."""
    consumer, other = desk.rows.consumer("c1", owner=ROLE), desk.rows.consumer("c2", owner=ROLE)
    instance_id = desk.rows.instance(desk.rows.definition(env_code=5)).instance_id
    for status in (AckStatus.HELD, AckStatus.PROCESSED):
        desk.rows.many_acks(HELD, instance_id=instance_id, consumer_id=consumer.consumer_id, status=int(status), next_due=None, seq=Sql("n"))
    desk.rows.many_acks(DUE, instance_id=instance_id, consumer_id=consumer.consumer_id, next_due=START, seq=Sql("n"))
    desk.rows.many_acks(HELD, instance_id=instance_id, consumer_id=other.consumer_id, next_due=START, seq=Sql("n"))
    desk.rows.run("ANALYZE TABLE ack_consumer")
    return consumer


def row_of(desk: ConsumerDesk, consumer: str = "c1") -> ConsumerRow:
    row = desk.dal.first(desk.dal.reading(deadline()), desk.dal.consumer.get_by_name(1, consumer))
    assert row is not None
    return row


def test_what_waits_for_a_consumer_is_counted_without_reading_what_is_held_or_closed(desk: ConsumerDesk, backlog: MadeConsumer):
    by_name = desk.dal.consumer.get_pending_by_name(1, backlog.name, 1_000)
    by_id = desk.dal.consumer.get_pending_by_id(backlog.consumer_id, 1_000)
    for query in (by_name, by_id):
        assert desk.dal.read(desk.dal.reading(deadline()), query)[0][0].pending == DUE
        assert DUE <= rows_read(desk.dal, query) < 3 * DUE + 10


def test_a_long_backlog_is_read_no_further_than_it_is_counted(desk: ConsumerDesk, backlog: MadeConsumer):
    assert backlog.name != "c2"
    query = desk.dal.consumer.get_pending_by_name(1, "c2", 1_000)
    assert desk.dal.read(desk.dal.reading(deadline()), query)[0][0].pending == 1_000
    assert 1_000 <= rows_read(desk.dal, query) < 2_100


def test_due_rows_are_counted_without_reading_what_is_held_or_closed(desk: ConsumerDesk, backlog: MadeConsumer):
    query = desk.dal.health.get_due(backlog.consumer_id, START, 10_000)
    due = desk.dal.read(desk.dal.reading(deadline()), query)[0][0]
    assert (due.due, due.oldest_due) == (DUE, START)
    assert DUE <= rows_read(desk.dal, query) < 3 * DUE + 10
    assert desk.dal.read(desk.dal.reading(deadline()), desk.dal.health.get_due(backlog.consumer_id, START - timedelta(seconds=1), 10_000))[0][0].due == 0


def test_suspended_instances_are_counted_without_reading_the_others(desk: ConsumerDesk):
    definition = desk.rows.definition()
    desk.rows.many_instances(definition, 20_000)
    for number in range(3):
        desk.rows.instance(definition, external_ref=f"S-{number}", suspended_by=1)
    desk.rows.run("ANALYZE TABLE instance")
    query = desk.dal.health.count_suspended(10_000)
    assert desk.dal.read(desk.dal.reading(deadline()), query)[0][0].count == 3
    assert 3 <= rows_read(desk.dal, query) < 20


@pytest.mark.parametrize("changed", [{"owner": OTHER_ROLE}, {"deleted_id": 77}])
def test_a_registration_stops_where_the_consumer_was_moved_or_deleted_meanwhile(desk: ConsumerDesk, changed: dict[str, object]):
    desk.register(definitions=["a"])
    seen = row_of(desk)
    desk.rows.change("consumer", seen.consumer_id, **changed)
    request = RegisterConsumerRequest(env_code=1, consumer="c1", definitions=("b",), kinds=("hook",))
    registration = registration_of(request, ROLE, ConsumerPlace(env_id=seen.env_id, consumer_id=seen.consumer_id, owner=seen.owner))

    def write(load: DbExecutionLoad) -> None:
        desk.dal.write(load, desk.manager.ensure_consumer_id(registration, seen))

    with desk.dal.begin(deadline()) as load, pytest.raises(DuplicateKeyError):
        write(load)
    assert desk.column("SELECT CONVERT(definition_key USING utf8mb4) FROM subscription") == ["a"]
    assert desk.column("SELECT definitions FROM consumer") == ['["a"]']


def test_the_stop_lets_a_packet_pass_whose_row_is_as_it_should_be(desk: ConsumerDesk):
    desk.register()
    seen = row_of(desk)
    with desk.dal.begin(deadline()) as load:
        assert desk.dal.write(load, [desk.dal.consumer.stop_unless(seen, ROLE)]) == [0]


def test_an_arn_is_not_stored_for_an_endpoint_that_was_changed_meanwhile(desk: ConsumerDesk):
    desk.register()
    seen = row_of(desk)
    desk.rows.change("consumer", seen.consumer_id, endpoint_hash="0" * 64)
    with desk.dal.begin(deadline()) as load:
        assert desk.dal.write(load, [desk.dal.consumer.update_subscription(seen, "arn")]) == [0]


def test_the_lease_is_taken_renewed_refused_and_given_back(desk: ConsumerDesk):
    lease, soon, later = desk.dal.monitor_lease, START + timedelta(seconds=30), START + timedelta(seconds=31)

    def take(owner: str, now, expires_at) -> str | None:
        with desk.dal.begin(deadline()) as load:
            return desk.dal.write(load, [lease.take(owner, now, expires_at), lease.get()])[-1][0].owner

    assert take("a", START, soon) == "a"
    assert take("b", START, soon) == "a"
    assert take("a", soon - timedelta(seconds=1), soon + timedelta(seconds=30)) == "a"
    assert take("b", later, later + timedelta(seconds=30)) == "a"
    with desk.dal.begin(deadline()) as load:
        desk.dal.write(load, [lease.release("b", later)])
    assert take("b", later, later + timedelta(seconds=30)) == "a"
    with desk.dal.begin(deadline()) as load:
        desk.dal.write(load, [lease.release("a", later), lease.note_pass(later)])
    assert take("b", later, later + timedelta(seconds=30)) == "b"
    row = desk.dal.first(desk.dal.reading(deadline()), lease.get())
    assert row is not None
    assert row.last_pass_at == later
    assert take("c", later + timedelta(seconds=30), later + timedelta(seconds=60)) == "c"
