"""A whole walk that can be taken up again by another process: an application, two consumers with inboxes, the monitor and the clock."""

import random
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.support.documents import definition_l, policy_l
from tests.support.engine import START, Workbench
from tests.support.killed import Journal

CONSUMERS = ("c1", "c2")
# In the end by a timeout, or by the application.
SCRIPTS = {"timeout": (10, 40), "approval": (10, 40, 20)}
ENDS = {"timeout": "Rejected", "approval": "Approved"}
_ROUNDS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Which instances walk which way; the seed decides who dawdles."""

    seed: int
    way: str
    refs: tuple[str, ...]


def prepare(bench: Workbench) -> None:
    """Hooks on the way; c2 listens to transitions and to one of the routes."""
    bench.import_(definition_l(), policy_l())
    bench.register("c1")
    bench.register("c2", routes=["APP.LEAVE.REVIEW"])


def walk(bench: Workbench, journal: Journal, route: Route) -> None:
    """The sandbox's program. Everything it knows from before is in the tables and in the journal, and every step may be the second try."""
    chance = random.Random(f"{route.seed}-{len(journal.read('life'))}")  # noqa: S311  # a test's own dice
    journal.write("life", route.seed)
    bench.clock.at = max([START, *(datetime.fromisoformat(moment) for moment in journal.read("clock"))])
    for ref in route.refs:
        for place, event in enumerate(SCRIPTS[route.way]):
            answer = bench.trigger(event, ref, request_id=f"step-{place}", actor="application")
            assert answer.applied, answer
            if chance.random() < 0.5:
                serve(bench, journal, chance)
    for _ in range(_ROUNDS):
        serve(bench, journal, chance)
        if is_over(bench, route):
            return
        bench.clock.advance(chance.choice((41, 241, 901, 3_601)))
        journal.write("clock", bench.clock.now())
        bench.monitor()
    raise AssertionError("the walk does not end")


def serve(bench: Workbench, journal: Journal, chance: random.Random) -> None:
    """Consumers do what they are told, once per ack_guid, and say so; sometimes they dawdle or ask to be told again."""
    done = {(guid, consumer) for guid, consumer in journal.read("effect")}
    processed = {(guid, consumer) for guid, consumer in journal.read("processed")}
    for message in journal.messages():
        key = (message.webhook_id, message.consumer)
        if key in processed or chance.random() < 0.3:
            continue
        if key not in done:
            journal.write("effect", key)
            done.add(key)
        outcome = chance.choice(("Delivered", "Retry", "Processed", "Processed", "Processed"))
        bench.ack(message.webhook_id, outcome, message.consumer)
        if outcome == "Processed":
            journal.write("processed", key)
            processed.add(key)


def is_over(bench: Workbench, route: Route) -> bool:
    refs = ", ".join(f"'{ref}'" for ref in route.refs)
    instances = f"instance_id IN (SELECT id FROM instance WHERE external_ref IN ({refs}))"
    final = f"external_ref IN ({refs}) AND flags & 4"
    return bench.count("instance", final) == len(route.refs) and bench.count("ack_consumer", f"{instances} AND status <> 3") == 0


def effects(journal: Journal) -> list[tuple[Any, ...]]:
    """What consumers did, as facts: who, for which instance, at which step, told what; sorted, doubles included."""
    messages = {(message.webhook_id, message.consumer): message for message in journal.messages()}
    done = [messages[guid, consumer] for guid, consumer in journal.read("effect")]
    return sorted((message.consumer, message.instance_id, message.seq, message.kind.label, message.route or "") for message in done)
