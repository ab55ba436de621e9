"""More due rows than a pass has time for: it stops in time, the next goes on, and no row starves."""

from collections import Counter
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest

from tests.support.engine import START, Workbench
from tests.support.rows import Rows, Sql
from workflow_engine.engine.pass_gate import PAGE_SECONDS
from workflow_engine.options import WorkFlowEngineOptions

DUE = 20_000
PAGE = 200
CONSUMERS = ("busy", "small", "late")


@pytest.fixture
def due(bench: Workbench) -> Workbench:
    """20,000 rows that were due in the last hours: nearly all of one consumer, and a handful of two others, due long after them."""
    rows = Rows(bench.database_url)
    definition = rows.definition("Bulk")
    first = rows.many_instances(definition, DUE)
    ids = {name: rows.consumer(name, is_always_live=1).consumer_id for name in CONSUMERS}
    long_ago = f"DATE_SUB('{START:%Y-%m-%d %H:%M:%S}', INTERVAL {DUE} - n DIV 3 SECOND)"
    rows.many_acks(DUE, instance_id=Sql(f"{first} + n"), consumer_id=ids["busy"], next_due=Sql(long_ago))
    for name in ("small", "late"):
        rows.many_acks(50, instance_id=Sql(f"{first} + n"), consumer_id=ids[name], next_due=START - timedelta(seconds=1))
    rows.close()
    return bench


def sent(bench: Workbench) -> Counter[str]:
    return Counter(message.consumer for message in bench.publisher.messages)


@pytest.mark.scenario(58)
def test_a_pass_stops_in_time_the_next_goes_on_and_no_row_starves(due: Workbench):
    # For some dozen pages of the hundred.
    budget = 0.8
    reports: list[Any] = []
    while not reports or reports[-1].found:
        began = monotonic()
        reports.append(due.engine.run_monitor_once(due.deadline(PAGE_SECONDS + budget)))
        # A page that was begun in time is finished; the rest is left to the next pass.
        assert monotonic() - began < PAGE_SECONDS + budget
        if len(reports) == 1:
            assert 0 < reports[0].sent < DUE
            assert [message.consumer for message in due.publisher.messages[PAGE : PAGE + 100]] == ["small"] * 50 + ["late"] * 50, "one page for each, in turn"
        assert len(reports) < 1_000
    assert len(reports) > 2
    assert sent(due) == {"busy": DUE, "small": 50, "late": 50}
    assert len({(message.consumer, message.ack_id) for message in due.publisher.messages}) == DUE + 100
    assert {message.attempt for message in due.publisher.messages} == {2}
    assert sum(report.sent for report in reports) == DUE + 100
    assert due.count("ack_consumer", f"next_due <= '{START:%Y-%m-%d %H:%M:%S}' OR trigger_count <> 2") == 0


@pytest.mark.scenario(58)
def test_the_longest_due_go_first(due: Workbench):
    due.engine.run_monitor_once(due.deadline(PAGE_SECONDS + 0.4))
    told = {message.ack_id for message in due.publisher.messages if message.consumer == "busy"}
    row = due.sql("SELECT MIN(ack_id) AS first FROM ack_consumer")[0]
    assert told == set(range(row["first"], row["first"] + len(told)))
    assert len(told) % PAGE == 0


@pytest.mark.scenario(58)
def test_one_pass_with_time_enough_sends_all_of_it_in_three_round_trips_a_page(due: Workbench):
    trips = due.dal.round_trips
    report = due.engine.run_monitor_once(due.deadline(120))
    trips = due.dal.round_trips - trips
    pages = DUE // PAGE + 2
    assert (report.found, report.sent, report.given_back, report.noticed) == (DUE + 100, DUE + 100, 0, DUE + 100)
    assert report.oldest_due_seconds > 0
    # The last page of a consumer is found empty by a read; a block of ids serves a dozen pages.
    assert 3 * pages <= trips <= 3 * pages + pages // 10 + 20


@pytest.mark.scenario(58)
def test_pages_of_any_size_come_to_the_same_end(due: Workbench):
    rows = Rows(due.database_url)
    rows.run("DELETE FROM ack_consumer WHERE ack_id MOD 40 <> 0")
    rows.close()
    left = due.count("ack_consumer")
    other = Workbench(due.database_url, WorkFlowEngineOptions(monitor_page_size=7), due.clock)
    assert (other.monitor().sent, other.monitor().sent) == (left, 0)
    other.close()
