"""What makes two requests with one request_id the same request."""

import json
from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import START
from tests.support.made import blueprint, real_json
from workflow_engine.engine.rules.fingerprint import fingerprint

MADE = blueprint()
CONTENT = ("ann", {"a": 1}, True, START)


def of(event: int | str, content: tuple[Any, Any, bool, Any] = CONTENT) -> str:
    return fingerprint(MADE.event_of(event), event, content)


@pytest.mark.parametrize("event", [10, "10", " 10 ", "010", "Submit", " SUBMIT "], ids=repr)
def test_every_way_to_name_an_event_is_the_same_request(event: int | str):
    assert of(event) == of(10)


def test_unknown_events_stand_for_themselves_trimmed_and_without_case():
    assert of("Later") == of(" LATER ")
    assert of(99) == of("99") == of(" 099 ")
    assert len({of("Later"), of("Sooner"), of(99), of(98), of(10)}) == 5


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(one) for one in value] if isinstance(value, list) else value


@given(real_json)
def test_the_order_of_keys_does_not_matter(payload: Any):
    assert of(10, ("ann", payload, True, START)) == of(10, ("ann", reversed_keys(payload), True, START))


@given(real_json, real_json)
def test_two_payloads_are_one_request_exactly_when_their_canonical_texts_are_equal(one: Any, other: Any):
    canonical = [json.dumps(payload, sort_keys=True) for payload in (one, other)]
    prints = [of(10, ("ann", payload, True, START)) for payload in (one, other)]
    assert (prints[0] == prints[1]) == (canonical[0] == canonical[1])


@pytest.mark.parametrize(
    "content",
    [
        ("bob", {"a": 1}, True, START),
        (None, {"a": 1}, True, START),
        ("ann", {"a": "1"}, True, START),
        ("ann", [{"a": 1}], True, START),
        ("ann", None, True, START),
        ("ann", {"a": 1}, False, START),
        ("ann", {"a": 1}, True, None),
        ("ann", {"a": 1}, True, START + timedelta(microseconds=1)),
    ],
    ids=repr,
)
def test_every_part_of_the_content_counts(content: tuple[Any, Any, bool, Any]):
    assert of(10, content) != of(10)


@given(st.integers(-14, 14))
def test_the_same_moment_in_another_zone_is_the_same_request(hours: int):
    assert of(10, ("ann", {"a": 1}, True, START.astimezone(timezone(timedelta(hours=hours))))) == of(10)


def test_it_is_64_hexadecimal_digits():
    assert set(of(10)) <= set("0123456789abcdef")
    assert len(of(10)) == 64
