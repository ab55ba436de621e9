"""Health: its numbers, and when it is bad."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.consumers import OPTIONS, ConsumerDesk, deadline
from tests.support.engine import START
from tests.support.rows import Sql
from workflow_engine.adapters.database import url_target
from workflow_engine.dal import Db, WorkFlowDAL
from workflow_engine.engine.health import HealthReader
from workflow_engine.models.enums import AckStatus, SuspendedBy
from workflow_engine.models.health import ConsumerCounts, HealthView


def note_pass(desk: ConsumerDesk) -> None:
    with desk.dal.begin(deadline()) as load:
        desk.dal.write(load, [desk.dal.monitor_lease.note_pass(desk.clock.real_now())])


def test_an_empty_database_is_healthy(desk: ConsumerDesk):
    assert desk.health() == HealthView(
        healthy=True,
        database=True,
        monitor_age_seconds=None,
        due=0,
        oldest_due_seconds=None,
        suspended=0,
        consumers=ConsumerCounts(total=0, alive=0, down=0),
    )


@pytest.mark.scenario(88)
def test_health_numbers_equal_a_recount_from_the_tables(desk: ConsumerDesk):
    rows = desk.rows
    long_ago = START - timedelta(hours=2)
    consumers = [rows.consumer("alive"), rows.consumer("down", last_beat=long_ago), rows.consumer("always", last_beat=long_ago, is_always_live=1)]
    consumers += [
        rows.consumer("promised", last_beat=START - timedelta(seconds=90), beat_seconds=30),
        rows.consumer("late", last_beat=long_ago, beat_seconds=60),
    ]
    closing = rows.consumer("closing", deleted_id=5, closed_ack_id=0)
    rows.consumer("gone", deleted_id=6)
    definition = rows.definition(env_code=5)
    instance_id = rows.instance(definition).instance_id
    for number, consumer in enumerate([*consumers, closing]):
        fields: dict[str, Any] = {"instance_id": instance_id, "consumer_id": consumer.consumer_id}
        times = f"DATE_ADD('{START:%Y-%m-%d %H:%M:%S}', INTERVAL {number} - n MINUTE)"
        rows.many_acks(20 + number, **fields, next_due=Sql(times))
        rows.many_acks(5, **fields, next_due=None, status=int(AckStatus.HELD))
    for number in range(4):
        rows.instance(definition, external_ref=f"S-{number}", suspended_by=int(SuspendedBy.ENGINE if number % 2 else SuspendedBy.OPERATOR))
    note_pass(desk)
    desk.clock.advance(7)
    due, oldest = rows.run(f"SELECT COUNT(*), MIN(next_due) FROM ack_consumer WHERE next_due <= '{desk.clock.at:%Y-%m-%d %H:%M:%S}'")[0]
    assert desk.health() == HealthView(
        healthy=True,
        database=True,
        monitor_age_seconds=7,
        due=due,
        oldest_due_seconds=int((desk.clock.at.replace(tzinfo=None) - oldest).total_seconds()),
        suspended=desk.column("SELECT COUNT(*) FROM instance WHERE suspended_by IS NOT NULL")[0],
        consumers=ConsumerCounts(total=5, alive=2, down=3),
    )
    assert desk.page().items
    assert sum(item.alive for item in desk.page().items) == 2


def test_a_monitor_that_has_not_run_for_three_minutes_is_unhealthy_while_it_is_enabled(desk: ConsumerDesk):
    note_pass(desk)
    for seconds, healthy in ((180, True), (1, False)):
        desk.clock.advance(seconds)
        assert desk.health().healthy is healthy
        assert desk.health(is_monitor_enabled=False).healthy
    assert desk.health().monitor_age_seconds == 181
    note_pass(desk)
    assert desk.health().healthy


def test_a_backlog_is_counted_to_ten_thousand_a_consumer(desk: ConsumerDesk):
    instance_id = desk.rows.instance(desk.rows.definition(env_code=5)).instance_id
    for name in ("c1", "c2"):
        consumer = desk.rows.consumer(name)
        desk.rows.many_acks(10_500, instance_id=instance_id, consumer_id=consumer.consumer_id, next_due=Sql(f"DATE_SUB('{START:%Y-%m-%d}', INTERVAL n SECOND)"))
    health = desk.health()
    assert health.due == 20_000
    assert health.oldest_due_seconds == 10_499 + 12 * 3600


def test_health_takes_two_round_trips_however_many_consumers_there_are(desk: ConsumerDesk):
    for number in range(30):
        desk.rows.consumer(f"c{number}")
    desk.health()
    before = desk.dal.round_trips
    assert desk.health().consumers.total == 30
    assert desk.dal.round_trips - before == 2


@pytest.mark.scenario(88)
def test_a_database_that_does_not_answer_is_unhealthy(desk: ConsumerDesk):
    # Nobody listens on the discard port.
    dal = WorkFlowDAL(Db(url_target("mysql://nobody:x@127.0.0.1:9/none")))
    reader = HealthReader(dal, desk.clock, OPTIONS, is_monitor_enabled=True)
    nothing = ConsumerCounts(total=None, alive=None, down=None)
    assert reader.get_health(deadline()) == HealthView(
        healthy=False, database=False, monitor_age_seconds=None, due=None, oldest_due_seconds=None, suspended=None, consumers=nothing
    )


@pytest.mark.scenario(88)
def test_a_database_without_its_schema_is_unhealthy(desk: ConsumerDesk, database_url: str):
    bare = WorkFlowDAL(Db(url_target(database_url.rsplit("/", 1)[0] + "/information_schema")))
    health = HealthReader(bare, desk.clock, OPTIONS, is_monitor_enabled=True).get_health(deadline())
    bare.close()
    assert (health.healthy, health.database) == (False, False)
