"""What the monitor, a trigger and an ack read on a filled database, by the server's own count of rows, not by the plan it names."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from local.database import DatabaseServer
from tests.support.counting_db import Cost, CountingBench
from tests.support.engine import PRINCIPAL, SQL_FOLDER, START
from tests.support.filled import LONG_AGO, Filled, Filling, Place, Size
from tests.support.server import create_database, drop_database
from workflow_engine.adapters.database import url_target
from workflow_engine.dal.migrator import apply_migrations
from workflow_engine.models.admin import AdminRequest
from workflow_engine.models.monitor import MonitorReport

LARGE = Size(instances=100_000, held=100_000, suspended=1_000, down=100_000, gone=1_000)
# With fresh statistics, which the large one does not have: what is read depends on neither.
SMALL = Size(instances=100, held=100, suspended=100, down=100, gone=100, is_analyzed=True)
PLACES = ("R-4", "LANE", "SUSPENDED")
PAGE = 200
LISTENERS = 14
# The first statement on a table makes MySQL read its dictionary.
FIRST_USE = 60
# Rows read by one statement at most, whatever lies in the tables: for a page of 200, and for the 14 consumers that are registered.
BUDGETS = {
    # What is due, and under its locks once more.
    "QRY_INSTANCE.LIST_DUE_PAGED": 3 * PAGE + 2,
    "QRY_INSTANCE.LIST_UNLOCKED_BY_IDS": PAGE,
    "QRY_INSTANCE.LIST_LOCKED_BY_IDS": PAGE,
    "QRY_INSTANCE.LIST_EXISTING": PAGE,
    "QRY_ACK_CONSUMER.GET_OLDEST_DUE": 1,
    "QRY_ACK_CONSUMER.LIST_DUE_PAGED": PAGE + 1,
    "QRY_ACK_CONSUMER.LIST_DUE_OF_PAGE": 8 * PAGE,
    "QRY_ACK.LIST_BODIES_BY_IDS": 6 * PAGE,
    # Who listens, per instance; what became of the present stay's acks, per instance.
    "QRY_DISPATCH.LIST_CONSUMERS": 4 * LISTENERS,
    "QRY_DISPATCH.LIST_SUBSCRIBERS_BY_GUID": 10 * LISTENERS,
    "QRY_DUE.LIST_LAST_STEPS": 2 * PAGE,
    "QRY_DUE.LIST_STAY_ACKS": 8 * LISTENERS,
    "QRY_LC_TIMEOUT.GET_FIRINGS": 2,
    # Giving up: the lane of 100,000 held rows, the instance with all its rows.
    "QRY_ACK_CONSUMER.LIST_LANE_BY_STATUS": 6,
    "QRY_ACK_CONSUMER.LIST_LOWEST_HELD": 6,
    "QRY_ACK_CONSUMER.LIST_BY_INSTANCE_AND_STATUS": 6,
    # Closing what a deleted consumer left.
    "QRY_DUE.LIST_DUE_OF_DELETED": PAGE + 2,
    "QRY_DUE.LIST_OTHERS_OF_DELETED": PAGE + 2,
    "QRY_DUE.LIST_BY_ACK_IDS": 2 * PAGE,
    # A trigger's own.
    "QRY_INSTANCE.GET_LOCKED_BY_REF": 1,
    "QRY_DISPATCH.LIST_SUBSCRIBERS_BY_REF": 10 * LISTENERS,
    "QRY_REQUEST_LOG.GET_BY_REF": 2,
    "QRY_BLUEPRINT.GET_LATEST": 3,
    "QRY_LIFECYCLE.GET_STAMP": 1,
}
TRIGGER_ONLY = {name for name in BUDGETS if "_BY_REF" in name} | {"QRY_BLUEPRINT.GET_LATEST", "QRY_LIFECYCLE.GET_STAMP"}


@dataclass(slots=True)
class Measured:
    """The same things done in one database."""

    report: MonitorReport = field(default_factory=MonitorReport)
    costs: dict[str, list[Cost]] = field(default_factory=dict)
    # Rows of the consumer that is down which a pass has touched.
    touched: int = -1

    def reads(self, name: str) -> list[tuple[str, int]]:
        return [(cost.name, cost.read) for cost in self.costs[name]]


class Measuring:
    def __init__(self, bench: CountingBench, filled: Filled) -> None:
        self._bench = bench
        self._filled = filled
        self._done = Measured()

    def measure(self) -> Measured:
        """Everything that is compared is done once before it is counted: the first statement on a table costs the server reads of its own."""
        bench, places = self._bench, (self._filled.usual, self._filled.long_lane, self._filled.suspended)
        bench.clock.at = LONG_AGO
        bench.monitor()
        self._count("nothing due", bench.monitor)
        bench.clock.at = START
        for place in places:
            self._use(place, "warm")
        for place in places:
            self._count(f"trigger {place.external_ref}", lambda place=place: bench.trigger(10, place.external_ref, request_id="counted"))
            self._count(f"ack {place.external_ref}", lambda place=place: bench.ack(place.ack_guid, "Processed", place.consumer))
        bench.engine.delete_consumer(1, "gone", PRINCIPAL, bench.deadline())
        bench.publisher.refuse = lambda message: message.consumer == "c3"
        self._count("pass", lambda: setattr(self._done, "report", bench.engine.run_monitor_once(bench.deadline(600))))
        bench.publisher.refuse = lambda _message: False
        self._give_up("skip", 3)
        self._give_up("suspend", 1)
        guid = bench.sql("SELECT guid FROM instance WHERE external_ref = 'LANE'")[0]["guid"]
        self._count("resume", lambda: bench.engine.resume_instance(guid, AdminRequest(reason="go on"), PRINCIPAL, bench.deadline()))
        self._done.touched = bench.count("ack_consumer", "consumer_id = (SELECT id FROM consumer WHERE consumer_guid = 'down') AND modified <> created")
        return self._done

    def _use(self, place: Place, request_id: str) -> None:
        self._bench.trigger(10, place.external_ref, request_id=request_id)
        self._bench.ack(place.ack_guid, "Delivered", place.consumer)

    def _give_up(self, name: str, on_exhausted: int) -> None:
        """The open row of the long lane is at its limit, and due."""
        bench = self._bench
        bench.sql(f"UPDATE consumer SET on_exhausted = {on_exhausted} WHERE consumer_guid = 'slow'")
        bench.sql(
            f"UPDATE ack_consumer SET trigger_count = 99, next_due = '{START - timedelta(days=1):%Y-%m-%d}' "
            "WHERE status = 1 AND consumer_id = (SELECT id FROM consumer WHERE consumer_guid = 'slow') "
            "AND instance_id = (SELECT id FROM instance WHERE external_ref = 'LANE')"
        )
        self._count(name, bench.monitor)

    def _count(self, name: str, call: Callable[[], Any]) -> None:
        with self._bench.db.counting() as costs:
            call()
        self._done.costs[name] = costs


@contextmanager
def measured(server_url: str, size: Size) -> Generator[Measured]:
    url = create_database(server_url)
    try:
        apply_migrations(url_target(url), SQL_FOLDER)
        bench = CountingBench(url)
        yield Measuring(bench, Filling(bench, size).fill()).measure()
        bench.close()
    finally:
        drop_database(url)


@pytest.fixture(scope="module")
def large(database_server: DatabaseServer) -> Generator[Measured]:
    """100,000 instances, 1,000,000 open ack rows, one in a hundred due; one lane of 100,000 held rows, 100,000 rows of a consumer that is down."""
    with measured(database_server.url, LARGE) as done:
        yield done


@pytest.fixture(scope="module")
def small(database_server: DatabaseServer) -> Generator[Measured]:
    """The same with 1,000 ack rows, and a hundred where the other has a hundred thousand."""
    with measured(database_server.url, SMALL) as done:
        yield done


def over_budget(costs: list[Cost]) -> list[Cost]:
    """Reads beyond what their statement may take; changes may read what they change and the rows that its keys point to."""
    found: list[Cost] = []
    used: set[str] = set()
    for cost in costs:
        budget = BUDGETS.get(cost.name, 3 * max(1, cost.returned))
        if cost.read > budget + (0 if cost.name in used else FIRST_USE):
            found.append(cost)
        used.add(cost.name)
    return found


@pytest.mark.scenario(107)
def test_a_pass_with_nothing_due_reads_the_same_on_a_thousand_rows_and_on_a_million(large: Measured, small: Measured):
    assert large.reads("nothing due") == small.reads("nothing due")
    assert sum(read for _, read in large.reads("nothing due")) < 5 * LISTENERS


@pytest.mark.scenario(107)
@pytest.mark.parametrize("place", PLACES)
def test_a_trigger_reads_the_same_however_long_the_lanes_are(large: Measured, small: Measured, place: str):
    assert large.reads(f"trigger {place}") == small.reads(f"trigger {place}")
    assert over_budget(large.costs[f"trigger {place}"]) == []


@pytest.mark.scenario(107)
@pytest.mark.parametrize("place", PLACES)
def test_an_ack_reads_the_same_however_long_the_lanes_are(large: Measured, small: Measured, place: str):
    assert large.reads(f"ack {place}") == small.reads(f"ack {place}")
    assert sum(read for _, read in large.reads(f"ack {place}")) < 30


@pytest.mark.scenario(107)
@pytest.mark.parametrize("what", ["skip", "suspend", "resume"])
def test_giving_up_and_resuming_read_the_same_however_long_the_lane_is(large: Measured, small: Measured, what: str):
    assert large.reads(what) == small.reads(what)


@pytest.mark.scenario(107)
@pytest.mark.parametrize("what", ["pass", "skip", "suspend"])
def test_every_statement_of_the_monitor_keeps_to_its_budget(large: Measured, what: str):
    assert over_budget(large.costs[what]) == []


def test_every_read_of_the_monitor_has_a_budget_and_was_counted(large: Measured):
    ran = {cost.name for what in ("pass", "skip", "suspend") for cost in large.costs[what]}
    reads = {name for name in ran if ".LIST_" in name or ".GET_" in name} - {"QRY_ID_BLOCK.GET_NEXT"}
    assert reads == {name for name in BUDGETS if name not in TRIGGER_ONLY}


@pytest.mark.scenario(50, 107)
def test_the_pass_did_all_that_was_due_and_touched_no_row_of_the_consumer_that_is_down(large: Measured):
    due = [cost.returned for cost in large.costs["pass"] if cost.name == "QRY_ACK_CONSUMER.LIST_DUE_PAGED"]
    looked_for = [cost for cost in large.costs["pass"] if cost.name == "QRY_ACK_CONSUMER.GET_OLDEST_DUE"]
    # Ten in a thousand of each of ten consumers, five hundred timeouts, five hundred stale states and the long lane's.
    assert (sum(due), large.report.found, large.report.timed_out, large.report.closed) == (10_000, 11_001, 500, 500)
    assert (large.touched, len(looked_for)) == (0, LISTENERS - 2)
