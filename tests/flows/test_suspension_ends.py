"""How a suspension ends: by a late word, by an operator, and with what is left."""

import pytest

from tests.support.documents import definition_l
from tests.support.engine import PRINCIPAL, Workbench
from workflow_engine.errors import ConflictError
from workflow_engine.models.admin import AdminRequest

REASON = AdminRequest(reason="because")


def suspended(make_bench, *consumers: str) -> Workbench:
    """One instance, suspended because its consumers never answered; the second step is held."""
    bench = make_bench(max_retry_count=1)
    bench.import_(definition_l())
    for consumer in consumers:
        bench.register(consumer)
    bench.trigger("Submit")
    bench.trigger(40)
    bench.clock.advance(60)
    bench.monitor()
    return bench


def guid(bench: Workbench) -> str:
    return str(bench.sql("SELECT guid FROM instance")[0]["guid"])


@pytest.mark.scenario(109)
def test_a_resume_leaves_an_attempt_to_rows_that_had_none_left(make_bench):
    bench = suspended(make_bench, "c1", "c2")
    bench.engine.resume_instance(guid(bench), REASON, PRINCIPAL, bench.deadline())
    bench.publisher.messages.clear()
    bench.monitor()
    assert bench.sent() == [("c1", 1, "transition", 2), ("c2", 1, "transition", 2)]
    assert bench.engine.get_instance(guid(bench), bench.deadline()).status == "Active"


@pytest.mark.scenario(109)
def test_a_resume_with_nothing_but_a_deleted_consumers_rows_is_refused(bench):
    bench.import_(definition_l())
    bench.register("c1")
    bench.register("c2")
    bench.trigger("Submit")
    bench.engine.delete_consumer(1, "c2", PRINCIPAL, bench.deadline())
    bench.monitor()
    assert bench.count("ack_consumer", "gave_up IS NOT NULL") == 1
    with pytest.raises(ConflictError) as refused:
        bench.engine.resume_instance(guid(bench), REASON, PRINCIPAL, bench.deadline())
    assert (refused.value.code, bench.count("admin_audit")) == ("STATUS_CONFLICT", 0)


@pytest.mark.scenario(109)
def test_why_an_operator_failed_an_instance_outlives_the_suspension(make_bench):
    bench = suspended(make_bench, "c1")
    bench.engine.fail_instance(guid(bench), AdminRequest(reason="fraud"), PRINCIPAL, bench.deadline())
    bench.process_all("c1")
    view = bench.engine.get_instance(guid(bench), bench.deadline())
    assert (view.status, view.message) == ("Failed", "fraud")


def test_a_suspension_of_a_failed_instance_keeps_why_it_failed(make_bench):
    bench = make_bench(max_retry_count=1)
    bench.import_(definition_l())
    bench.register("c1")
    bench.trigger("Submit")
    bench.engine.fail_instance(guid(bench), AdminRequest(reason="fraud"), PRINCIPAL, bench.deadline())
    bench.clock.advance(60)
    bench.monitor()
    view = bench.engine.get_instance(guid(bench), bench.deadline())
    assert (view.status, view.message, bench.count("instance", "suspended_by = 1")) == ("Failed", "fraud", 1)


@pytest.mark.scenario(42)
def test_a_retry_in_the_past_is_due_now(bench):
    bench.import_(definition_l())
    bench.register("c1")
    answer = bench.ack(bench.trigger("Submit").ack_guid, "Retry", retry_at="2001-01-01T00:00:00Z")
    assert answer.next_due == bench.clock.now()


def test_why_says_that_a_failed_and_suspended_instance_holds_its_events_back(make_bench):
    bench = suspended(make_bench, "c1")
    bench.engine.fail_instance(guid(bench), AdminRequest(reason="fraud"), PRINCIPAL, bench.deadline())
    summary = bench.engine.why(guid(bench), bench.deadline()).summary
    assert summary == 'It was ended as Failed ("fraud"), and no event can move it any more; its last events are held back until an operator resumes it.'
