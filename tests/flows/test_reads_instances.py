"""Instances: one, and the list by every filter."""

from datetime import timedelta
from uuid import uuid4

import pytest
from pydantic import ValidationError

from tests.support.reads import Reads
from tests.support.rows import START, MadeInstance, Rows
from workflow_engine.errors import InvalidRequestError, NotFoundError
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.instance import EventView, InstanceView

ACTIVE, SUSPENDED, COMPLETED = LifeCycleInstanceFlag.ACTIVE, LifeCycleInstanceFlag.SUSPENDED, LifeCycleInstanceFlag.COMPLETED


def ids(*made: MadeInstance) -> list[int]:
    return [instance.instance_id for instance in made]


def later(seconds: int) -> dict[str, object]:
    return {"created": START + timedelta(seconds=seconds)}


def test_an_instance_is_shown_with_everything_that_is_known_of_it(rows: Rows, reads: Reads) -> None:
    definition = rows.definition("Leave", env_code=7, version=3)
    instance = rows.instance(definition, external_ref="R-1", message="a word", state_due_at=START + timedelta(hours=1))
    rows.step(instance)
    assert reads.instance(instance.guid) == InstanceView(
        instance_id=instance.instance_id,
        instance_guid=instance.guid,
        env_code=7,
        external_ref="R-1",
        definition="Leave",
        def_version=3,
        policy_hash=None,
        current_state="Submitted",
        status="Active",
        message="a word",
        seq=1,
        last_event=EventView(code=10, name="Submit"),
        created=START,
        modified=START,
        state_entered_at=START,
        state_due_at=START + timedelta(hours=1),
    )


def test_an_unknown_instance_is_not_found(rows: Rows, reads: Reads) -> None:
    rows.instance(rows.definition())
    with pytest.raises(NotFoundError) as refused:
        reads.instance(str(uuid4()))
    assert refused.value.code == "INSTANCE_NOT_FOUND"


@pytest.mark.parametrize("near", ["", "ä" * 36, "\U0001f600" * 9, "x" * 1_024, "\0" * 36, "upper", "space"])
def test_what_is_no_guid_finds_nothing_and_breaks_nothing(rows: Rows, reads: Reads, near: str) -> None:
    guid = rows.instance(rows.definition()).guid
    rows.consumer("c1")
    asked = {"upper": guid.upper(), "space": f"{guid} "}.get(near, near)
    for ask in (reads.instance, reads.timeline, reads.why, reads.ack):
        with pytest.raises(NotFoundError):
            ask(asked)
    if len(asked) == 36:
        with pytest.raises(NotFoundError):
            reads.report(asked)


def test_instances_are_listed_newest_first_and_those_of_one_moment_by_id(rows: Rows, reads: Reads) -> None:
    definition = rows.definition()
    old, first, second, new = (rows.instance(definition, **later(seconds)) for seconds in (0, 5, 5, 9))
    assert reads.all_instances() == ids(new, second, first, old)
    assert reads.all_instances(limit=1) == ids(new, second, first, old)
    assert reads.all_instances(def_name="L", limit=1) == ids(new, second, first, old)


def test_a_page_ends_with_a_cursor_only_when_more_follows(rows: Rows, reads: Reads) -> None:
    definition = rows.definition()
    for seconds in range(4):
        rows.instance(definition, **later(seconds))
    assert reads.instances(limit=3).cursor
    assert reads.instances(limit=4).cursor is None
    assert reads.instances(env_code=1, limit=4).cursor is None


def test_environment_and_definition_choose_instances_without_case(rows: Rows, reads: Reads) -> None:
    leave, other, elsewhere = rows.definition("Leave"), rows.definition("Other"), rows.definition("Leave", env_code=2)
    here, there, far = rows.instance(leave, **later(1)), rows.instance(other, **later(2)), rows.instance(elsewhere, **later(3))
    assert reads.all_instances(env_code=1) == ids(there, here)
    assert reads.all_instances(def_name=" LEAVE ") == ids(far, here)
    assert reads.all_instances(env_code=2, def_name="leave") == ids(far)
    assert reads.all_instances(env_code=2, def_name="Other") == []
    assert reads.all_instances(env_code=3) == []


