"""When a sent event is sent again."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import START
from tests.support.facts import PROFILES
from tests.support.made import OPTIONS, after
from workflow_engine.engine.rules.backoff import first_due, resend_due, window_seconds
from workflow_engine.models.enums import AckStatus
from workflow_engine.options import WorkFlowEngineOptions

STAGES = st.sampled_from([AckStatus.PENDING, AckStatus.DELIVERED])


def wait(status: AckStatus, attempts: int, options: WorkFlowEngineOptions = OPTIONS, seed: tuple[int, int] = (7, 1)) -> float:
    return (resend_due(status, attempts, seed, START, options) - START).total_seconds()


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES.keys())
def test_each_stage_has_its_window_and_the_first_dispatch_waits_the_pending_one(profile: dict[str, int]):
    options = WorkFlowEngineOptions(**profile)
    pending, delivered = profile["ack_pending_resend_seconds"], profile["ack_delivered_resend_seconds"]
    assert (window_seconds(AckStatus.PENDING, options), window_seconds(AckStatus.DELIVERED, options)) == (pending, delivered)
    assert first_due(START, options) == after(pending)
    assert wait(AckStatus.PENDING, 1, options) == pending


def test_without_jitter_the_waits_double_up_to_the_cap():
    options = replace(OPTIONS, backoff_jitter_percent=0)
    assert [wait(AckStatus.PENDING, attempts, options) for attempts in range(1, 8)] == [40, 80, 160, 320, 640, 900, 900]
    # A reminder is the first attempt of its stage: the plain window has already passed once.
    assert [wait(AckStatus.DELIVERED, attempts, options) for attempts in range(1, 5)] == [480, 900, 900, 900]


@given(STAGES, st.integers(1, 1_000), st.integers(1, 10_000))
def test_factor_one_is_the_fixed_window(status: AckStatus, attempts: int, window: int):
    options = replace(OPTIONS, backoff_factor=1, ack_pending_resend_seconds=window, ack_delivered_resend_seconds=window)
    assert wait(status, attempts, options) == window


@given(STAGES, st.integers(1, 1_000), st.floats(1, 100), st.integers(1, 31_536_000), st.integers(0, 100), st.integers(1, 31_536_000))
def test_every_legal_option_keeps_the_wait_within_its_bounds(status: AckStatus, attempts: int, factor: float, cap: int, jitter: int, window: int):
    options = WorkFlowEngineOptions(
        backoff_factor=factor, backoff_cap_seconds=cap, backoff_jitter_percent=jitter, ack_pending_resend_seconds=window, ack_delivered_resend_seconds=window
    )
    assert window <= wait(status, attempts, options) <= max(cap, window) * (1 + jitter / 100) + 1e-6


@given(STAGES, st.integers(1, 50), st.tuples(st.integers(1, 10**12), st.integers(1, 10**6)))
def test_the_same_row_always_waits_the_same_time(status: AckStatus, attempts: int, seed: tuple[int, int]):
    assert wait(status, attempts, seed=seed) == wait(status, attempts, seed=seed)


def test_a_crowd_spreads_out_over_the_jitter():
    waits = [wait(AckStatus.PENDING, 3, seed=(instance, 1)) for instance in range(1_000)]
    assert len(set(waits)) > 990
    assert 160 <= min(waits) < 162
    assert 174 < max(waits) <= 176
    assert wait(AckStatus.PENDING, 2, seed=(1, 1)) != wait(AckStatus.PENDING, 2, seed=(1, 2))
