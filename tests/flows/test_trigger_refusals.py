"""Events that do not apply: the reason, the notice, and what is not written."""

from typing import Any

import pytest

from tests.support.engine import Workbench
from tests.support.facts import codes, deliveries, everything, said, stands, steps
from tests.support.scenes import fail, leave, resume, suspend
from workflow_engine.errors import ConflictError
from workflow_engine.models.enums import NoticeCode, NoticeKind, StateDueKind
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.instance import EventView
from workflow_engine.models.trigger import LifeCycleTriggerResult

DAY = 86_400


def refusal(answer: LifeCycleTriggerResult, reason: str, state: str, seq: int = 0, event: EventView | None = None) -> LifeCycleTriggerResult:
    """What a refusal looks like: the state stays, nothing has an id."""
    return LifeCycleTriggerResult(
        applied=False,
        reason=reason,
        replayed=False,
        instance_guid=answer.instance_guid,
        external_ref="R-1",
        definition="Leave",
        def_version=1,
        from_state=state,
        to_state=None,
        current_state=state,
        event=event,
        lifecycle_id=None,
        seq=seq,
        ack_guid=None,
        hook_ack_guids=[],
    )


def rejected(reason: str, event: str, state: str) -> tuple[str, dict[str, Any]]:
    code = "NOOP_ALREADY_IN_STATE" if reason == "NoOpAlreadyInState" else "TRANSITION_REJECTED"
    return (code, {"reason": reason, "event": event, "state": state, "request_id": None})


@pytest.mark.scenario(16)
@pytest.mark.parametrize("event", ["Sumbit", 11, "99999999999999999999"], ids=repr)
def test_an_unknown_event_is_answered_and_the_instance_is_made_all_the_same(bench: Workbench, event: int | str):
    leave(bench)
    answer = bench.trigger(event)
    assert answer == refusal(answer, "UnknownEvent", "Draft")
    assert stands(bench) == {
        "state": "Draft",
        "flags": LifeCycleInstanceFlag.ACTIVE,
        "seq": 0,
        "suspended_by": None,
        "message": None,
        "state_entered_at": 0,
        "stale_at": DAY,
        "state_due_kind": StateDueKind.STALE,
        "state_due_at": DAY,
    }
    assert (steps(bench), deliveries(bench), bench.sent()) == ([], [], [])
    assert said(bench) == [rejected("UnknownEvent", str(event), "Draft")]


@pytest.mark.scenario(17)
def test_an_event_that_leads_nowhere_from_here_is_an_invalid_transition(bench: Workbench):
    leave(bench)
    answer = bench.trigger("Approve")
    assert answer == refusal(answer, "InvalidTransition", "Draft", event=EventView(code=20, name="Approve"))
    assert (steps(bench), deliveries(bench), bench.sent()) == ([], [], [])
    assert said(bench) == [rejected("InvalidTransition", "Approve", "Draft")]
    (notice,) = bench.publisher.notices
    assert notice.code.kind is NoticeKind.WARN
    assert (notice.env_code, notice.instance_guid, notice.external_ref, notice.ack_guid) == (1, answer.instance_guid, "R-1", None)


def test_a_refused_first_event_leaves_an_instance_that_the_right_event_moves(bench: Workbench):
    leave(bench)
    refused = bench.trigger("Approve")
    applied = bench.trigger("Submit")
    assert (applied.instance_guid, applied.applied, applied.seq) == (refused.instance_guid, True, 1)
    assert steps(bench) == [(1, "Draft", 10, "Submitted")]


