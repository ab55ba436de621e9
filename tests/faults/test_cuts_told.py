"""Lost answers told one by one: who was first, who else was there, and when it is enough."""

import time
from collections.abc import Callable

import pytest

from tests.support.facts import Delivery, deliveries, held, steps
from tests.support.invariants import broken
from tests.support.mysql_protocol import Kind
from tests.support.operations import leave, one_held, submitted
from tests.support.wire import Wire, WiredBench, wired
from tests.support.wire_link import Moment
from workflow_engine.errors import ConnectionLostError

EXECUTED = [Moment.AFTER, Moment.MIDDLE, Moment.OVERLAP]
REQUEST_IDS = [{"request_id": "r-2"}, {}]


@pytest.mark.scenario(104)
@pytest.mark.parametrize("moment", [*EXECUTED, Moment.LATE])
@pytest.mark.parametrize("request_id", REQUEST_IDS, ids=["with request_id", "without"])
def test_an_event_that_was_committed_without_an_answer_is_applied_once_and_published(wire: Wire, bench_on_wire: WiredBench, moment: Moment, request_id: dict):
    leave(bench_on_wire)
    wire.cut(moment, Kind.WRITE)
    answer = bench_on_wire.trigger("Submit", **request_id)
    assert wire.is_cut
    assert (answer.applied, answer.replayed, answer.seq, answer.current_state) == (True, False, 1, "Submitted")
    assert steps(bench_on_wire) == [(1, "Draft", 10, "Submitted")]
    assert bench_on_wire.sent() == [(name, 1, kind, 1) for name in ("c1", "c2") for kind in ("transition", "hook", "hook")]
    assert {message.webhook_id for message in bench_on_wire.publisher.messages} == {answer.ack_guid, *answer.hook_ack_guids}
    assert broken(bench_on_wire) == []


@pytest.mark.scenario(104)
@pytest.mark.parametrize("request_id", REQUEST_IDS, ids=["with request_id", "without"])
def test_the_lost_answer_is_still_ours_when_the_instance_has_moved_on_since(wire: Wire, bench_on_wire: WiredBench, request_id: dict):
    leave(bench_on_wire)
    wire.cut(Moment.AFTER, Kind.WRITE, then=past(wire, bench_on_wire, lambda bench: bench.trigger("Approve")))
    answer = bench_on_wire.trigger("Submit", **request_id)
    assert (answer.applied, answer.replayed, answer.seq, answer.to_state, answer.current_state) == (True, False, 1, "Submitted", "Submitted")
    assert steps(bench_on_wire) == [(1, "Draft", 10, "Submitted"), (2, "Submitted", 20, "Approved")]
    assert bench_on_wire.sent("c1") == [("c1", 1, "transition", 1), ("c1", 1, "hook", 1), ("c1", 1, "hook", 1)]


@pytest.mark.scenario(119)
def test_whoever_comes_first_with_the_same_request_id_is_replayed_to_the_one_who_never_arrived(wire: Wire, bench_on_wire: WiredBench):
    leave(bench_on_wire)
    wire.cut(Moment.BEFORE, Kind.WRITE, then=past(wire, bench_on_wire, lambda bench: bench.trigger("Submit", request_id="r-1")))
    answer = bench_on_wire.trigger("Submit", request_id="r-1")
    assert (answer.applied, answer.replayed, answer.seq) == (True, True, 1)
    assert steps(bench_on_wire) == [(1, "Draft", 10, "Submitted")]
    assert [notice.code.value for notice in bench_on_wire.publisher.notices] == ["DUPLICATE_REQUEST"]


@pytest.mark.scenario(119)
def test_an_event_that_never_arrived_is_judged_by_where_the_instance_stands_now(wire: Wire, bench_on_wire: WiredBench):
    submitted(bench_on_wire)
    wire.cut(Moment.BEFORE, Kind.WRITE, then=past(wire, bench_on_wire, lambda bench: bench.trigger("Reject")))
    answer = bench_on_wire.trigger("Approve", request_id="r-2")
    assert (answer.applied, answer.replayed, answer.reason, answer.current_state) == (False, False, "InstanceIsTerminal", "Rejected")
    assert steps(bench_on_wire) == [(1, "Draft", 10, "Submitted"), (2, "Submitted", 30, "Rejected")]


@pytest.mark.scenario(119)
def test_what_a_lost_ack_released_is_not_published_when_the_consumer_has_it_already(wire: Wire, bench_on_wire: WiredBench):
    first = one_held(bench_on_wire)[0]
    bench_on_wire.publisher.messages.clear()

    def processed(bench: WiredBench) -> None:
        guid = bench.sql("SELECT a.guid FROM ack a JOIN lifecycle l ON l.seq = 2 JOIN lc_ack la ON la.lifecycle_id = l.id AND la.ack_id = a.id")[0]["guid"]
        bench.ack(guid, "Processed")

    wire.cut(Moment.AFTER, Kind.WRITE, then=past(wire, bench_on_wire, processed))
    answer = bench_on_wire.ack(first.ack_guid, "Processed")
    assert (answer.result, answer.status, bench_on_wire.sent()) == ("applied", "Processed", [])
    assert [(row.seq, row.status, row.sends) for row in deliveries(bench_on_wire) if row.consumer == "c1"] == [(1, "PROCESSED", 1), (2, "PROCESSED", 1)]


