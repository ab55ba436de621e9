"""What applications say of their own work: kept, frozen, and never in a trigger's way."""

import threading
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from pydantic import ValidationError

from tests.support.engine import Workbench
from tests.support.reads import Reads
from tests.support.rows import Rows
from tests.support.scenes import leave
from workflow_engine.dal import DbExecutionLoad
from workflow_engine.errors import ConnectionLostError, InvalidRequestError, NotFoundError, TooLargeError
from workflow_engine.models.runtime import RuntimeResult


def stored(bench: Workbench) -> list[dict[str, Any]]:
    return bench.sql(
        "SELECT r.id, r.lifecycle_id, s.name AS state, r.activity, CONVERT(r.actor USING utf8mb4) AS actor, r.status, r.data, r.is_frozen "
        "FROM runtime r JOIN state s ON s.id = r.state_id ORDER BY r.id"
    )


@pytest.fixture
def guid(bench: Workbench) -> str:
    """An instance that stands in Submitted."""
    leave(bench, "c1")
    return bench.trigger("Submit").instance_guid


@pytest.mark.scenario(83)
def test_a_second_report_with_the_same_key_changes_the_row(bench: Workbench, reads: Reads, guid: str):
    first = reads.report(guid, "Mail", "running", actor="bot", data={"n": 1})
    assert first == RuntimeResult(runtime_id=first.runtime_id, changed=True, frozen=False, status="running")
    second = reads.report(guid, "Mail", "done", actor="bot", data={"n": 2})
    assert second == RuntimeResult(runtime_id=first.runtime_id, changed=True, frozen=False, status="done")
    row = {"id": first.runtime_id, "lifecycle_id": 0, "state": "Submitted", "activity": "Mail", "actor": "bot", "status": "done", "data": '{"n": 2}'}
    assert stored(bench) == [{**row, "is_frozen": 0}]


@pytest.mark.scenario(83)
def test_a_frozen_row_keeps_its_status_until_it_is_unfrozen(bench: Workbench, reads: Reads, guid: str):
    row_id = reads.report(guid, "Mail", "running", data="first").runtime_id
    frozen = RuntimeResult(runtime_id=row_id, changed=False, frozen=True, status="running")
    assert reads.freeze(row_id) == frozen.model_copy(update={"changed": True})
    assert reads.freeze(row_id) == frozen
    assert reads.report(guid, "Mail", "done", data="second") == frozen
    assert reads.set_status(row_id, "done") == frozen
    assert (stored(bench)[0]["status"], stored(bench)[0]["data"]) == ("running", '"first"')
    assert reads.unfreeze(row_id) == RuntimeResult(runtime_id=row_id, changed=True, frozen=False, status="running")
    assert reads.unfreeze(row_id).changed is False
    assert reads.set_status(row_id, "done") == RuntimeResult(runtime_id=row_id, changed=True, frozen=False, status="done")


def test_the_same_report_again_changes_nothing(bench: Workbench, reads: Reads, guid: str):
    row_id = reads.report(guid, "Mail", "running", data=[1]).runtime_id
    before = bench.sql("SELECT * FROM runtime")
    bench.clock.advance(5)
    assert reads.report(guid, "Mail", "running", data=[1]).changed is False
    assert reads.set_status(row_id, "running").changed is False
    assert bench.sql("SELECT * FROM runtime") == before


def test_data_that_is_not_given_stays_and_null_takes_it_away(bench: Workbench, reads: Reads, guid: str):
    reads.report(guid, "Mail", "running", data={"n": 1})
    reads.report(guid, "Mail", "done")
    assert stored(bench)[0]["data"] == '{"n": 1}'
    reads.report(guid, "Mail", "done", data=None)
    assert stored(bench)[0]["data"] is None


def test_activities_are_compared_trimmed_and_without_case_and_actors_exactly(bench: Workbench, reads: Reads, guid: str):
    first = reads.report(guid, "Straße ", "a")
    assert reads.report(guid, " STRASSE", "b").runtime_id == first.runtime_id
    assert stored(bench)[0]["activity"] == "Straße"
    others = {reads.report(guid, "Straße", "a", actor=actor).runtime_id for actor in ("bot", "Bot", "bot ")}
    assert len(others | {first.runtime_id}) == 4


