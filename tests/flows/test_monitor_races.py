"""Two monitors at once, on connections of their own: every due row is claimed by one of them."""

from collections import Counter
from collections.abc import Callable

import pytest

from tests.support.engine import RecordingPublisher, Workbench
from tests.support.facts import deliveries, lost_in_lanes
from tests.support.racing import at_once, crew, warm
from tests.support.scenes import definition_lamp, lamp, leave_with_hook, policy_lamp

Bench = Callable[..., Workbench]
REFS = tuple(f"R-{number}" for number in range(60))


def pair(bench: Workbench) -> list[Workbench]:
    """Two sandboxes, each with an outlet of its own."""
    return [warm(bench.another(publisher=RecordingPublisher())) for _ in range(2)]


@pytest.mark.scenario(57)
@pytest.mark.parametrize("size", [7, 200])
def test_each_due_row_is_sent_once_and_counted_once(make_bench: Bench, size: int):
    bench = make_bench(monitor_page_size=size, backoff_factor=1, max_retry_count=100)
    leave_with_hook(bench, "c1", "c2")
    for ref in REFS:
        bench.trigger("Submit", ref)
    monitors = pair(bench)
    for round_number in range(2, 8):
        bench.clock.advance(40)
        reports = at_once([monitor.monitor for monitor in monitors])
        rest = bench.monitor()
        sent = [message for monitor in [*monitors, bench] for message in monitor.publisher.messages if message.attempt == round_number]
        assert len(sent) == len({(message.webhook_id, message.consumer) for message in sent}) == 4 * len(REFS)
        assert sum(report.sent for report in [*reports, rest]) == 4 * len(REFS)
        rows = bench.sql("SELECT trigger_count, sends FROM ack_consumer")
        assert Counter((row["trigger_count"], row["sends"]) for row in rows) == {(round_number, round_number): 4 * len(REFS)}


@pytest.mark.scenario(57)
@pytest.mark.parametrize("choice", ["suspend", "park", "skip"])
def test_two_monitors_give_a_row_up_once(make_bench: Bench, choice: str):
    bench = make_bench(max_retry_count=1)
    lamp(bench, "c1")
    bench.register("c1", on_exhausted=choice)
    for ref in REFS:
        for event in (1, 2):
            bench.trigger(event, ref, "Lamp")
    monitors = pair(bench)
    bench.clock.advance(40)
    reports = [*at_once([monitor.monitor for monitor in monitors]), bench.monitor()]
    assert sum(report.failed for report in reports) == len(REFS)
    assert bench.count("notice", "code IN ('ACK_SUSPEND', 'ACK_PARKED', 'ACK_SKIPPED')") == len(REFS)
    assert bench.count("ack_consumer", "gave_up IS NOT NULL") == len(REFS)
    released = [message for monitor in [*monitors, bench] for message in monitor.publisher.messages if message.seq == 2]
    assert len(released) == (len(REFS) if choice == "skip" else 0)
    assert lost_in_lanes(bench) == []


@pytest.mark.scenario(57, 103)
def test_monitors_that_meet_acks_and_triggers_send_nothing_twice_and_leave_nothing_behind(bench: Workbench):
    rule = {"state": "On", "emit": [{"route": "APP.WARM"}]}
    bench.import_(definition_lamp(), policy_lamp([rule]))
    for consumer in ("c1", "c2"):
        bench.register(consumer)
    refs = REFS[:10]
    for ref in refs:
        bench.trigger(1, ref, "Lamp")
    sandboxes = crew(bench, 4)

    def trigger_all(sandbox: Workbench, event: int) -> None:
        for ref in refs:
            sandbox.trigger(event, ref, "Lamp")

    def ack_all(sandbox: Workbench) -> None:
        for message in list(sandbox.publisher.messages):
            sandbox.ack(message.webhook_id, "Processed", message.consumer)

    for number in range(6):
        bench.clock.advance(1_000)
        one, two, three, four = sandboxes
        at_once([one.monitor, two.monitor, lambda box=three: ack_all(box), lambda box=four, event=2 - number % 2: trigger_all(box, event)])
    bench.clock.advance(2_000)
    bench.monitor()
    bench.process_all("c1", "c2")
    assert lost_in_lanes(bench) == []
    assert {row.status for ref in refs for row in deliveries(bench, ref)} == {"PROCESSED"}
    attempts = Counter((message.webhook_id, message.consumer, message.attempt) for message in bench.publisher.messages)
    assert set(attempts.values()) == {1}
    assert bench.noticed("MONITOR_ERROR") == []
