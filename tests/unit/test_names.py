"""How names and event references are compared."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_engine.engine.rules.canonical import author_json, canonical_json, content_hash
from workflow_engine.engine.rules.names import event_ref, is_code_text, name_key


@pytest.mark.parametrize(
    ("event", "ref"), [(7, 7), ("10", 10), (" 010 ", 10), ("submit", "submit"), (" SUBMIT ", "submit"), ("0", 0), ("1a", "1a"), ("²", "²"), ("-5", "-5")]
)
def test_digits_mean_a_code_and_anything_else_a_name(event, ref):
    assert event_ref(event) == ref


def test_digits_too_long_for_any_code_match_nothing():
    assert event_ref("9" * 5000) == "9" * 5000


def test_a_key_is_its_own_key_and_never_more_than_three_times_as_long():
    characters = [chr(code) for code in range(sys.maxunicode + 1)]
    assert [character for character in characters if name_key(name_key(character)) != name_key(character)] == []
    assert max(len(name_key(character)) for character in characters) == 3


@given(st.text())
def test_white_space_around_a_name_and_its_case_do_not_matter(text):
    assert name_key(f" {text}\t") == name_key(text)
    assert not is_code_text(f"x{text}")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values, min_size=2))
def test_the_order_of_keys_does_not_change_the_hash(document):
    reordered = dict(reversed(document.items()))
    assert canonical_json(document) == canonical_json(reordered)
    assert content_hash(document) == content_hash(reordered)
    assert list(reordered) != list(document)


def test_a_hash_is_written_as_a_guid():
    assert content_hash({"a": 1}) == "015abd7f-5cc5-7a2d-d94b-7590f04ad808"
    assert content_hash({"a": 1}) != content_hash({"a": 2})


def test_the_author_s_text_keeps_the_author_s_order():
    assert author_json({"b": [2, 1], "a": "é"}) == '{"b":[2,1],"a":"é"}'
