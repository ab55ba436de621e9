"""Which version an imported definition becomes."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_engine.engine.rules.versions import choose_version
from workflow_engine.errors import ConflictError
from workflow_engine.models.def_version import DefVersionRow

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def stored(*versions):
    """Versions by number, each with the content `v<number>`, newest first as they are read."""
    return [DefVersionRow(def_version_id=100 + number, version=number, content_hash=f"v{number}", created=NOW) for number in sorted(versions, reverse=True)]


@pytest.mark.scenario(1, 2, 3)
@pytest.mark.parametrize(
    ("content", "explicit", "versions", "expected"),
    [
        ("new", None, (), (1, None, False)),
        ("new", 1, (), (1, None, False)),
        ("new", 5, (), (5, None, False)),
        ("new", None, (1, 2), (3, None, False)),
        ("new", 3, (1, 2), (3, None, False)),
        ("new", 9, (1, 2), (9, None, False)),
        ("new", None, (1, 9), (10, None, False)),
        ("v1", None, (1, 2), (1, 101, False)),
        ("v1", 1, (1, 2), (1, 101, False)),
        ("v1", 7, (1, 2), (1, 101, True)),
        ("v9", 4, (1, 9), (9, 109, True)),
    ],
)
def test_same_content_keeps_its_version_and_new_content_gets_the_next_or_a_higher_one(content, explicit, versions, expected):
    choice = choose_version(content, explicit, stored(*versions))
    assert (choice.version, choice.existing.def_version_id if choice.existing else None, choice.is_other) == expected


@pytest.mark.scenario(4)
@pytest.mark.parametrize(("content", "explicit", "versions"), [("new", 1, (1,)), ("new", 1, (2,)), ("new", 2, (1, 3)), ("v2", 1, (1, 2))])
def test_a_version_that_is_taken_or_passed_is_a_conflict(content, explicit, versions):
    with pytest.raises(ConflictError) as refused:
        choose_version(content, explicit, stored(*versions))
    assert refused.value.code == "VERSION_CONFLICT"


@given(st.lists(st.tuples(st.integers(1, 4), st.none() | st.integers(1, 12)), max_size=20))
def test_whatever_is_imported_a_version_never_changes_its_content(imports):
    rows: list[DefVersionRow] = []
    for content, explicit in imports:
        try:
            choice = choose_version(str(content), explicit, rows)
        except ConflictError:
            continue
        if choice.existing is None:
            assert all(choice.version > row.version for row in rows)
            rows.insert(0, DefVersionRow(def_version_id=len(rows), version=choice.version, content_hash=str(content), created=NOW))
        else:
            assert choice.existing.content_hash == str(content)
    assert len({row.content_hash for row in rows}) == len({row.version for row in rows}) == len(rows)