def test_a_state_is_found_in_every_version_that_has_it(rows: Rows, reads: Reads) -> None:
    first = rows.definition()
    second = rows.definition(of=first, version=2)
    old, new = rows.instance(first, "Review", **later(1)), rows.instance(second, "Review", **later(2))
    rows.instance(second, "Draft", **later(3))
    assert reads.all_instances(state=" review") == ids(new, old)
    assert reads.all_instances(def_name="L", state="Review", limit=1) == ids(new, old)
    assert reads.all_instances(state="Nowhere") == []


def test_the_status_is_the_one_that_is_shown(rows: Rows, reads: Reads) -> None:
    definition = rows.definition()
    active = rows.instance(definition, **later(1))
    suspended = rows.instance(definition, flags=int(COMPLETED | SUSPENDED), **later(2))
    completed = rows.instance(definition, flags=int(COMPLETED), **later(3))
    assert reads.all_instances(status="suspended") == ids(suspended)
    assert reads.all_instances(def_name="L", status="COMPLETED") == ids(completed)
    assert reads.all_instances(status="Active", env_code=1) == ids(active)
    with pytest.raises(ValidationError):
        reads.instances(status="Sleeping")


def test_state_and_status_hold_together(rows: Rows, reads: Reads) -> None:
    definition = rows.definition()
    wanted = rows.instance(definition, "Review", flags=int(ACTIVE | SUSPENDED), **later(1))
    rows.instance(definition, "Review", **later(2))
    rows.instance(definition, "Draft", flags=int(ACTIVE | SUSPENDED), **later(3))
    assert reads.all_instances(state="Review", status="Suspended") == ids(wanted)


def test_a_reference_is_compared_exactly(rows: Rows, reads: Reads) -> None:
    first, second = rows.definition("A"), rows.definition("B")
    one, other = rows.instance(first, external_ref="Ref 1", **later(1)), rows.instance(second, external_ref="Ref 1", **later(2))
    for near in ("ref 1", "Ref 1 ", "Ref 11", "Ref"):
        rows.instance(first, external_ref=near)
    assert reads.all_instances(external_ref="Ref 1") == ids(other, one)
    assert reads.all_instances(external_ref="Ref 1", def_name="A", state="Draft", status="Active") == ids(one)
    assert reads.all_instances(external_ref="Ref 1", state="Review") == []


def test_a_prefix_is_taken_as_it_is_written(rows: Rows, reads: Reads) -> None:
    definition = rows.definition()
    found = [rows.instance(definition, external_ref=ref, **later(at)) for at, ref in enumerate(("a_%1", "a_%", "a_%Ω", "a_%\U0010ffff"))]
    for near in ("a_", "A_%1", "axx1", "b"):
        rows.instance(definition, external_ref=near)
    assert reads.all_instances(external_ref_prefix="a_%") == ids(*reversed(found))
    assert reads.all_instances(external_ref_prefix="a_%Ω", status="Active") == ids(found[2])
    assert reads.all_instances(external_ref_prefix="a_%", limit=1) == ids(*reversed(found))


def test_older_than_looks_at_the_time_of_creation(rows: Rows, reads: Reads) -> None:
    definition = rows.definition()
    old, young = rows.instance(definition, **later(0)), rows.instance(definition, state_entered_at=START, **later(50))
    reads.clock.advance(60)
    assert reads.all_instances(older_than_seconds=60) == ids(old)
    assert reads.all_instances(older_than_seconds=10, def_name="L", limit=1) == ids(young, old)
    assert reads.all_instances(older_than_seconds=61) == []


@pytest.mark.parametrize("cursor", ["", "x", "W10", "bm90IG91cnM"])
def test_a_cursor_that_the_list_did_not_give_out_is_refused(rows: Rows, reads: Reads, cursor: str) -> None:
    rows.definition()
    with pytest.raises(InvalidRequestError) as refused:
        reads.instances(cursor=cursor)
    assert [item.pointer for item in refused.value.errors] == ["/cursor"]


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 201}, {"older_than_seconds": -1}, {"external_ref": ""}, {"external_ref_prefix": ""}, {"sort": "x"}])
def test_what_the_list_does_not_know_is_refused(reads: Reads, wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        reads.instances(**wrong)


def test_rows_made_while_paging_neither_shift_nor_repeat_anything(rows: Rows, reads: Reads) -> None:
    definition = rows.definition()
    made = [rows.instance(definition, **later(seconds)) for seconds in range(5)]
    page = reads.instances(limit=2)
    rows.instance(definition, **later(100))
    rest = reads.instances(limit=10, cursor=page.cursor)
    assert [item.instance_id for item in [*page.items, *rest.items]] == ids(*reversed(made))
