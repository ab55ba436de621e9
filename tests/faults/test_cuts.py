"""The connection is cut before, while and after every packet of everything that writes: the world is then as if it had not been."""

from typing import Any

import pytest

from tests.support.invariants import broken
from tests.support.mysql_protocol import Kind
from tests.support.operations import OPERATIONS, Operation
from tests.support.wire import Wire, WiredBench, wired
from tests.support.wire_link import Command, Moment
from tests.support.world import facts, unknown_guids

# What these release may be left unpublished after a lost answer; it is due then, and goes out after its window.
DUE_AGAIN = frozenset({"admin, resume"})
# Nothing is locked by these before they write: an old packet can come in between a later read and its write.
NEW = frozenset(name for name in OPERATIONS if "new" in name) | {"import"}


class Stage:
    """One operation, as often as it takes, each time from an empty database."""

    def __init__(self, wire: Wire, name: str) -> None:
        self._wire = wire
        self._name = name
        self._operation: Operation = OPERATIONS[name]
        self.expected, self.trips = self._undisturbed()

    def cuts(self) -> list[tuple[Moment, Kind | None, int]]:
        """Each packet of a unit at every moment; a read that stands alone before it is forwarded and in its answer."""
        found: list[tuple[Moment, Kind | None, int]] = []
        for place, trip in enumerate(self.trips, start=1):
            moments = (Moment.BEFORE, Moment.MIDDLE) if trip.kind is Kind.PLAIN else (Moment.BEFORE, Moment.AFTER, Moment.MIDDLE)
            found += [(moment, None, place) for moment in moments]
        found += [(Moment.OVERLAP, Kind.WRITE, number) for number in self._after_a_read()]
        return found + ([(Moment.LATE, Kind.WRITE, 1)] if self._name in NEW else [])

    def _after_a_read(self) -> list[int]:
        """The writes, by number, whose unit reads first: only these read again before they write again."""
        found, number, has_read = [], 0, False
        for trip in self.trips:
            has_read = has_read or trip.kind is Kind.READ
            if trip.kind is Kind.WRITE:
                number += 1
                found += [number] if has_read else []
                has_read = False
        return found

    def cut(self, moment: Moment, kind: Kind | None, nth: int) -> dict[str, Any]:
        """What is different afterwards: nothing."""
        bench, made = self._begin()
        connections = len(self._wire.links)
        self._wire.cut(moment, kind, nth)
        with self._wire.counting() as trips:
            answer = self._operation.act(bench, made)
        found, cut_kind = facts(bench, answer), kind or self.trips[nth - 1].kind
        if self._name in DUE_AGAIN and cut_kind is Kind.WRITE and moment is not Moment.BEFORE and not found["sent"]:
            found["sent"] = self._sent_later(bench)
        found |= self._health(bench, answer)
        found["once more"] = (self._wire.is_cut, len(self._wire.links) - connections, len(trips) <= 2 * len(self.trips) + 6)
        bench.close()
        return {name: (value, self.expected[name]) for name, value in found.items() if value != self.expected[name]}

    def _undisturbed(self) -> tuple[dict[str, Any], list[Command]]:
        bench, made = self._begin()
        with self._wire.counting() as trips:
            answer = self._operation.act(bench, made)
        expected = facts(bench, answer) | self._health(bench, answer) | {"once more": (True, 1, True)}
        bench.close()
        return expected, trips

    def _begin(self) -> tuple[WiredBench, Any]:
        self._wire.wipe()
        bench = wired(self._wire, **self._operation.options)
        made = self._operation.begin(bench)
        bench.publisher.messages.clear()
        bench.publisher.notices.clear()
        return bench, made

    def _health(self, bench: WiredBench, answer: Any) -> dict[str, Any]:
        return {"broken": broken(bench), "open": self._wire.is_in_transaction, "unknown": unknown_guids(bench, answer)}

    def _sent_later(self, bench: WiredBench) -> list[Any]:
        """What was not published is due after the window, as the second attempt: told here as what it would have been."""
        bench.clock.advance(bench.options.ack_pending_resend_seconds + 1)
        before = len(bench.publisher.messages)
        bench.monitor()
        later = [message for message in bench.sent()[before:] if message in [(*sent[:3], 2) for sent in self.expected["sent"]]]
        return [(*message[:3], 1) for message in later]


@pytest.mark.scenario(104, 119)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_cut_connection_changes_nothing_but_the_time_it_takes(wire: Wire, name: str):
    stage = Stage(wire, name)
    found = {f"{moment.name} {kind or stage.trips[nth - 1].kind} {nth}": stage.cut(moment, kind, nth) for moment, kind, nth in stage.cuts()}
    assert {cut: difference for cut, difference in found.items() if difference} == {}
