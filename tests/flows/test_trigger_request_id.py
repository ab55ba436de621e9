"""The same request_id always gets the first answer, for the life of the instance."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.engine import START, Workbench
from tests.support.facts import codes, everything, said, steps
from tests.support.racing import Overlap
from tests.support.scenes import leave, leave_with_hook
from workflow_engine.errors import ConflictError


@pytest.mark.scenario(19)
def test_a_second_trigger_with_the_same_request_id_changes_nothing_and_gets_the_first_answer(bench: Workbench):
    leave_with_hook(bench)
    first = bench.trigger("Submit", request_id="r-1", actor="ann", payload={"a": 1, "b": [2]})
    before, sent = everything(bench), bench.sent()
    bench.clock.advance(days=400)
    again = bench.trigger("Submit", request_id="r-1", actor="ann", payload={"b": [2], "a": 1})
    assert again == first.model_copy(update={"replayed": True})
    assert everything(bench) == before
    assert bench.sent() == sent
    assert said(bench) == [("DUPLICATE_REQUEST", {"request_id": "r-1", "applied": True, "reason": None})]


@pytest.mark.scenario(19)
def test_a_replay_shows_the_values_of_then_not_of_now(bench: Workbench):
    leave(bench)
    first = bench.trigger("Submit", request_id="r-1")
    bench.trigger("Approve")
    again = bench.another().trigger("Submit", request_id="r-1")
    assert (again.current_state, again.seq, again.ack_guid) == ("Submitted", 1, first.ack_guid)
    assert again == first.model_copy(update={"replayed": True})


@pytest.mark.scenario(19)
@pytest.mark.parametrize(
    ("before", "event", "reason"),
    [
        ([], "Sumbit", "UnknownEvent"),
        ([], "Approve", "InvalidTransition"),
        (["Submit"], "Submit", "NoOpAlreadyInState"),
        (["Submit", "Approve"], "Reject", "InstanceIsTerminal"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_refusal_is_remembered_like_an_answer_even_when_the_event_would_apply_by_now(bench: Workbench, before: list[str], event: str, reason: str):
    leave(bench)
    for one in before:
        bench.trigger(one)
    first = bench.trigger(event, request_id="r-1")
    assert (first.applied, first.reason, first.replayed) == (False, reason, False)
    if not before:
        bench.trigger("Submit")
    tables = everything(bench)
    assert bench.trigger(event, request_id="r-1") == first.model_copy(update={"replayed": True})
    assert everything(bench) == tables
    assert said(bench)[-1] == ("DUPLICATE_REQUEST", {"request_id": "r-1", "applied": False, "reason": reason})


@pytest.mark.scenario(19)
def test_every_way_to_write_the_same_request_is_the_same_request(bench: Workbench):
    leave(bench)
    first = bench.trigger(10, request_id="r-1", occurred_at=START)
    same = [
        bench.trigger("10", request_id="r-1", occurred_at=START),
        bench.trigger(" submit ", request_id="r-1", occurred_at=START, ack_required=True, payload=None, actor=None),
        bench.trigger("Submit", instance_guid=first.instance_guid, request_id="r-1", occurred_at="2026-01-01T14:00:00+02:00"),
        bench.trigger("Submit", def_name="LEAVE", request_id="r-1", occurred_at="2026-01-01T12:00:00.000Z"),
    ]
    assert same == [first.model_copy(update={"replayed": True})] * 4


@pytest.mark.scenario(20)
@pytest.mark.parametrize(
    "change",
    [
        {"event": "Approve"},
        {"event": "Sumbit"},
        {"actor": "bob"},
        {"actor": None},
        {"payload": {"a": 2}},
        {"payload": [1]},
        {"payload": None},
        {"ack_required": False},
        {"occurred_at": START + timedelta(microseconds=1)},
        {"occurred_at": None},
    ],
    ids=repr,
)
def test_the_same_request_id_with_another_body_is_refused_and_writes_nothing(bench: Workbench, change: dict[str, Any]):
    leave(bench)
    body = {"event": "Submit", "actor": "ann", "payload": {"a": 1}, "occurred_at": START}
    first = bench.trigger(request_id="r-1", **body)
    before, sent = everything(bench), bench.sent()
    with pytest.raises(ConflictError) as caught:
        bench.trigger(request_id="r-1", **(body | change))
    assert caught.value.code == "REQUEST_ID_REUSED"
    assert everything(bench) == before
    assert (codes(bench), bench.sent()) == ([], sent)
    assert bench.trigger(request_id="r-1", **body) == first.model_copy(update={"replayed": True})


def test_a_request_id_belongs_to_its_instance(bench: Workbench):
    leave(bench)
    answers = [bench.trigger("Submit", ref, request_id="r-1") for ref in ("R-1", "R-2")]
    assert [(answer.applied, answer.replayed) for answer in answers] == [(True, False)] * 2
    assert len({answer.instance_guid for answer in answers}) == 2


def test_request_ids_are_compared_exactly(bench: Workbench):
    leave(bench)
    ids = ["r", "R", "r ", " r", "ŕ"]
    answers = [bench.trigger("Submit", request_id=one) for one in ids]
    assert [answer.replayed for answer in answers] == [False] * len(ids)
    assert [row["request_id"].decode() for row in bench.sql("SELECT request_id FROM request_log ORDER BY created, unit_id")] == ids


def test_without_a_request_id_every_call_counts_for_itself(bench: Workbench):
    leave(bench)
    assert [bench.trigger("Submit").reason for _ in range(3)] == [None, "NoOpAlreadyInState", "NoOpAlreadyInState"]
    assert bench.count("request_log") == 0


def test_a_replay_needs_no_consumer_any_more(bench: Workbench):
    leave(bench, "c1")
    first = bench.trigger("Submit", request_id="r-1")
    bench.register("c1", definitions=["Lamp"])
    assert bench.trigger("Submit", request_id="r-1") == first.model_copy(update={"replayed": True})


@pytest.mark.scenario(105)
@pytest.mark.parametrize("event", ["Submit", "Approve"])
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "existing"])
def test_the_same_request_during_the_first_one_waits_and_gets_its_answer(bench: Workbench, event: str, *, is_new: bool):
    leave_with_hook(bench)
    if not is_new:
        bench.trigger("Sumbit")

    def call(sandbox: Workbench) -> Any:
        return sandbox.trigger(event, request_id="r-1")

    first, second = Overlap(bench).run(call, call)
    assert first.replayed is False
    assert second == first.model_copy(update={"replayed": True})
    assert steps(bench) == ([(1, "Draft", 10, "Submitted")] if event == "Submit" else [])
    assert bench.sent() == ([("c1", 1, "transition", 1), ("c1", 1, "hook", 1)] if event == "Submit" else [])
    assert (bench.count("instance"), bench.count("request_log")) == (1, 1)


@pytest.mark.scenario(105)
def test_another_body_during_the_first_call_waits_and_is_refused(bench: Workbench):
    leave(bench)
    bench.trigger("Sumbit")

    def reuse(sandbox: Workbench) -> str:
        with pytest.raises(ConflictError) as caught:
            sandbox.trigger("Submit", request_id="r-1", actor="bob")
        return caught.value.code

    first, code = Overlap(bench).run(lambda sandbox: sandbox.trigger("Submit", request_id="r-1"), reuse)
    assert (first.applied, code) == (True, "REQUEST_ID_REUSED")
    assert steps(bench) == [(1, "Draft", 10, "Submitted")]
