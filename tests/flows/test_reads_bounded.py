"""Reads on filled tables: what the server hands out is counted, so that a page costs the same however much there is."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.reads import Reads
from tests.support.rows import START, MadeDefinition, MadeInstance, Rows, Sql
from workflow_engine.models.enums import AckStatus, GaveUp
from workflow_engine.models.flags import LifeCycleInstanceFlag

MANY = 100_000
# A page of 50 read by its index, its rows shown: 105 to 270, the tables of names by their keys whatever the statistics say of their sizes.
INDEXED = 500
# Filters that no index serves together: windows of 5,000 rows, at most four of them, two ways each.
FILTERED = 45_000
SUSPENDED = int(LifeCycleInstanceFlag.ACTIVE | LifeCycleInstanceFlag.SUSPENDED)


@pytest.fixture
def filled(rows: Rows) -> MadeDefinition:
    """Every 1,000th instance in Review, every 500th suspended, a second version, and a small definition beside."""
    first = rows.definition("L")
    second, small = rows.definition("L", of=first, version=2), rows.definition("Small")
    states = Sql(f"IF(n % 1000 = 0, {first.states['Review']}, {first.states['Submitted']})")
    rows.many_instances(first, MANY, current_state=states, flags=Sql(f"IF(n % 500 = 1, {SUSPENDED}, 1)"))
    rows.many_instances(second, 1_000, current_state=second.states["Submitted"], external_ref=Sql("CONCAT('V-', n)"))
    rows.many_instances(small, 100)
    return first


FILTERS: tuple[tuple[dict[str, Any], int, int], ...] = (
    ({}, INDEXED, 50),
    ({"env_code": 1}, INDEXED, 50),
    ({"def_name": "L"}, INDEXED, 50),
    ({"def_name": "Small"}, INDEXED, 50),
    ({"state": "Submitted"}, INDEXED, 50),
    ({"def_name": "L", "state": "Review"}, INDEXED, 50),
    ({"status": "Suspended"}, INDEXED, 50),
    ({"env_code": 1, "def_name": "L", "status": "Active"}, INDEXED, 50),
    ({"status": "Failed"}, INDEXED, 0),
    ({"external_ref": "R-77"}, INDEXED, 2),
    ({"external_ref": "R-77", "state": "Review", "status": "Failed"}, INDEXED, 0),
    ({"external_ref_prefix": "R-7777"}, INDEXED, 11),
    ({"older_than_seconds": 3_600}, INDEXED, 50),
    ({"older_than_seconds": 3_600, "def_name": "L", "status": "Active"}, INDEXED, 50),
    ({"state": "Submitted", "status": "Active"}, FILTERED, 50),
    ({"state": "Submitted", "status": "Suspended"}, FILTERED, 50),
    ({"state": "Review", "status": "Suspended"}, FILTERED, 0),
    ({"state": "Submitted", "status": "Completed"}, FILTERED, 0),
    ({"external_ref_prefix": "R-"}, FILTERED, 50),
    ({"external_ref_prefix": "R-7", "status": "Suspended"}, FILTERED, 22),
    ({"external_ref_prefix": "V-", "state": "Submitted"}, FILTERED, 50),
    ({"external_ref_prefix": "R-", "state": "Review", "status": "Failed"}, FILTERED, 0),
)


@pytest.mark.usefixtures("filled")
def test_no_page_of_the_list_reads_the_table_whatever_the_filters(reads: Reads) -> None:
    reads.clock.at = START + timedelta(seconds=MANY)
    for filters, most_rows, found in FILTERS:
        read = reads.rows_read(lambda chosen=filters: reads.instances(**chosen))
        assert read <= most_rows, f"{filters} read {read} rows"
        assert len(reads.instances(**filters).items) == found, filters


@pytest.mark.usefixtures("filled")
def test_pages_deep_in_the_list_cost_what_the_first_one_costs_and_show_every_row_once(rows: Rows, reads: Reads) -> None:
    for filters, most_rows in (({"def_name": "L"}, INDEXED), ({"state": "Submitted"}, INDEXED), ({"external_ref_prefix": "R-9"}, FILTERED)):
        page = reads.instances(**filters, limit=200)
        for _ in range(5):
            page = reads.instances(**filters, limit=200, cursor=page.cursor)
        read = reads.rows_read(lambda chosen=filters, cursor=page.cursor: reads.instances(**chosen, cursor=cursor))
        assert read <= most_rows, f"{filters} read {read} rows"
    wanted = rows.run("SELECT id FROM instance WHERE external_ref LIKE 'R-1%' ORDER BY created DESC, id DESC")
    assert reads.all_instances(external_ref_prefix="R-1", limit=200) == [row[0] for row in wanted]


@pytest.fixture
def piled_up(rows: Rows) -> MadeInstance:
    """Three lanes with a pending event and 100,000 held ones each, as many delivered and given up ones, among sixty other consumers."""
    instance = rows.instance(rows.definition())
    rows.step(instance)
    consumers = [rows.consumer(name) for name in ("c1", "c2", "c3")]
    rows.ack(instance, consumers, next_due=START)
    for consumer in consumers:
        lane = {"instance_id": instance.instance_id, "consumer_id": consumer.consumer_id, "seq": Sql("n + 2")}
        rows.many_acks(MANY, status=int(AckStatus.HELD), trigger_count=0, **lane)
    rows.many_acks(MANY, instance_id=instance.instance_id, consumer_id=consumers[0].consumer_id, status=int(AckStatus.DELIVERED))
    rows.many_acks(
        MANY, instance_id=instance.instance_id, consumer_id=consumers[1].consumer_id, status=int(AckStatus.FAILED), gave_up=int(GaveUp.SKIP), seq=Sql("n + 2")
    )
    for number in range(60):
        rows.consumer(f"other {number}")
    return instance


def test_why_and_timeline_read_little_of_an_instance_that_has_piled_up_half_a_million_rows(piled_up: MadeInstance, reads: Reads) -> None:
    assert reads.rows_read(lambda: reads.timeline(piled_up.guid)) <= 200
    assert reads.rows_read(lambda: reads.why(piled_up.guid)) <= 4_000
    why = reads.why(piled_up.guid)
    assert len(why.open) <= 100
    assert len(why.held) <= 100
    assert {ack.consumer for ack in why.held} == {"c1", "c2", "c3"}
    assert why.held[0].seq == 2
    assert why.summary.startswith(
        "It waits for c1, c2 and c3 to acknowledge step 1 (sent 1 time, due at 2026-01-01T12:00:00.000000Z), with 33 or more later events held"
    )