def test_an_event_whose_work_is_done_is_no_operation_and_no_error(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    before = everything(bench)
    answer = bench.trigger("Submit")
    assert answer == refusal(answer, "NoOpAlreadyInState", "Submitted", seq=1, event=EventView(code=10, name="Submit"))
    assert everything(bench) == before
    assert said(bench) == [rejected("NoOpAlreadyInState", "Submit", "Submitted")]
    assert bench.noticed("NOOP_ALREADY_IN_STATE")[0].code.kind is NoticeKind.INFO
    assert bench.sent() == [("c1", 1, "transition", 1)]


@pytest.mark.scenario(22)
@pytest.mark.parametrize("kinds", [None, ["hook"]], ids=["nobody", "hooks-only"])
def test_without_a_consumer_of_transitions_nothing_at_all_is_written(bench: Workbench, kinds: list[str] | None):
    leave(bench, "elsewhere")
    bench.register("elsewhere", definitions=["Lamp"])
    if kinds:
        bench.register("hooks", kinds=kinds)
    before = everything(bench)
    for event in ("Submit", "Approve", "Sumbit"):
        with pytest.raises(ConflictError) as caught:
            bench.trigger(event, request_id="r-1")
        assert caught.value.code == "NO_TRANSITION_CONSUMER"
    assert everything(bench) == before
    assert (codes(bench), bench.sent()) == ([], [])


@pytest.mark.scenario(22)
def test_the_same_request_applies_once_somebody_listens(bench: Workbench):
    leave(bench, "elsewhere")
    bench.register("elsewhere", definitions=["Lamp"])
    with pytest.raises(ConflictError):
        bench.trigger("Submit", request_id="r-1")
    bench.register("c1")
    answer = bench.trigger("Submit", request_id="r-1")
    assert (answer.applied, answer.replayed) == (True, False)


@pytest.mark.scenario(35)
@pytest.mark.parametrize("event", ["Approve", "Reject", "Submit", "Sumbit"])
def test_a_completed_instance_is_terminal_whatever_the_event(bench: Workbench, event: str):
    leave(bench)
    bench.trigger("Submit")
    bench.trigger("Approve")
    before = everything(bench)
    answer = bench.trigger(event)
    assert (answer.applied, answer.reason, answer.current_state, answer.seq) == (False, "InstanceIsTerminal", "Approved", 2)
    assert everything(bench) == before
    assert said(bench) == [rejected("InstanceIsTerminal", event, "Approved")]


@pytest.mark.scenario(35)
@pytest.mark.parametrize("ending", ["failed", "archived", "failed-and-suspended"])
def test_a_failed_or_archived_instance_is_terminal(bench: Workbench, ending: str):
    leave(bench)
    guid = bench.trigger("Submit").instance_guid
    if ending == "archived":
        bench.sql(f"UPDATE instance SET flags = {int(LifeCycleInstanceFlag.ARCHIVED)}")
    else:
        if ending == "failed-and-suspended":
            suspend(bench, guid)
        fail(bench, guid)
    before = everything(bench)
    answer = bench.trigger("Approve")
    assert answer == refusal(answer, "InstanceIsTerminal", "Submitted", seq=1, event=EventView(code=20, name="Approve"))
    assert everything(bench) == before
    assert said(bench) == [rejected("InstanceIsTerminal", "Approve", "Submitted")]


@pytest.mark.scenario(35)
@pytest.mark.parametrize("event", ["Approve", "Submit", "Sumbit"])
def test_a_suspended_instance_is_not_active_whatever_the_event(bench: Workbench, event: str):
    leave(bench)
    suspend(bench, bench.trigger("Submit").instance_guid)
    before = everything(bench)
    answer = bench.trigger(event, request_id="r-1")
    assert (answer.applied, answer.reason, answer.current_state, answer.seq) == (False, "InstanceNotActive", "Submitted", 1)
    assert everything(bench) == before
    assert codes(bench) == ["TRANSITION_REJECTED"]


@pytest.mark.scenario(106)
def test_a_request_refused_while_suspended_applies_after_the_resume(bench: Workbench):
    leave(bench)
    guid = bench.trigger("Submit").instance_guid
    suspend(bench, guid)
    refused = bench.trigger("Approve", request_id="r-1")
    again = bench.trigger("Approve", request_id="r-1")
    assert (refused.reason, again.reason, again.replayed) == ("InstanceNotActive", "InstanceNotActive", False)
    resume(bench, guid)
    applied = bench.trigger("Approve", request_id="r-1")
    assert (applied.applied, applied.replayed, applied.seq) == (True, False, 2)
    assert steps(bench) == [(1, "Draft", 10, "Submitted"), (2, "Submitted", 20, "Approved")]
    assert bench.trigger("Approve", request_id="r-1") == applied.model_copy(update={"replayed": True})


def test_a_completed_and_suspended_instance_is_terminal_rather_than_not_active(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    suspend(bench, bench.trigger("Approve").instance_guid)
    assert bench.trigger("Reject").reason == "InstanceIsTerminal"


def test_a_refusal_is_a_notice_of_its_own_each_time(bench: Workbench):
    leave(bench)
    for _ in range(3):
        bench.trigger("Approve")
    assert [notice.code for notice in bench.publisher.notices] == [NoticeCode.TRANSITION_REJECTED] * 3
    assert codes(bench) == ["TRANSITION_REJECTED"] * 3
