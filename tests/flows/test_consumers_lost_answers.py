"""A connection cut after COMMIT ran and before its answer came: the unit of work knows its own work again."""

from datetime import timedelta

from tests.support.consumers import OTHER_ROLE, ConsumerDesk, deadline
from tests.support.engine import START
from workflow_engine.dal.packet import statement
from workflow_engine.models.consumer import ConsumerRow, OwnerMove


def test_a_first_registration_whose_answer_was_lost_is_still_the_first(desk: ConsumerDesk):
    desk.register("warm")
    desk.db.is_answer_lost = True
    answer = desk.register()
    assert (answer.created, answer.signing_key is not None) == (True, True)
    assert desk.column("SELECT id FROM consumer WHERE consumer_guid = 'c1'") == [answer.consumer_id]


def test_a_changed_registration_whose_answer_was_lost_is_written_once_more(desk: ConsumerDesk):
    first = desk.register()
    desk.db.is_answer_lost = True
    second = desk.register(definitions=["a", "b"])
    assert (second.consumer_id, second.created) == (first.consumer_id, False)
    assert desk.column("SELECT CONVERT(definition_key USING utf8mb4) FROM subscription ORDER BY 1") == ["a", "b"]


def test_a_deletion_whose_answer_was_lost_is_told_as_done(desk: ConsumerDesk):
    consumer_id = desk.register().consumer_id
    desk.db.is_answer_lost = True
    assert desk.delete().consumer_id == consumer_id


def test_a_move_whose_answer_was_lost_writes_its_audit_once(desk: ConsumerDesk):
    desk.register()
    ids = desk.dal.unit_ids()

    def audit(_row: ConsumerRow):
        ids.rewind()
        return [statement("INSERT INTO category (id, name, name_key) VALUES (%(ROW_ID)s, 'moved', 'moved')", ROW_ID=ids.next_id())]

    desk.db.is_answer_lost = True
    moved = desk.manager.set_owner(OwnerMove(env_code=1, consumer="c1", principal=OTHER_ROLE), audit, deadline())
    assert moved.owner == OTHER_ROLE
    assert desk.column("SELECT COUNT(*) FROM category") == [1]


def test_a_beat_whose_answer_was_lost_beats_once_more(desk: ConsumerDesk):
    desk.register()
    desk.clock.advance(5)
    desk.db.is_answer_lost = True
    assert desk.beat().alive_until == START + timedelta(seconds=35)
