"""Lanes as pure decisions: what may go after a change, and that reading a few rows is as good as reading all."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.made import OPTIONS, ack_row, after, held_row
from workflow_engine.engine.rules.lanes import LaneView, free_rows, release, send_order
from workflow_engine.models.ack import AckConsumerRow
from workflow_engine.models.enums import AckStatus, EventKind

HELD, PENDING, DELIVERED, PROCESSED, FAILED, PARKED, SUSPENDING = AckStatus
Changes = dict[tuple[int, int], AckConsumerRow]


def lane(*rows: tuple[int, AckStatus]) -> list[AckConsumerRow]:
    return [ack_row(number, seq=seq, status=status) for number, (seq, status) in enumerate(rows, 1)]


def whole(rows: list[AckConsumerRow]) -> LaneView:
    return LaneView(blockers=[row for row in rows if row.status in {PENDING, PARKED}], held=[row for row in rows if row.status == HELD])


@pytest.mark.parametrize(
    ("rows", "free"),
    [
        ([], []),
        ([(1, PENDING)], []),
        ([(1, PENDING), (2, HELD)], []),
        ([(1, PARKED), (2, HELD)], []),
        ([(1, DELIVERED), (2, HELD), (3, HELD)], [2]),
        ([(1, PROCESSED), (2, HELD), (2, HELD), (3, HELD)], [2, 2]),
        ([(1, FAILED), (2, HELD)], [2]),
        ([(1, DELIVERED), (2, PENDING), (3, HELD)], []),
        # What is above the held event does not hold it: a row once sent is never held again.
        ([(2, HELD), (3, PENDING)], [2]),
        ([(2, PENDING), (2, HELD)], [2]),
    ],
)
def test_the_lowest_held_step_goes_when_nothing_lower_blocks(rows: list[tuple[int, AckStatus]], free: list[int]):
    assert [row.seq for row in free_rows(whole(lane(*rows)), {})] == free


STATUSES = st.sampled_from([HELD, PENDING, DELIVERED, PROCESSED, FAILED, PARKED])
LANES = st.lists(st.tuples(st.integers(1, 6), STATUSES), max_size=12).map(lambda rows: lane(*sorted(rows)))


def expected(rows: list[AckConsumerRow], changed: Changes) -> list[AckConsumerRow]:
    """The rule, said over the whole lane."""
    now = [changed.get(row.key, row) for row in rows]
    lowest = min((row.seq for row in now if row.status == HELD), default=None)
    if lowest is None or any(row.status in {PENDING, PARKED} and row.seq < lowest for row in now):
        return []
    return [row for row in now if row.status == HELD and row.seq == lowest]


@given(LANES, st.data())
def test_a_change_frees_what_the_whole_lane_says(rows: list[AckConsumerRow], data: st.DataObject):
    changed = (
        {row.key: replace(row, status=data.draw(STATUSES)) for row in data.draw(st.lists(st.sampled_from(rows), max_size=4)) if row.status != HELD}
        if rows
        else {}
    )
    assert free_rows(whole(rows), {key: row for key, row in changed.items() if row.status != HELD}) == expected(
        rows, {key: row for key, row in changed.items() if row.status != HELD}
    )


@given(LANES, st.data())
def test_for_so_many_changes_one_more_blocker_of_each_kind_and_the_lowest_held_step_are_enough(rows: list[AckConsumerRow], data: st.DataObject):
    """What the ack's read packet takes: as many rows as there are items and one more, and of held rows only the lowest seq."""
    sent = [row for row in rows if row.status != HELD]
    chosen = data.draw(st.lists(st.sampled_from(sent), max_size=3, unique_by=lambda row: row.key)) if sent else []
    changed = {row.key: replace(row, status=data.draw(st.sampled_from([PENDING, DELIVERED, PROCESSED, FAILED]))) for row in chosen}
    take, lowest = max(1, len(chosen)) + 1, min((row.seq for row in rows if row.status == HELD), default=0)
    blockers = [row for status in (PENDING, PARKED) for row in [one for one in rows if one.status == status][:take]]
    seen = LaneView(blockers=blockers, held=[row for row in rows if row.status == HELD and row.seq == lowest])
    assert free_rows(seen, changed) == expected(rows, changed)


@given(LANES)
def test_a_lane_whose_sent_rows_are_all_answered_is_never_stuck(rows: list[AckConsumerRow]):
    answered: Changes = {row.key: replace(row, status=DELIVERED) for row in rows if row.status in {PENDING, PARKED}}
    is_anything_held = any(row.status == HELD for row in rows)
    assert bool(free_rows(whole(rows), answered)) == is_anything_held


def test_a_held_row_that_is_answered_makes_way_for_the_next_step():
    rows = lane((1, PROCESSED), (2, HELD), (3, HELD))
    answered = replace(rows[1], status=DELIVERED)
    assert free_rows(whole(rows), {answered.key: answered}) == [rows[2]]


def test_a_live_consumer_is_sent_the_row_and_one_that_is_down_finds_it_due():
    now, row = after(9), held_row(5, seq=3, retry_count=2)
    (sent,) = release([row], is_live=True, now=now, options=OPTIONS)
    (waits,) = release([row], is_live=False, now=now, options=OPTIONS)
    assert sent == replace(row, status=PENDING, next_due=after(49), trigger_count=1, sends=1, first_sent_at=now, modified=now)
    assert waits == replace(row, status=PENDING, next_due=now, trigger_count=0, sends=0, first_sent_at=None, modified=now)


@given(st.permutations([(consumer, instance, seq, kind) for consumer in (1, 2) for instance in (1, 2) for seq in (1, 2) for kind in EventKind]))
def test_rows_are_sent_by_consumer_instance_and_step_the_transition_first(order: list[tuple[int, int, int, EventKind]]):
    rows = [ack_row(1, consumer_id=consumer, instance_id=instance, seq=seq, kind=kind) for consumer, instance, seq, kind in order]
    assert [(row.consumer_id, row.instance_id, row.seq, row.kind) for row in sorted(rows, key=send_order)] == sorted(order)