def test_a_report_belongs_to_its_step_and_the_state_that_led_to(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    submitted = bench.trigger("Submit")
    review = bench.trigger(40)
    guid = review.instance_guid
    ids = [reads.report(guid, "Mail", "a", lifecycle_id=step).runtime_id for step in (submitted.lifecycle_id, review.lifecycle_id, None, 0)]
    assert ids[2] == ids[3]
    assert [(row["lifecycle_id"], row["state"]) for row in stored(bench)] == [
        (submitted.lifecycle_id, "Submitted"),
        (review.lifecycle_id, "Review"),
        (0, "Review"),
    ]
    assert reads.report(guid, "Mail", "late", lifecycle_id=submitted.lifecycle_id).runtime_id == ids[0]


def test_a_report_without_step_has_a_row_for_each_state(bench: Workbench, reads: Reads, guid: str):
    before = reads.report(guid, "Mail", "a").runtime_id
    bench.trigger(40)
    assert reads.report(guid, "Mail", "a").runtime_id != before
    assert [row["state"] for row in stored(bench)] == ["Submitted", "Review"]


def test_what_does_not_exist_is_not_found(bench: Workbench, reads: Reads, guid: str):
    with pytest.raises(NotFoundError) as refused:
        reads.report(str(uuid4()))
    assert refused.value.code == "INSTANCE_NOT_FOUND"
    for call in (reads.freeze, reads.unfreeze, lambda row_id: reads.set_status(row_id, "x")):
        with pytest.raises(NotFoundError) as missing:
            call(4711)
        assert missing.value.code == "RUNTIME_NOT_FOUND"
    other = bench.trigger("Submit", "R-2").lifecycle_id
    for step in (4711, other):
        with pytest.raises(InvalidRequestError) as wrong:
            reads.report(guid, lifecycle_id=step)
        assert [item.pointer for item in wrong.value.errors] == ["/lifecycle_id"]
    assert stored(bench) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"activity": " "},
        {"activity": "x" * 121},
        {"status": ""},
        {"status": "x" * 61},
        {"actor": "x" * 121},
        {"lifecycle_id": -1},
        {"lifecycle_id": "1"},
        {"more": 1},
    ],
)
def test_a_wrong_report_is_refused(reads: Reads, wrong: dict[str, Any]):
    with pytest.raises(ValidationError):
        reads.report(str(uuid4()), **wrong)


def test_data_is_small(bench: Workbench, reads: Reads, guid: str):
    assert reads.report(guid, data="x" * (16 * 1024 - 2)).changed
    with pytest.raises(TooLargeError):
        reads.report(guid, "Other", data="ä" * 8_192)
    assert len(stored(bench)) == 1


def test_the_longest_names_fit(reads: Reads, guid: str):
    wide = "\U0001f600"
    result = reads.report(guid, wide * 120, wide * 60, actor=wide * 120)
    assert reads.timeline(guid).other_activities[0].actor == wide * 120
    assert result.status == wide * 60


def test_a_report_neither_waits_for_the_instance_nor_makes_a_trigger_wait(bench: Workbench, reads: Reads, rows: Rows, guid: str):
    """The instance is locked by somebody else all the while."""
    other = bench.another()
    with other.dal.begin(other.deadline()) as load:
        other.dal.read(load, other.dal.instance.lock_by_guid(guid))
        row_id = reads.report(guid).runtime_id
        assert reads.set_status(row_id, "done").changed
        assert reads.freeze(row_id).changed
    with other.dal.begin(other.deadline()) as load:
        other.dal.read(load, other.dal.runtime.get_by_id(row_id))
        other.dal._db.send(load, [other.dal.runtime.update_frozen(row_id, is_frozen=False, now=bench.clock.now())])
        assert bench.trigger(40).applied
    assert rows.run("SELECT COUNT(*) FROM lifecycle") == ((2,),)


def test_a_row_frozen_between_look_and_change_keeps_its_status(bench: Workbench, reads: Reads, guid: str):
    row_id = reads.report(guid, status="running").runtime_id
    other = Reads(bench.another())
    row = bench.dal.first(bench.dal.reading(bench.deadline()), bench.dal.runtime.get_by_id(row_id))
    assert row is not None
    other.freeze(row_id)
    engine = bench.engine.runtime_engine
    with bench.dal.begin(bench.deadline()) as load:
        result = engine._report(load, row, replace(row, status="done"), is_own=False)
    assert result == RuntimeResult(runtime_id=row_id, changed=False, frozen=True, status="running")


def test_many_first_reports_at_once_make_one_row(bench: Workbench, reads: Reads, guid: str):
    benches = [bench.another() for _ in range(8)]
    results: list[RuntimeResult] = []
    threads = [threading.Thread(target=lambda one=one, n=n: results.append(Reads(one).report(guid, "Mail", f"status {n}"))) for n, one in enumerate(benches)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert len({result.runtime_id for result in results}) == 1
    assert len(stored(bench)) == 1
    assert reads.timeline(guid).other_activities[0].status in {result.status for result in results}


def test_a_report_whose_answer_was_lost_is_not_told_as_unchanged(bench: Workbench, reads: Reads, guid: str, monkeypatch: pytest.MonkeyPatch):
    lost = {"left": 2}
    write = bench.dal.write

    def write_and_lose(load: DbExecutionLoad, packet: Any) -> Any:
        result = write(load, packet)
        if lost["left"]:
            lost["left"] -= 1
            raise ConnectionLostError("the answer did not arrive")
        return result

    monkeypatch.setattr(bench.dal, "write", write_and_lose)
    created = reads.report(guid, "Mail", "running")
    assert created.changed
    lost["left"] = 1
    assert reads.report(guid, "Mail", "done") == created.model_copy(update={"status": "done"})
    assert len(stored(bench)) == 1
