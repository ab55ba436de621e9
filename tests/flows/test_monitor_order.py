"""Pass B and the order of events: who is down gets its backlog in order, and no page or kill puts a hook before its transition."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from tests.support.dying import DyingPublisher, dying, is_killed
from tests.support.engine import START, Workbench
from tests.support.facts import Delivery, codes, deliveries, everything, held, lost_in_lanes, waiting
from tests.support.scenes import definition_lamp, lamp, leave, policy_lamp
from workflow_engine.models.events import WorkMessage

Bench = Callable[..., Workbench]
ROUTES = ("APP.FIRST", "APP.SECOND", "APP.THIRD")
REFS = tuple(f"R-{number}" for number in range(4))


def lamp_and_sleeper(bench: Workbench) -> None:
    """c2 promised a beat every ten seconds and gives none: after half a minute it is down."""
    bench.import_(definition_lamp())
    bench.register("c2", beat_seconds=10)
    bench.clock.advance(31)


def switch(bench: Workbench, times: int) -> None:
    for number in range(times):
        bench.trigger(1 + number % 2, def_name="Lamp")


def glow(bench: Workbench) -> None:
    """Every lamp that goes on has three hooks."""
    rule = {"state": "On", "emit": [{"route": route} for route in ROUTES]}
    bench.import_(definition_lamp(), policy_lamp([rule]))
    bench.register("c1")


def lanes(messages: Sequence[WorkMessage]) -> dict[int, list[str]]:
    """What arrived of every instance, first arrivals only: "transition", then routes."""
    arrived: dict[int, list[str]] = {}
    for message in messages:
        words = arrived.setdefault(message.instance_id, [])
        word = message.route or "transition"
        if word not in words:
            words.append(word)
    return arrived


@pytest.mark.scenario(50)
def test_a_consumer_that_is_down_is_not_sent_to_and_loses_no_attempt(bench: Workbench):
    bench.import_(definition_lamp())
    bench.register("c2", beat_seconds=10)
    switch(bench, 1)
    before = everything(bench)
    for _ in range(60):
        bench.clock.advance(60)
        assert bench.monitor().found == 0
    assert (everything(bench), bench.sent(), codes(bench)) == (before, [("c2", 1, "transition", 1)], [])
    bench.beat("c2")
    report = bench.monitor()
    assert (report.found, report.sent) == (1, 1)
    assert [(row.attempts, row.sends) for row in deliveries(bench)] == [(2, 2)]


@pytest.mark.scenario(50)
@pytest.mark.parametrize(("promise", "alive"), [({"beat_seconds": 20}, 60), ({}, 30)])
def test_a_consumer_counts_as_down_a_moment_after_its_last_beat_is_too_old(bench: Workbench, promise: dict[str, int], alive: int):
    leave(bench, "always")
    bench.sql("UPDATE consumer SET is_always_live = 0 WHERE consumer_guid = 'always'")
    if promise:
        bench.register("always", **promise)
    bench.trigger("Submit")
    bench.sql(f"UPDATE ack_consumer SET next_due = '{START:%Y-%m-%d %H:%M:%S}'")
    bench.clock.advance(alive + 1)
    assert bench.monitor().sent == 0
    bench.clock.advance(-1)
    assert bench.monitor().sent == 1


@pytest.mark.scenario(95)
def test_an_event_for_a_consumer_that_is_down_waits_unsent_until_its_next_beat(bench: Workbench):
    lamp_and_sleeper(bench)
    switch(bench, 1)
    assert (deliveries(bench), bench.sent()) == ([waiting(consumer="c2", due=31)], [])
    bench.clock.advance(days=5)
    bench.monitor()
    assert (deliveries(bench), bench.sent()) == ([waiting(consumer="c2", due=31)], [])
    bench.beat("c2")
    bench.monitor()
    now = (bench.clock.at - START).total_seconds()
    assert deliveries(bench) == [Delivery(consumer="c2", due=now + 40, first_sent=now, last_retry=now)]
    assert bench.sent() == [("c2", 1, "transition", 1)]
    assert "ACK_RETRY" not in codes(bench)


@pytest.mark.scenario(51)
@pytest.mark.parametrize("outcome", ["Delivered", "Processed"])
def test_a_backlog_of_five_steps_goes_out_in_their_order(bench: Workbench, outcome: str):
    lamp_and_sleeper(bench)
    switch(bench, 5)
    assert deliveries(bench) == [waiting(consumer="c2", due=31), *(held(consumer="c2", seq=seq) for seq in range(2, 6))]
    bench.clock.advance(hours=3)
    bench.beat("c2")
    bench.monitor()
    assert bench.process_all("c2", outcome=outcome) == 5
    assert bench.sent() == [("c2", seq, "transition", 1) for seq in range(1, 6)]
    assert (lost_in_lanes(bench), [body["seq"] for body in bench.bodies()]) == ([], [1, 2, 3, 4, 5])


@pytest.mark.scenario(51)
def test_a_backlog_whose_due_times_are_reversed_goes_out_in_the_order_of_its_steps(bench: Workbench):
    lamp(bench, "c2")
    guids = [bench.trigger(1 + number % 2, def_name="Lamp").ack_guid for number in range(5)]
    for guid in guids:
        bench.ack(guid, "Delivered", "c2")
    for number, guid in enumerate(guids):
        bench.ack(guid, "Retry", "c2", retry_at=(START + timedelta(seconds=100 - 10 * number)).isoformat())
    assert [row.due for row in deliveries(bench)] == [100, 90, 80, 70, 60]
    bench.publisher.messages.clear()
    bench.clock.advance(101)
    bench.monitor()
    assert bench.sent() == [("c2", seq, "transition", 2) for seq in range(1, 6)]


@pytest.mark.scenario(51)
def test_backlogs_of_several_instances_and_consumers_come_lane_by_lane(bench: Workbench):
    bench.import_(definition_lamp())
    for consumer in ("c1", "c2"):
        bench.register(consumer, beat_seconds=10)
    bench.clock.advance(31)
    for event in (1, 2, 1):
        for ref in REFS:
            bench.trigger(event, ref, "Lamp")
    for consumer in ("c1", "c2"):
        bench.beat(consumer)
    bench.monitor()
    assert bench.process_all("c1", "c2") == 2 * 3 * len(REFS)
    for lane in {message.lane for message in bench.publisher.messages}:
        assert [message.seq for message in bench.publisher.messages if message.lane == lane] == [1, 2, 3]


def glowing_backlog(bench: Workbench) -> None:
    """Four lamps were switched on while SNS was out."""
    glow(bench)
    bench.publisher.refuse = lambda _message: True
    for ref in REFS:
        bench.trigger(1, ref, "Lamp")
    bench.publisher.refuse = lambda _message: False
    bench.clock.advance(40)


@pytest.mark.scenario(120)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
def test_a_page_cut_inside_a_step_never_sends_a_hook_before_its_transition(make_bench: Bench, size: int):
    bench = make_bench(monitor_page_size=size)
    glowing_backlog(bench)
    # Whatever the order in which they are found: the transition is the last of its step.
    bench.sql("UPDATE ack_consumer SET next_due = DATE_SUB(next_due, INTERVAL kind SECOND)")
    bench.monitor()
    assert list(lanes(bench.publisher.messages).values()) == [["transition", *ROUTES]] * len(REFS)
    assert len(bench.publisher.messages) == 4 * len(REFS)
    assert {(row.attempts, row.sends) for ref in REFS for row in deliveries(bench, ref)} == {(1, 1)}


@pytest.mark.scenario(120)
@pytest.mark.parametrize("size", [1, 3, 200])
def test_a_kill_at_any_message_of_a_page_neither_loses_nor_reorders(make_bench: Bench, size: int):
    bench = make_bench(monitor_page_size=size, backoff_factor=1, max_retry_count=100)
    glowing_backlog(bench)
    publisher, kills = DyingPublisher(), 0
    for left in range(4 * len(REFS)):
        publisher.left = left
        kills += is_killed(bench.another(publisher=publisher).monitor)
        bench.clock.advance(40)
    publisher.left = 1_000
    bench.clock.advance(hours=1)
    bench.another(publisher=publisher).monitor()
    assert kills > 5
    assert sorted(lanes(publisher.messages).values()) == [["transition", *ROUTES]] * len(REFS)


@pytest.mark.scenario(120)
@pytest.mark.parametrize("is_after", [False, True])
def test_a_kill_at_any_packet_of_a_pass_leaves_whole_steps(bench: Workbench, *, is_after: bool):
    glowing_backlog(bench)
    kills = 0
    for left in range(30):
        if not is_killed(dying(bench, left, is_after=is_after).monitor):
            break
        kills += 1
        assert all(arrived in ([], ["transition", *ROUTES]) for arrived in lanes(bench.publisher.messages).values())
        counts: list[dict[str, Any]] = bench.sql("SELECT COUNT(DISTINCT trigger_count) AS n FROM ack_consumer GROUP BY instance_id")
        assert {row["n"] for row in counts} == {1}
    bench.clock.advance(hours=1)
    bench.monitor()
    assert kills > 5
    assert list(lanes(bench.publisher.messages).values()) == [["transition", *ROUTES]] * len(REFS)
