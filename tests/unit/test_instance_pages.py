"""Pages of the list of instances, merged from walks that were cut."""

import random
from collections.abc import Sequence
from datetime import timedelta

import pytest

from tests.support.engine import START
from workflow_engine.engine.rules.instance_pages import InstanceFilter, KeyPage, best_page, merge_walks
from workflow_engine.models.enums import InstanceStatus
from workflow_engine.models.instances_api import InstanceKeyRow

FUTURE = (START + timedelta(days=1), 0)
EVERYTHING = InstanceFilter(before=FUTURE, definition_ids=None, state_ids=None, status=None, external_ref=None, prefix=None)
SUSPENDED = InstanceFilter(before=FUTURE, definition_ids=None, state_ids=None, status=InstanceStatus.SUSPENDED, external_ref=None, prefix=None)


def row(instance_id: int, seconds: int = 0, flags: int = 1) -> InstanceKeyRow:
    created = START + timedelta(seconds=seconds)
    return InstanceKeyRow(instance_id=instance_id, created=created, definition_id=1, state_id=1, flags=flags, external_ref=f"R-{instance_id}")


def ids(page: KeyPage) -> list[int]:
    return [key.instance_id for key in page.keys]


def test_a_cut_walk_says_nothing_of_what_is_older_than_its_end():
    cut, whole = [row(9, 9), row(8, 8)], [row(7, 7)]
    page = merge_walks([cut, whole], take=2, limit=5, wanted=EVERYTHING)
    assert (ids(page), page.goes_on_at) == ([9, 8], row(8, 8).place)


def test_a_page_that_is_full_goes_on_after_its_last_row():
    page = merge_walks([[row(9, 9), row(7, 7)], [row(8, 8)]], take=9, limit=2, wanted=EVERYTHING)
    assert (ids(page), page.goes_on_at) == ([9, 8], row(8, 8).place)


def test_walks_that_were_read_to_their_ends_make_the_last_page():
    page = merge_walks([[row(9, 9)], []], take=2, limit=2, wanted=EVERYTHING)
    assert (ids(page), page.goes_on_at, page.is_done(2)) == ([9], None, True)


def test_of_two_short_pages_the_one_that_looked_further_back_is_taken():
    near, far = KeyPage(keys=[], goes_on_at=row(9, 9).place), KeyPage(keys=[row(8, 8)], goes_on_at=row(1, 1).place)
    assert best_page([near, far], limit=5) is far
    last = KeyPage(keys=[], goes_on_at=None)
    assert best_page([near, last], limit=5) is last


@pytest.mark.parametrize("seed", range(20))
def test_pages_show_every_row_that_is_wanted_once_and_in_order(seed: int):
    chance = random.Random(seed)  # noqa: S311  # a repeatable mixture
    rows = [row(number, chance.randint(0, 20), chance.choice((1, 3))) for number in range(60)]
    streams: list[list[InstanceKeyRow]] = [[], [], []]
    for one in sorted(rows, key=lambda key: key.place, reverse=True):
        chance.choice(streams).append(one)
    for wanted in (EVERYTHING, SUSPENDED):
        expected = [key.instance_id for key in sorted(rows, key=lambda key: key.place, reverse=True) if wanted.keeps(key)]
        assert _all_pages(streams, wanted, take=chance.randint(4, 9), limit=3) == expected


def _all_pages(streams: Sequence[Sequence[InstanceKeyRow]], wanted: InstanceFilter, take: int, limit: int) -> list[int]:
    found: list[int] = []
    before = FUTURE
    while True:
        walks = [[key for key in stream if key.place < before][:take] for stream in streams]
        page = merge_walks(walks, take, limit, wanted)
        found += ids(page)
        if page.goes_on_at is None:
            return found
        before = page.goes_on_at
