"""Registrations, beats, moves and deletions of one consumer at the same moment, from threads with connections of their own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from tests.support.consumers import OTHER_ROLE, ROLE, ConsumerDesk
from tests.support.engine import START
from workflow_engine.errors import ConflictError, NotFoundError, NotOwnerError

ROUNDS = 15


def two_sandboxes(desk: ConsumerDesk) -> tuple[ConsumerDesk, ConsumerDesk]:
    """Their connections are open already, so that they really meet."""
    sandboxes = desk.another(), desk.another()
    for sandbox in sandboxes:
        sandbox.register("warm", env_code=9)
    return sandboxes


@pytest.fixture
def pair(desk: ConsumerDesk) -> tuple[ConsumerDesk, ConsumerDesk]:
    return two_sandboxes(desk)


def at_once(*calls: Callable[[], Any]) -> Sequence[Any]:
    """Run the calls at the same moment; an error is a result too."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except (ConflictError, NotFoundError, NotOwnerError) as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def subscribed(desk: ConsumerDesk, consumer_id: int) -> list[str]:
    return desk.column(f"SELECT CONVERT(definition_key USING utf8mb4) FROM subscription WHERE consumer_id = {consumer_id} ORDER BY 1")


@pytest.mark.scenario(80)
def test_two_first_registrations_at_once_make_one_consumer(desk: ConsumerDesk, pair: tuple[ConsumerDesk, ConsumerDesk]):
    for number in range(ROUNDS):
        answers = at_once(*(partial(sandbox.register, f"c{number}", env_code=100 + number) for sandbox in pair))
        assert len({answer.consumer_id for answer in answers}) == 1
        assert sorted(answer.created for answer in answers) == [False, True]
    assert desk.column("SELECT COUNT(*) FROM consumer WHERE env_id <> (SELECT id FROM environment WHERE code = 9)") == [ROUNDS]
    assert desk.column("SELECT COUNT(*) FROM environment") == [ROUNDS + 1]


def test_two_changed_registrations_at_once_leave_one_of_them_whole(desk: ConsumerDesk, pair: tuple[ConsumerDesk, ConsumerDesk]):
    consumer_id = desk.register(definitions=["start"]).consumer_id
    choices = [(["a", "b"], 10), (["b", "c"], 20)]
    for _ in range(ROUNDS):
        at_once(*(partial(one.register, definitions=names, beat_seconds=seconds) for one, (names, seconds) in zip(pair, choices, strict=True)))
        shown = desk.one()
        assert (shown.definitions, shown.beat_seconds) in choices
        assert subscribed(desk, consumer_id) == shown.definitions


def test_two_consumers_that_want_one_endpoint_at_once_do_not_both_get_it(sns_desk: ConsumerDesk):
    first, second = two_sandboxes(sns_desk)
    for number in range(5):
        endpoint = {"protocol": "https", "address": f"https://example.com/{number}"}
        answers = at_once(partial(first.register, f"a{number}", endpoint=endpoint), partial(second.register, f"b{number}", endpoint=endpoint))
        assert [answer.code for answer in answers if isinstance(answer, ConflictError)] == ["ENDPOINT_IN_USE"]
    assert sns_desk.column("SELECT COUNT(*) FROM consumer WHERE endpoint_hash IS NOT NULL") == [5]


def test_beats_during_registrations_are_never_lost(desk: ConsumerDesk, pair: tuple[ConsumerDesk, ConsumerDesk]):
    desk.register()
    for number in range(1, ROUNDS + 1):
        desk.clock.at = START + timedelta(seconds=number)
        at_once(partial(pair[0].register, definitions=["a"]), partial(pair[1].beat, progress={"outbox_depth": number}))
        shown = desk.one()
        assert shown.last_beat == START + timedelta(seconds=number)
        assert shown.progress is not None
        assert shown.progress.outbox_depth == number


@pytest.mark.scenario(112)
def test_a_registration_during_a_deletion_ends_in_one_whole_consumer_or_none(desk: ConsumerDesk, pair: tuple[ConsumerDesk, ConsumerDesk]):
    for number in range(ROUNDS):
        name = f"c{number}"
        first = desk.register(name, definitions=["a"]).consumer_id
        registered, deleted = at_once(partial(pair[0].register, name, definitions=["b"]), partial(pair[1].delete, name))
        assert deleted.consumer_id == first
        assert subscribed(desk, first) == []
        if registered.consumer_id == first:
            assert not registered.created
        else:
            assert subscribed(desk, registered.consumer_id) == ["b"]


def test_two_deletions_at_once_both_say_deleted_or_not_found(desk: ConsumerDesk, pair: tuple[ConsumerDesk, ConsumerDesk]):
    for number in range(ROUNDS):
        name = f"c{number}"
        desk.register(name)
        answers = at_once(*(partial(sandbox.delete, name) for sandbox in pair))
        assert any(not isinstance(answer, NotFoundError) for answer in answers)
    assert desk.page(env_code=1).items == []


@pytest.mark.scenario(113)
def test_a_registration_by_the_former_owner_during_a_move_does_not_keep_its_access(desk: ConsumerDesk, pair: tuple[ConsumerDesk, ConsumerDesk]):
    for number in range(ROUNDS):
        name = f"c{number}"
        desk.register(name)
        at_once(partial(pair[0].register, name, definitions=["b"]), partial(pair[1].move, OTHER_ROLE, name))
        shown = next(item for item in desk.page(env_code=1, limit=200).items if item.consumer == name)
        assert (shown.owner, shown.principals) == (OTHER_ROLE, [])
        with pytest.raises(NotOwnerError):
            desk.beat(name, principal=ROLE)
