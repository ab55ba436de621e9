"""When an instance is looked at next: its timeout, or the moment it counts as stale."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import START
from tests.support.made import after
from workflow_engine.engine.rules.state_due import NEVER_FIRED, is_exhausted, is_used_up, next_timeout_at, state_due
from workflow_engine.models.due import FiringsRow
from workflow_engine.models.enums import StateDueKind
from workflow_engine.models.policy import TimeoutRule
from workflow_engine.models.transition import StateDue

HOUR, DAY = 3_600, 86_400
STALE_AT = after(DAY)


def timeout(minutes: int = 60, *, is_repeat: bool = False, event_code: int | None = 30, max_retry: int | None = None) -> TimeoutRule:
    return TimeoutRule(state_key="review", state_name="Review", duration_minutes=minutes, is_repeat=is_repeat, event_code=event_code, max_retry=max_retry)


def fired(n: int, seconds: float) -> FiringsRow:
    return FiringsRow(n=n, last_fired_at=after(seconds))


def test_a_state_without_a_timeout_is_due_when_it_is_stale():
    assert state_due(None, START, NEVER_FIRED, STALE_AT) == StateDue(stale_at=STALE_AT, kind=StateDueKind.STALE, due_at=STALE_AT)


@pytest.mark.parametrize("minutes", [1, 60, 10_000])
def test_a_timeout_with_an_event_stands_for_itself_however_long_it_is(minutes: int):
    assert state_due(timeout(minutes), START, NEVER_FIRED, STALE_AT) == StateDue(stale_at=STALE_AT, kind=StateDueKind.TIMEOUT, due_at=after(60 * minutes))


@pytest.mark.parametrize(("minutes", "kind", "due"), [(60, StateDueKind.TIMEOUT, HOUR), (1440, StateDueKind.TIMEOUT, DAY), (1441, StateDueKind.STALE, DAY)])
def test_of_a_timeout_without_an_event_and_the_stale_time_the_earlier_comes_first(minutes: int, kind: StateDueKind, due: float):
    assert state_due(timeout(minutes, event_code=None), START, NEVER_FIRED, STALE_AT) == StateDue(stale_at=STALE_AT, kind=kind, due_at=after(due))


def test_once_fires_once_and_then_only_the_stale_time_is_left():
    rule = timeout()
    assert next_timeout_at(rule, START, NEVER_FIRED) == after(HOUR)
    assert next_timeout_at(rule, START, fired(1, HOUR)) is None
    assert is_used_up(rule, fired(1, HOUR))
    assert state_due(rule, START, fired(1, HOUR), STALE_AT).kind is StateDueKind.STALE


@pytest.mark.parametrize(("fired_at", "due"), [(HOUR, 2 * HOUR), (HOUR + 59, 2 * HOUR), (2 * HOUR - 1, 2 * HOUR), (5 * HOUR + 1, 6 * HOUR)])
def test_repeat_keeps_to_the_hours_of_its_stay_and_missed_ones_count_once(fired_at: float, due: float):
    assert next_timeout_at(timeout(is_repeat=True), START, fired(1, fired_at)) == after(due)


def test_after_the_last_of_its_firings_a_repeat_is_exhausted_once_and_then_used_up():
    rule = timeout(is_repeat=True, max_retry=2)
    assert [(is_exhausted(rule, fired(n, HOUR)), is_used_up(rule, fired(n, HOUR))) for n in (1, 2, 3)] == [(False, False), (True, False), (True, True)]
    assert next_timeout_at(rule, START, fired(2, 2 * HOUR)) == after(3 * HOUR)
    assert next_timeout_at(rule, START, fired(3, 3 * HOUR)) is None


@given(st.integers(1, 100_000), st.integers(1, 50), st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=4_000)))
def test_the_next_firing_of_a_repeat_is_the_first_boundary_after_the_last_one(minutes: int, n: int, late: timedelta):
    period, last = timedelta(minutes=minutes), START + timedelta(minutes=minutes) + late
    due = next_timeout_at(timeout(minutes, is_repeat=True), START, FiringsRow(n=n, last_fired_at=last))
    assert due is not None
    assert last < due <= last + period
    assert (due - START) % period == timedelta(0)


TIMEOUTS = st.none() | st.builds(
    lambda minutes, repeat, event, limit: timeout(minutes, is_repeat=repeat, event_code=event, max_retry=limit),
    st.integers(1, 5_000),
    st.booleans(),
    st.none() | st.just(30),
    st.none() | st.integers(1, 5),
)
FIRINGS = st.just(NEVER_FIRED) | st.builds(fired, st.integers(1, 8), st.integers(60, 10**6))


@given(TIMEOUTS, FIRINGS, st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)))  # noqa: DTZ001  # hypothesis takes its bounds without zone
def test_something_is_always_due_and_a_used_up_timeout_counts_as_none(rule: TimeoutRule | None, firings: FiringsRow, stale: datetime):
    stale_at = stale.replace(tzinfo=START.tzinfo)
    due = state_due(rule, START, firings, stale_at)
    assert due.due_at is not None
    assert due.stale_at == stale_at
    if rule is None or (firings.n and is_used_up(rule, firings)):
        assert due == state_due(None, START, NEVER_FIRED, stale_at)
