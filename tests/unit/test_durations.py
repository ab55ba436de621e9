"""Durations become whole minutes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_engine.engine.rules.durations import MAX_MINUTES, minutes_from_iso, minutes_from_number


@pytest.mark.scenario(7)
@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("P2D", 2880),
        ("PT30M", 30),
        ("P1W", 10_080),
        ("P1DT1H1M", 1501),
        ("PT1S", 1),
        ("PT61S", 2),
        ("PT60S", 1),
        ("PT0.5H", 30),
        ("PT1,5M", 2),
        ("P0.5D", 720),
        (" p1d ", 1440),
        ("P36500D", MAX_MINUTES),
    ],
)
def test_a_duration_is_whole_minutes_rounded_up(text, minutes):
    assert minutes_from_iso(text) == minutes


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "2D", "P2", "P1Y", "P1M", "PT0S", "P-1D", "-P1D", "P1.5DT1H", "P1H", "P1D1W", "P٢D", "P36501D", "PT1e3M"]
)
def test_what_has_no_fixed_length_or_is_no_duration_is_none(text):
    assert minutes_from_iso(text) is None


@pytest.mark.parametrize(
    ("number", "minutes"), [(60, 60), (0.2, 1), (1.5, 2), (0, None), (-1, None), (10**400, None), (float("inf"), None), (float("nan"), None)]
)
def test_minutes_given_as_a_number_are_rounded_up(number, minutes):
    assert minutes_from_number(number) == minutes


@given(st.integers(0, 900), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_parts_add_up(days, hours, minutes, seconds):
    expected = -(-(((days * 24 + hours) * 60 + minutes) * 60 + seconds) // 60)
    assert minutes_from_iso(f"P{days}DT{hours}H{minutes}M{seconds}S") == (expected or None)


@given(st.text(max_size=20))
def test_any_text_is_answered(text):
    found = minutes_from_iso(text)
    assert found is None or 0 < found <= MAX_MINUTES
