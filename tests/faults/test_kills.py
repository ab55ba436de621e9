"""Processes are killed at every packet and every message: what they left is whole, and the world goes on to the same end."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.engine import Workbench
from tests.support.facts import deliveries, stands, steps
from tests.support.invariants import broken
from tests.support.killed import Journal, Nursery, Work
from tests.support.operations import OPERATIONS
from tests.support.wire import Wire, WiredBench, wired
from tests.support.wire_link import Moment

# Every one of these may be done again by whoever did not see it end: by request_id, by ack_guid, by the next pass, by an operator who looks first.
KILLED = {
    "trigger, new instance": pytest.mark.scenario(47, 98),
    "trigger, existing instance": pytest.mark.scenario(98),
    "ack Processed with release": pytest.mark.scenario(47),
    "ack Delivered with release": pytest.mark.scenario(47),
    "ack, batch with release": pytest.mark.scenario(47),
    "ack that lifts a suspension": pytest.mark.scenario(47),
    "monitor, due page": pytest.mark.scenario(120),
    "monitor, pages smaller than a seq": pytest.mark.scenario(120),
    "monitor, skips": pytest.mark.scenario(120),
    "monitor, suspends": pytest.mark.scenario(120),
    "monitor, timeout page": pytest.mark.scenario(65, 120),
    "monitor, overdue page": pytest.mark.scenario(98),
}
CASES = [pytest.param(name, marks=mark, id=name) for name, mark in KILLED.items()]


def act(bench: Workbench, journal: Journal, argument: tuple[str, Any]) -> None:
    """The sandbox's program: one operation."""
    name, made = argument
    OPERATIONS[name].act(bench, made)
    journal.write("packets", bench.dal.round_trips)


class Scene:
    """An operation in a sandbox, from an empty database each time."""

    def __init__(self, wire: Wire, nursery: Nursery, name: str, folder: Path) -> None:
        self._wire, self._nursery, self._name, self._folder = wire, nursery, name, folder
        self._runs = 0

    def run(self, *, packet: int = 0, message: int = 0, moment: Moment = Moment.BEFORE) -> dict[str, Any]:
        """Kill the sandbox at its nth packet or before its nth message (0: not at all), look, let the world go on, and tell how it ended."""
        self._runs += 1
        self._wire.wipe()
        bench = wired(self._wire, **OPERATIONS[self._name].options)
        made = OPERATIONS[self._name].begin(bench)
        journal = self._folder / f"{self._runs}.journal"
        if packet:
            self._wire.cut(moment, nth=packet, then=self._nursery.kill)
        with self._wire.counting() as trips:
            end = self._nursery.run(self._work(bench, journal, made, message))
        bench.publisher.messages += Journal(journal).messages()
        found = {"end": end, "packets": len(trips), "messages": len(Journal(journal).messages()), "broken": broken(bench)}
        bench.clock.advance(1)
        found["ended"] = self._go_on(bench, made)
        bench.close()
        return found

    def _work(self, bench: WiredBench, journal: Path, made: Any, message: int) -> Work:
        return Work(
            url=self._wire.url,
            looking_url=str(self._wire.server),
            journal=journal,
            program="tests.faults.test_kills:act",
            argument=(self._name, made),
            at=bench.clock.now(),
            options=OPERATIONS[self._name].options,
            dies_before_message=message or None,
        )

    def _go_on(self, bench: WiredBench, made: Any) -> dict[str, Any]:
        """Whoever did not see an end tries again; consumers answer what they get; the monitor makes its passes."""
        OPERATIONS[self._name].act(bench, made)
        for _ in range(12):
            bench.process_all("c1", "c2")
            if not bench.count("ack_consumer", "status IN (0, 1, 2)"):
                break
            bench.clock.advance(901)
            for row in bench.sql("SELECT CONVERT(consumer_guid USING utf8mb4) AS name FROM consumer"):
                bench.beat(row["name"])
            bench.monitor()
        refs = [row["ref"] for row in bench.sql("SELECT CONVERT(external_ref USING utf8mb4) AS ref FROM instance ORDER BY external_ref")]
        rows = {ref: [(row.consumer, row.seq, row.kind, row.status) for row in deliveries(bench, ref)] for ref in refs}
        places = {ref: {name: stands(bench, ref)[name] for name in ("state", "flags", "seq")} for ref in refs}
        return {"broken": broken(bench), "steps": {ref: steps(bench, ref) for ref in refs}, "rows": rows, "places": places}


@pytest.mark.parametrize("name", CASES)
def test_a_process_killed_at_any_packet_or_message_leaves_all_or_nothing_and_the_world_goes_on(wire: Wire, nursery: Nursery, tmp_path: Path, name: str):
    scene = Scene(wire, nursery, name, tmp_path)
    undisturbed = scene.run()
    assert (undisturbed["end"], undisturbed["broken"], undisturbed["ended"]["broken"]) == ("done", [], [])
    packets, messages = undisturbed["packets"], undisturbed["messages"]
    # After one packet is before the next; of many messages the first two, the middle and the last.
    kills: list[dict[str, Any]] = [{"packet": number} for number in range(1, packets + 1)] + [{"packet": packets, "moment": Moment.AFTER}]
    kills += [{"message": number} for number in sorted({1, 2, messages // 2 + 1, messages}) if 0 < number <= messages]
    found = {str(kill): scene.run(**kill) for kill in kills}
    assert {kill: (run["end"], run["broken"]) for kill, run in found.items()} == {kill: ("killed", []) for kill in found}
    assert {kill: run["ended"] for kill, run in found.items() if run["ended"] != undisturbed["ended"]} == {}
