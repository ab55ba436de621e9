"""One sentence for each way in which an instance can stand still."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.engine import START
from workflow_engine.engine.rules.why_summary import StepFailure, WhyFacts, why_summary
from workflow_engine.models.enums import InstanceStatus
from workflow_engine.models.instance import EventView, InstanceView
from workflow_engine.models.why import DownConsumer, GaveUpAck, HeldAck, HeldBy, OpenAck, PossibleEvent, RunningTimeout

T = "2026-01-01T12:00:00.000000Z"
APPROVE, REJECT = PossibleEvent(code=20, name="Approve", to_state="Approved"), PossibleEvent(code=30, name="Reject", to_state="Rejected")
TIMEOUT = RunningTimeout(event=EventView(code=30, name="Reject"), mode="once", n=0, max_retry=None, due_at=START)


def instance(**changes: Any) -> InstanceView:
    fields: dict[str, Any] = {
        "instance_id": 1,
        "instance_guid": "g",
        "env_code": 1,
        "external_ref": "R-1",
        "definition": "L",
        "def_version": 1,
        "policy_hash": None,
        "current_state": "Submitted",
        "status": "Active",
        "message": None,
        "seq": 3,
        "last_event": None,
        "created": START,
        "modified": START,
        "state_entered_at": START,
        "state_due_at": None,
    }
    return InstanceView(**fields | changes)


def said(**changes: Any) -> str:
    """The sentence for an active instance in step 3 with nothing open, but for the changes."""
    facts: dict[str, Any] = {
        "instance": instance(),
        "status": InstanceStatus.ACTIVE,
        "is_operators": False,
        "has_acks": True,
        "open": [],
        "held": [],
        "most_held": 50,
        "gave_up": [],
        "failures": [],
        "down": [],
        "timeout": None,
        "events": [APPROVE, REJECT],
    }
    return why_summary(WhyFacts(**facts | changes))


def opened(consumer: str = "c1", **changes: Any) -> OpenAck:
    fields = {"ack_guid": "a", "kind": "transition", "route": None, "seq": 3, "consumer": consumer, "alive": True, "status": "Pending", "attempts": 2}
    return OpenAck(**{**fields, "next_due": START, **changes})


def held(consumer: str = "c1", seq: int = 4) -> HeldAck:
    return HeldAck(ack_guid="h", seq=seq, consumer=consumer, held_by=HeldBy(ack_guid="a", reason="pending"))


def given_up(how: str, **changes: Any) -> GaveUpAck:
    fields = {"ack_guid": "a", "kind": "transition", "route": None, "seq": 3, "consumer": "c1", "attempts": 12, "message": None, "gave_up_at": START}
    return GaveUpAck(**{**fields, "gave_up": how, **changes})


def test_a_pending_event_names_its_consumer_its_tries_and_its_time():
    assert said(open=[opened()]) == f"It waits for c1 to acknowledge step 3 (sent 2 times, due at {T})."


def test_an_event_that_was_never_sent_says_so():
    assert said(open=[opened(attempts=0)]) == f"It waits for c1 to acknowledge step 3 (not sent yet, due at {T})."


def test_a_hook_is_named_by_its_route():
    assert said(open=[opened(route="APP.X", attempts=1, next_due=None)]) == "It waits for c1 to acknowledge hook APP.X of step 3 (sent 1 time)."


def test_several_consumers_are_named_once_each_and_not_more_than_three():
    names = ["c1", "c1", "c2", "c3", "c4", "c5"]
    assert said(open=[opened(name) for name in names]).startswith("It waits for c1, c2, c3 and 2 more to acknowledge step 3")
    assert said(open=[opened("c1"), opened("c2")]).startswith("It waits for c1 and c2 to acknowledge step 3")


def test_a_consumer_that_is_down_is_the_reason_before_one_that_is_alive():
    down = DownConsumer(consumer="c2", last_beat=START)
    sentence = said(open=[opened("c1"), opened("c2", alive=False, attempts=0)], down=[down])
    assert sentence == f"It waits for c2 and c1 to acknowledge step 3; c2 is down since {T}, and gets its events when it beats again."


def test_a_deleted_consumer_is_no_longer_waited_for():
    sentence = said(open=[opened("gone", alive=False)])
    assert sentence == "It waits for gone to acknowledge step 3; gone has been deleted, and the monitor closes its events."


def test_events_held_behind_are_counted_as_far_as_they_were_read():
    assert ", with 1 later event held behind it" in said(open=[opened()], held=[held(), held("c2")])
    assert ", with 50 or more later events held behind it" in said(open=[opened()], held=[held()] * 50)


def test_a_delivered_event_waits_to_be_processed():
    assert said(open=[opened(status="Delivered")]) == "It waits for c1 to process step 3, which was delivered."
    down = DownConsumer(consumer="c1", last_beat=START)
    sentence = said(open=[opened(status="Delivered", alive=False)], down=[down])
    assert sentence == f"It waits for c1 to process step 3, which was delivered; c1 is down since {T}, and gets its events when it beats again."


def test_a_parked_lane_is_the_reason_before_anything_that_is_open():
    sentence = said(open=[opened("c2")], gave_up=[given_up("park")], held=[held(), held("c2"), held()])
    assert sentence == (
        "The engine gave up on c1 at step 3 and parked its events, with 2 later events held behind it; "
        "they go on when c1 acknowledges or an operator resumes the instance."
    )


def test_the_engines_suspension_names_its_cause():
    sentence = said(status=InstanceStatus.SUSPENDED, gave_up=[given_up("suspend", route="APP.X")])
    assert sentence == (
        "The engine suspended it because c1 did not acknowledge hook APP.X of step 3 after 12 attempts; "
        "it goes on when c1 acknowledges or an operator resumes it."
    )


def test_the_engines_suspension_without_a_row_says_what_the_instance_says():
    sentence = said(status=InstanceStatus.SUSPENDED, instance=instance(message="gave up"))
    assert sentence == 'The engine suspended it ("gave up"); it goes on when an operator resumes it.'


def test_an_operators_suspension_gives_the_operators_reason():
    sentence = said(status=InstanceStatus.SUSPENDED, is_operators=True, instance=instance(message="looking into it"), open=[opened()])
    assert sentence == 'An operator suspended it ("looking into it"); it goes on when an operator resumes it.'


def test_a_running_timeout_is_told_beside_the_reason():
    assert (
        said(timeout=TIMEOUT)
        == f"Every consumer has processed step 3, and nobody has raised the next event (Approve or Reject); the timeout raises Reject at {T}."
    )
    quiet = TIMEOUT.model_copy(update={"event": None, "due_at": START + timedelta(hours=1)})
    assert said(open=[opened(next_due=None)], timeout=quiet).endswith("; the timeout raises a notice at 2026-01-01T13:00:00.000000Z.")


def test_nothing_open_and_nobody_triggers():
    assert said() == "Every consumer has processed step 3, and nobody has raised the next event (Approve or Reject)."
    assert said(has_acks=False) == "Step 3 asked for no acknowledgement, and nobody has raised the next event (Approve or Reject)."


def test_a_listener_that_is_down_may_be_the_one_who_should_trigger():
    sentence = said(down=[DownConsumer(consumer="c9", last_beat=START)])
    assert sentence == f"Every consumer has processed step 3, and nobody has raised the next event (Approve or Reject); c9 is down since {T}."


def test_a_consumers_own_failure_is_told_with_its_message():
    sentence = said(failures=[StepFailure(consumer="c1", message="no stock")])
    assert sentence == 'c1 reported step 3 as Failed ("no stock"), and nobody has raised the next event (Approve or Reject).'


def test_a_skipped_consumer_is_told():
    sentence = said(gave_up=[given_up("skip")])
    assert sentence == "The engine gave up on c1 at step 3 and went on without it, but nobody has raised the next event (Approve or Reject)."


def test_an_instance_that_no_event_has_moved_waits_for_its_first():
    sentence = said(instance=instance(seq=0, current_state="Draft"), has_acks=False, events=[APPROVE])
    assert sentence == "It was created in state Draft, and no event has moved it yet (Approve)."


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (InstanceStatus.COMPLETED, "It is Completed in state Submitted, and no event can move it any more."),
        (InstanceStatus.FAILED, 'It was ended as Failed ("beyond repair"), and no event can move it any more.'),
        (InstanceStatus.ARCHIVED, "It is archived; nothing can move it any more."),
    ],
)
def test_an_instance_that_has_ended_says_how(status: InstanceStatus, sentence: str):
    assert said(status=status, instance=instance(message="beyond repair"), events=[]) == sentence


def test_an_ended_instance_still_delivers_its_last_events():
    sentence = said(status=InstanceStatus.COMPLETED, open=[opened("c1"), opened("c2")], events=[])
    assert sentence == "It is Completed in state Submitted, and no event can move it any more; its last events still go to c1 and c2."
