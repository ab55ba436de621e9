"""What registering and deleting mean for events: who gets a row, and what becomes of the rows of who is gone."""

from datetime import timedelta

import pytest

from tests.support.documents import definition_l
from tests.support.engine import PRINCIPAL, START, Workbench
from workflow_engine.errors import ConflictError, NotFoundError
from workflow_engine.models.enums import AckStatus, GaveUp


def rows_of(bench: Workbench, consumer_id: int) -> list[dict[str, object]]:
    return bench.sql(f"SELECT seq, status, next_due, gave_up, modified FROM ack_consumer WHERE consumer_id = {consumer_id} ORDER BY seq, ack_id")


@pytest.mark.scenario(112)
def test_a_consumer_registered_before_the_trigger_gets_its_row_and_a_deleted_one_gets_none(bench: Workbench):
    bench.import_(definition_l())
    first, second = bench.register("c1"), bench.register("c2")
    bench.trigger("Submit")
    bench.engine.delete_consumer(1, "c2", PRINCIPAL, bench.deadline())
    bench.trigger("Approve")
    assert [row["seq"] for row in rows_of(bench, first)] == [1, 2]
    assert [row["seq"] for row in rows_of(bench, second)] == [1]


@pytest.mark.scenario(112)
def test_the_open_rows_of_a_deleted_consumer_are_closed_as_skipped_and_those_of_others_are_not(bench: Workbench):
    bench.import_(definition_l())
    first, second = bench.register("c1"), bench.register("c2")
    bench.trigger("Submit")
    bench.trigger("Approve")
    before = rows_of(bench, first)
    bench.engine.delete_consumer(1, "c2", PRINCIPAL, bench.deadline())
    bench.monitor(passes=3)
    assert [(row["status"], row["next_due"], row["gave_up"]) for row in rows_of(bench, second)] == [(AckStatus.FAILED, None, GaveUp.SKIP)] * 2
    assert rows_of(bench, first) == before


def test_a_definition_without_consumers_after_a_deletion_refuses_triggers(bench: Workbench):
    bench.import_(definition_l())
    bench.register("c1")
    bench.engine.delete_consumer(1, "c1", PRINCIPAL, bench.deadline())
    with pytest.raises(ConflictError) as caught:
        bench.trigger("Submit")
    assert caught.value.code == "NO_TRANSITION_CONSUMER"


@pytest.mark.scenario(111)
def test_registering_again_replaying_importing_and_beating_leave_open_rows_as_they_are(bench: Workbench):
    bench.import_(definition_l())
    consumer_id = bench.register("c1")
    bench.trigger("Submit", request_id="r-1")
    before = rows_of(bench, consumer_id)
    bench.clock.at = START + timedelta(seconds=20)
    bench.register("c1", definitions=["Leave"], kinds=["transition"], on_exhausted="park")
    bench.beat("c1")
    assert bench.trigger("Submit", request_id="r-1").replayed
    bench.import_(definition_l())
    assert rows_of(bench, consumer_id) == before


def test_a_changed_registration_holds_for_new_events(bench: Workbench):
    bench.import_(definition_l())
    bench.register("keeper")
    consumer_id = bench.register("c1")
    bench.trigger("Submit")
    bench.register("c1", definitions=["Other"])
    bench.trigger("Approve")
    assert [row["seq"] for row in rows_of(bench, consumer_id)] == [1]


@pytest.mark.scenario(43)
def test_an_ack_by_name_equals_an_ack_by_id_and_an_unknown_name_makes_no_consumer(bench: Workbench):
    bench.import_(definition_l())
    ids = {name: bench.register(name) for name in ("c1", "c2")}
    ack_guid = bench.trigger("Submit").ack_guid
    by_name = bench.ack(ack_guid, "Processed", consumer="c1")
    by_id = bench.ack(ack_guid, "Processed", consumer=None, env_code=None, consumer_id=ids["c2"])
    assert by_name == by_id
    with pytest.raises(NotFoundError):
        bench.ack(ack_guid, "Processed", consumer="c3")
    assert bench.count("consumer") == 2
