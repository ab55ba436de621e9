"""Round trips counted on the wire, COMMIT included; the figures are shown at the end of the run."""

from collections.abc import Callable, Generator

import pytest

from tests.support.documents import definition_l, policy_l
from tests.support.engine import Workbench
from tests.support.wire import Wire, wired
from workflow_engine.models.trigger import LifeCycleTriggerResult

# The contract for a trigger and for an ack; ours needs one less.
AT_MOST, OURS = 3, 2
HOOKS = [{"route": f"APP.LEAVE.{name}"} for name in ("CHECK", "DECIDE", "TELL")]

FAN_OUTS = {"0 hooks, 1 consumer": (0, 1), "3 hooks, 2 consumers": (3, 2)}

Note = Callable[[str, int], None]


@pytest.fixture
def note(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Note:
    """Write a figure down; where the test runs for several fan-outs, in the column of this one."""
    column = request.getfixturevalue("width") if "width" in request.fixturenames else ""

    def write(what: str, count: int) -> None:
        print(f"{what:<52}{column:<22}{count:>3}")  # noqa: T201  # for those who run it with -s
        record_property("round trips", [what, column, count])

    return write


@pytest.fixture(params=FAN_OUTS)
def width(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def fan_out(width: str) -> tuple[int, int]:
    return FAN_OUTS[width]


@pytest.fixture
def warm(wire: Wire, fan_out: tuple[int, int]) -> Generator[Workbench]:
    """An engine that has served before: connected, with ids in hand, the blueprint loaded and a consumer's name known."""
    hooks, consumers = fan_out
    bench = wired(wire)
    bench.import_(definition_l(), policy_l(rules=[{"state": "Submitted", "emit": HOOKS[:hooks]}]))
    for number in range(consumers):
        bench.register(f"c{number + 1}")
    bench.ack(bench.trigger("Submit", "WARM", request_id="warm").ack_guid, "Processed")
    yield bench
    bench.close()


def first(bench: Workbench) -> LifeCycleTriggerResult:
    return bench.trigger("Submit", request_id="r-1")


def nothing(_bench: Workbench) -> None:
    """The instance is new."""


TRIGGERS = {
    "new instance": (nothing, first, (True, False, None)),
    "existing instance": (first, lambda bench: bench.trigger("Approve", request_id="r-2"), (True, False, None)),
    "replay": (first, first, (True, True, None)),
    "refusal": (first, lambda bench: bench.trigger("Submit", request_id="r-2"), (False, False, "NoOpAlreadyInState")),
    "refusal, new instance": (nothing, lambda bench: bench.trigger("Approve", request_id="r-1"), (False, False, "InvalidTransition")),
    "replay of a refusal": (
        lambda bench: bench.trigger(20, request_id="r-1"),
        lambda bench: bench.trigger(20, request_id="r-1"),
        (False, True, "InvalidTransition"),
    ),
    "without request_id": (first, lambda bench: bench.trigger("Approve"), (True, False, None)),
    "without acks": (first, lambda bench: bench.trigger("Approve", request_id="r-2", ack_required=False), (True, False, None)),
}


@pytest.mark.scenario(37)
@pytest.mark.parametrize("case", TRIGGERS)
def test_a_trigger_on_a_warm_connection_takes_two_round_trips(wire: Wire, warm: Workbench, case: str, note: Note):
    before, act, expected = TRIGGERS[case]
    before(warm)
    with wire.counting() as trips:
        answer = act(warm)
    note(f"trigger, {case}", len(trips))
    assert (answer.applied, answer.replayed, answer.reason) == expected
    assert len(trips) <= AT_MOST
    assert [trip.kind.value for trip in trips] == ["read", "write"]


@pytest.mark.scenario(37)
def test_a_trigger_by_instance_guid_takes_two_round_trips(wire: Wire, warm: Workbench, note: Note):
    guid = first(warm).instance_guid
    with wire.counting() as trips:
        answer = warm.trigger("Approve", instance_guid=guid, request_id="r-2")
    note("trigger, by instance_guid", len(trips))
    assert (answer.applied, len(trips)) == (True, OURS)


@pytest.mark.parametrize("outcome", ["Delivered", "Processed", "Failed"])
def test_an_ack_that_releases_the_next_event_takes_two_round_trips(wire: Wire, warm: Workbench, fan_out: tuple[int, int], outcome: str, note: Note):
    guids = [*(submitted := first(warm)).hook_ack_guids, submitted.ack_guid]
    assert warm.trigger("Approve").applied
    for guid in guids[:-1]:
        warm.ack(guid, "Processed")
    held = warm.count("ack_consumer", "status = 0")
    with wire.counting() as trips:
        answer = warm.ack(guids[-1], outcome)
    note(f"ack {outcome} with release of the next event", len(trips))
    assert (answer.result, answer.status, warm.sent("c1")[-1]) == ("applied", outcome, ("c1", 2, "transition", 1))
    assert (held, warm.count("ack_consumer", "status = 0")) == (fan_out[1], fan_out[1] - 1)
    assert len(trips) <= AT_MOST
    assert [trip.kind.value for trip in trips] == ["read", "write"]


def test_an_ack_that_changes_nothing_takes_no_more(wire: Wire, warm: Workbench, note: Note):
    guid = first(warm).ack_guid
    warm.ack(guid, "Processed")
    with wire.counting() as repeated:
        assert warm.ack(guid, "Processed").result == "unchanged"
    with wire.counting() as contradicted:
        assert warm.ack(guid, "Failed").result == "stale"
    other = warm.trigger("Submit", "R-2").ack_guid
    with wire.counting() as retried:
        assert warm.ack(other, "Retry").result == "applied"
    counts = (len(repeated), len(contradicted), len(retried))
    note("ack repeated (read, ROLLBACK)", counts[0])
    note("ack Retry", counts[2])
    assert counts == (OURS, OURS, OURS)


def test_a_batch_of_acks_takes_one_more_whatever_its_size(wire: Wire, warm: Workbench, note: Note):
    guids = [warm.trigger("Submit", f"B-{number}").ack_guid for number in range(20)]
    with wire.counting() as trips:
        answers = warm.ack_batch([{"ack_guid": guid, "outcome": "Processed"} for guid in guids])
    note("ack, batch of 20 over 20 instances", len(trips))
    assert {answer.result for answer in answers} == {"applied"}
    assert len(trips) == OURS + 1


def test_a_heartbeat_takes_one_round_trip(wire: Wire, warm: Workbench, fan_out: tuple[int, int], note: Note):
    first(warm)
    with wire.counting() as trips:
        beat = warm.beat()
    note("heartbeat", len(trips))
    assert beat.pending == 1 + 2 * fan_out[0]
    assert len(trips) <= 2
    assert len(trips) == 1


def due_rows(bench: Workbench, count: int) -> list[str | None]:
    """Raise events that nobody acknowledges, until they are due."""
    guids = [bench.trigger("Submit", f"{bench.clock.now()}-{number}").ack_guid for number in range(count)]
    bench.clock.advance(41)
    return guids


def test_a_monitor_pass_takes_a_fixed_number_and_three_per_page(wire: Wire, note: Note):
    bench = wired(wire, monitor_page_size=2)
    bench.import_(definition_l())
    bench.register()
    due_rows(bench, 1)
    bench.monitor()
    counts, sent = [], []
    for pages in range(5):
        # The last page is not full, so nobody asks for one more.
        due_rows(bench, max(0, 2 * pages - 1))
        with wire.counting() as trips:
            report = bench.monitor()
        bench.process_all("c1")
        counts.append(len(trips))
        sent.append(report.sent)
        note(f"monitor pass, {pages} pages due", len(trips))
    bench.close()
    assert sent == [0, 1, 3, 5, 7]
    assert counts == [counts[0] + 3 * pages for pages in range(5)]


def test_a_monitor_page_with_a_hundred_rows_takes_no_more_than_one_with_two(wire: Wire, note: Note):
    bench = wired(wire)
    bench.import_(definition_l())
    bench.register()
    counts = []
    for rows in (2, 2, 99):
        guids = due_rows(bench, rows)
        with wire.counting() as trips:
            assert bench.monitor().sent == rows
        bench.ack_batch([{"ack_guid": guid, "outcome": "Processed"} for guid in guids])
        counts.append(len(trips))
        note(f"monitor pass, one page of {rows} rows", len(trips))
    bench.close()
    assert counts[1] == counts[2]


def test_timeouts_take_three_per_page(wire: Wire, note: Note):
    bench = wired(wire)
    bench.import_(definition_l())
    bench.register()
    counts = []
    for number in (0, 1, 1, 20):
        for ref in range(number):
            bench.trigger("Submit", f"T-{number}-{len(counts)}-{ref}")
            bench.trigger(40, f"T-{number}-{len(counts)}-{ref}")
        bench.process_all("c1")
        bench.clock.advance(minutes=61)
        with wire.counting() as trips:
            assert bench.monitor().timed_out == number
        bench.process_all("c1")
        counts.append(len(trips))
    note("monitor pass, one page of 20 timeouts", counts[3])
    bench.close()
    # The first page of all loads the blueprint.
    assert counts[2] == counts[3]
    assert counts[3] <= counts[0] + 3
