"""A long walk of random triggers, words, passes, suspensions and outages; after every step the tables must make sense."""

import random
from collections import Counter
from contextlib import closing, suppress
from typing import Any

import pytest

from tests.support.engine import Workbench
from tests.support.rows import Rows
from tests.support.scenes import lamp, policy_lamp, resume, suspend
from workflow_engine.errors import ConflictError

STEPS = 120
LIMIT = 3
# How many of the words are about events that were closed before.
CLOSED_SHARE = 0.1
# Each of these rows would contradict what its neighbours say.
CONTRADICTIONS = {
    "due though closed, held or given up": "status NOT IN (1, 2) AND next_due IS NOT NULL",
    "open and never due": "status IN (1, 2) AND next_due IS NULL AND (SELECT i.flags & 2 FROM instance i WHERE i.id = ac.instance_id) = 0",
    "due though suspended": "next_due IS NOT NULL AND (SELECT i.flags & 2 FROM instance i WHERE i.id = ac.instance_id) <> 0",
    "held though sent": "status = 0 AND (sends <> 0 OR trigger_count <> 0 OR first_sent_at IS NOT NULL)",
    "given up without a reason, or the reverse": "(gave_up IS NOT NULL) <> (status IN (5, 6) OR (status = 4 AND gave_up = 3))",
    "more attempts than allowed": f"trigger_count > {LIMIT}",
    "processed but not delivered": "status = 3 AND (delivered_at IS NULL OR processed_at IS NULL)",
    "suspending an instance that is not suspended": "status = 6 AND (SELECT i.flags & 2 FROM instance i WHERE i.id = ac.instance_id) = 0",
    "held by nothing": "status = 0 AND (SELECT i.flags & 2 FROM instance i WHERE i.id = ac.instance_id) = 0 AND NOT EXISTS (SELECT 1 FROM ack_consumer b "
    "WHERE b.instance_id = ac.instance_id AND b.consumer_id = ac.consumer_id AND b.seq < ac.seq AND b.status IN (1, 5))",
}
INSTANCE_CONTRADICTIONS = {
    "due though not active, or the reverse": "(state_due_at IS NOT NULL) <> (flags = 1)",
    "suspended by the engine for nothing": "suspended_by = 1 AND NOT EXISTS (SELECT 1 FROM ack_consumer s WHERE s.instance_id = ac.id AND s.status = 6)",
}
CHECK = " UNION ALL ".join(
    f"(SELECT '{name}' FROM {table} ac WHERE {condition} LIMIT 1)"
    for table, conditions in (("ack_consumer", CONTRADICTIONS), ("instance", INSTANCE_CONTRADICTIONS))
    for name, condition in conditions.items()
)


class Walk:
    REFS = ("R-1", "R-2")
    CONSUMERS = ("suspends", "parks", "skips", "sleeps")

    def __init__(self, bench: Workbench, seed: int) -> None:
        self.bench = bench
        self.rows = Rows(bench.database_url)
        self.early: set[tuple[str, str]] = set()
        self.chance = random.Random(seed)  # noqa: S311  # a repeatable choice
        policy = policy_lamp(
            [{"state": "On", "emit": [{"route": "APP.1"}]}], timeouts=[{"state": "On", "timeout_minutes": 30, "timeout_event": 3, "timeout_mode": "repeat"}]
        )
        lamp(bench, "suspends", policy=policy)
        bench.register("parks", on_exhausted="park")
        bench.register("skips", on_exhausted="skip", kinds=["transition"])
        bench.register("sleeps", on_exhausted="park", beat_seconds=20)
        self.guids = [bench.trigger(1, ref, "Lamp").instance_guid for ref in self.REFS]

    def step(self) -> str:
        acts = [self.trigger] * 4 + [self.ack] * 6 + [self.batch] * 2 + [self.watch] * 4 + [self.operate, self.beat, self.outage, self.outage]
        act = self.chance.choice(acts)
        act()
        return act.__name__

    def trigger(self) -> None:
        self.bench.trigger(self.chance.choice((1, 2, 3)), self.chance.choice(self.REFS), "Lamp", ack_required=self.chance.random() < 0.9)

    def ack(self) -> None:
        consumer = self.chance.choice(self.CONSUMERS)
        for item in self._items(consumer, 1):
            self.bench.ack(item["ack_guid"], item["outcome"], consumer)

    def batch(self) -> None:
        consumer = self.chance.choice(self.CONSUMERS)
        items = self._items(consumer, self.chance.randrange(2, 8))
        if items:
            self.bench.ack_batch(items, consumer)

    def _items(self, consumer: str, count: int) -> list[dict[str, str]]:
        """Any of a consumer's events, those it was never sent included."""
        found = self.rows.run(
            "SELECT a.guid, ac.status IN (3, 4) AND ac.gave_up IS NULL, ac.sends = 0 FROM ack_consumer ac JOIN ack a ON a.id = ac.ack_id "
            f"JOIN consumer c ON c.id = ac.consumer_id WHERE c.consumer_guid = '{consumer}' ORDER BY ac.ack_id"
        )
        wanted = [(guid, is_early) for guid, is_closed, is_early in found if not is_closed or self.chance.random() < CLOSED_SHARE]
        chosen = self.chance.sample(wanted, min(count, len(wanted)))
        self.early |= {(guid, consumer) for guid, is_early in chosen if is_early}
        outcomes = ("Delivered", "Processed", "Processed", "Failed", "Retry")
        return [{"ack_guid": guid, "outcome": self.chance.choice(outcomes)} for guid, _ in chosen]

    def watch(self) -> None:
        self.bench.clock.advance(self.chance.choice((1, 41, 41, 300, 2_000)))
        self.bench.monitor()

    def operate(self) -> None:
        with suppress(ConflictError):
            self.chance.choice((suspend, resume, resume))(self.bench, self.chance.choice(self.guids))

    def beat(self) -> None:
        self.bench.beat("sleeps")

    def outage(self) -> None:
        share = self.chance.choice((0.0, 0.0, 0.5, 1.0))
        self.bench.publisher.refuse = lambda _message: self.chance.random() < share

    def check(self) -> None:
        assert list(self.rows.run(CHECK)) == []
        self._check_sends()

    def _check_sends(self) -> None:
        """What was taken is what is counted, attempt after attempt, and each lane's events were first sent in order."""
        kept = [message for message in self.bench.publisher.messages if message.ack_id]
        counted = {
            (ack_id, consumer_id): sends for ack_id, consumer_id, sends in self.rows.run("SELECT ack_id, consumer_id, sends FROM ack_consumer WHERE sends > 0")
        }
        assert Counter((message.ack_id, message.consumer_id) for message in kept) == counted
        lanes: dict[tuple[int, int], list[int]] = {}
        for message in kept:
            # What a consumer answered before it was sent is only a reminder by then, and has no place in the order.
            if message.attempt == 1 and (message.webhook_id, message.consumer) not in self.early:
                lanes.setdefault(message.lane, []).append(message.seq)
        assert all(seqs == sorted(seqs) for seqs in lanes.values())


@pytest.mark.scenario(52, 109)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_happens_lanes_rows_and_instances_agree(make_bench: Any, seed: int):
    walk = Walk(make_bench(max_retry_count=LIMIT), seed)
    history = []
    with closing(walk.rows):
        for _ in range(STEPS):
            history.append(walk.step())
            walk.check()
    assert set(history) == {"trigger", "ack", "batch", "watch", "operate", "beat", "outage"}