@pytest.mark.scenario(119)
def test_what_a_lost_ack_released_is_not_published_when_the_monitor_has_sent_it(wire: Wire, bench_on_wire: WiredBench):
    first = one_held(bench_on_wire)[0]
    bench_on_wire.publisher.messages.clear()
    sent = []

    def resent(bench: WiredBench) -> None:
        bench.clock.advance(41)
        bench.monitor()
        sent.extend(bench.sent("c1"))

    wire.cut(Moment.AFTER, Kind.WRITE, then=past(wire, bench_on_wire, resent))
    assert bench_on_wire.ack(first.ack_guid, "Processed").result == "applied"
    assert (sent, bench_on_wire.sent()) == ([("c1", 2, "transition", 2)], [])


@pytest.mark.scenario(119)
@pytest.mark.parametrize("moment", EXECUTED)
def test_a_retry_whose_answer_was_lost_counts_once(wire: Wire, bench_on_wire: WiredBench, moment: Moment):
    first = one_held(bench_on_wire)[0]
    wire.cut(moment, Kind.WRITE)
    assert bench_on_wire.ack(first.ack_guid, "Retry", message="busy").result == "applied"
    assert [row for row in deliveries(bench_on_wire) if row.consumer == "c1"] == [
        Delivery(due=45, retries=1, last_retry=5, message="busy"),
        held(seq=2),
    ]


@pytest.mark.scenario(119)
@pytest.mark.parametrize("cuts", [2, 3])
def test_a_unit_survives_several_cuts(wire: Wire, bench_on_wire: WiredBench, cuts: int):
    """The first one hides the commit, the others the reads that look for it."""
    leave(bench_on_wire)
    wire.cut(Moment.AFTER, Kind.WRITE)
    for number in range(1, cuts):
        wire.cut(Moment.AFTER, Kind.READ, nth=number + 1)
    answer = bench_on_wire.trigger("Submit", request_id="r-1")
    assert (answer.applied, answer.replayed, wire.is_cut) == (True, False, True)
    assert (len(bench_on_wire.sent()), bench_on_wire.count("lifecycle")) == (6, 1)


@pytest.mark.scenario(119)
def test_too_many_cuts_are_answered_soon_and_the_same_request_again_is_a_replay(wire: Wire, bench_on_wire: WiredBench):
    submitted(bench_on_wire)
    bench_on_wire.publisher.messages.clear()
    wire.cut(Moment.AFTER, Kind.WRITE)
    for number in range(2, 5):
        wire.cut(Moment.AFTER, Kind.READ, nth=number)
    began = time.monotonic()
    with pytest.raises(ConnectionLostError):
        bench_on_wire.trigger("Approve", request_id="r-2")
    assert time.monotonic() - began < 5
    assert (wire.is_cut, bench_on_wire.sent(), [notice.code.value for notice in bench_on_wire.publisher.notices]) == (True, [], ["TRIGGER_ERROR"])
    answer = bench_on_wire.trigger("Approve", request_id="r-2")
    assert (answer.applied, answer.replayed, answer.seq) == (True, True, 2)
    assert steps(bench_on_wire) == [(1, "Draft", 10, "Submitted"), (2, "Submitted", 20, "Approved")]


@pytest.mark.scenario(104, 119)
@pytest.mark.parametrize("moment", [Moment.BEFORE, Moment.AFTER, Moment.MIDDLE])
def test_a_cold_sandbox_survives_a_cut_at_each_of_its_first_packets(wire: Wire, bench_on_wire: WiredBench, moment: Moment):
    """Logging in, taking ids, looking for the definition and loading it are packets like any other."""
    leave(bench_on_wire)
    found: list[object] = []
    nth = 0
    while not found or wire.is_cut:
        nth += 1
        cold = wired(wire, bench_on_wire.clock)
        wire.cut(moment, nth=nth)
        answer = cold.trigger("Submit", f"R-{nth}", request_id="r-1")
        found.append((answer.applied, answer.replayed, steps(cold, f"R-{nth}"), len(cold.sent()), wire.is_in_transaction))
        cold.close()
    assert nth > 8
    assert found == [(True, False, [(1, "Draft", 10, "Submitted")], 6, False)] * nth
    assert broken(bench_on_wire, []) == []


def past(wire: Wire, bench: WiredBench, act: Callable[[WiredBench], object]) -> Callable[[], None]:
    """Another sandbox does something at the moment of the cut."""

    def then() -> None:
        other = wired(wire, bench.clock)
        try:
            act(other)
        finally:
            other.close()

    return then
