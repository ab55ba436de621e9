"""Whole walks under random crashes end as walks without: same states, same steps, nothing done twice."""

import random
from pathlib import Path

import pytest

from tests.support.facts import stands, steps
from tests.support.invariants import broken
from tests.support.killed import Journal, Nursery, Work
from tests.support.walks import ENDS, SCRIPTS, Route, effects, prepare, walk
from tests.support.wire import Wire, WiredBench
from tests.support.wire_link import Moment

WALKS, BATCHES = 40, 8
MOMENTS = (Moment.BEFORE, Moment.AFTER)
MAX_LIVES = 6
STEPS = {
    "timeout": [(1, "Draft", 10, "Submitted"), (2, "Submitted", 40, "Review"), (3, "Review", 30, "Rejected")],
    "approval": [(1, "Draft", 10, "Submitted"), (2, "Submitted", 40, "Review"), (3, "Review", 20, "Approved")],
}
# Per instance: c1 hears every step and both hooks, c2 every step and the hook of Review.
TOLD = [
    *(
        ("c1", seq, kind, route)
        for seq, kind, route in [
            (1, "hook", "APP.LEAVE.DECIDE"),
            (1, "transition", ""),
            (2, "hook", "APP.LEAVE.REVIEW"),
            (2, "transition", ""),
            (3, "transition", ""),
        ]
    ),
    *(("c2", seq, kind, route) for seq, kind, route in [(1, "transition", ""), (2, "hook", "APP.LEAVE.REVIEW"), (2, "transition", ""), (3, "transition", "")]),
]


def lives(wire: Wire, nursery: Nursery, work: Work, chance: random.Random) -> list[str]:
    """Let sandboxes walk until one arrives; all but the last of MAX_LIVES may be killed at some packet or message."""
    ends: list[str] = []
    while "done" not in ends:
        is_last = len(ends) == MAX_LIVES - 1
        at_message, number = chance.random() < 0.3, chance.randint(1, 45)
        killed = dict.fromkeys(("dies_before_message", "dies_after_message"))
        if at_message and not is_last:
            killed[chance.choice(list(killed))] = number % 9 + 1
        elif not is_last:
            wire.cut(chance.choice(MOMENTS), nth=number, then=nursery.kill)
        ends.append(
            nursery.run(
                Work(url=work.url, looking_url=work.looking_url, journal=work.journal, program=work.program, argument=work.argument, at=work.at, **killed)
            )
        )
        wire.forgive()
        assert ends[-1] in {"done", "killed"}, ends
    return ends


@pytest.mark.scenario(98)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_walks_under_random_crashes_end_as_walks_without(wire: Wire, nursery: Nursery, bench_on_wire: WiredBench, tmp_path: Path, batch: int):
    prepare(bench_on_wire)
    ways = list(SCRIPTS)
    for seed in range(batch, WALKS, BATCHES):
        chance, way = random.Random(seed), ways[seed // BATCHES % len(ways)]  # noqa: S311  # a test's own dice
        route = Route(seed=seed, way=way, refs=tuple(f"W{seed}-{letter}" for letter in "ab"[: 1 + seed % 3 // 2]))
        work = Work(
            url=wire.url,
            looking_url=str(wire.server),
            journal=tmp_path / f"{seed}.journal",
            program=f"{walk.__module__}:{walk.__name__}",
            argument=route,
            at=bench_on_wire.clock.now(),
        )
        lives(wire, nursery, work, chance)
        journal = Journal(work.journal)
        assert broken(bench_on_wire, journal.messages()) == [], seed
        assert [steps(bench_on_wire, ref) for ref in route.refs] == [STEPS[way]] * len(route.refs), seed
        assert [(place["state"], place["seq"]) for place in (stands(bench_on_wire, ref) for ref in route.refs)] == [(ENDS[way], 3)] * len(route.refs), seed
        # Twice the same fact under another ack_guid would be a second effect.
        assert sorted((who, *what) for who, _, *what in effects(journal)) == sorted(TOLD * len(route.refs)), seed
        assert len(set(effects(journal))) == len(effects(journal)), seed
