"""The timeline: what happened, who was told, what applications said."""

import json
import random
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from pydantic import ValidationError

from tests.support.engine import START, Workbench
from tests.support.reads import Reads
from tests.support.rows import Rows, Sql
from tests.support.scenes import lamp, leave_with_hook, policy_lamp
from workflow_engine.errors import NotFoundError
from workflow_engine.models.base import time_text
from workflow_engine.models.enums import AckStatus
from workflow_engine.models.instance import EventView
from workflow_engine.models.timeline import Timeline, TimelineActivity, TimelineHead, TimelineReceipt, TimelineStep


def later(seconds: float) -> Any:
    return START + timedelta(seconds=seconds)


@pytest.mark.scenario(84)
def test_the_timeline_shows_each_step_with_its_actor_its_activities_and_who_was_told(bench: Workbench, reads: Reads):
    leave_with_hook(bench, "c1")
    step = bench.trigger("Submit", actor="ann", payload={"secret": True}, occurred_at=later(-60))
    bench.clock.advance(5)
    bench.ack(step.ack_guid, "Delivered")
    bench.clock.advance(5)
    bench.ack(step.ack_guid, "Processed")
    mail = reads.report(step.instance_guid, "Mail", "sent", actor="bot", lifecycle_id=step.lifecycle_id, data={"to": ["x"]})
    note = reads.report(step.instance_guid, "Note", "open")
    assert reads.timeline(step.instance_guid) == Timeline(
        instance=TimelineHead(
            id=reads.instance(step.instance_guid).instance_id,
            guid=step.instance_guid,
            external_ref="R-1",
            def_version=1,
            current_state="Submitted",
            last_event=EventView(code=10, name="Submit"),
            created=START,
            modified=START,
        ),
        timeline=[
            TimelineStep(
                seq=1,
                lifecycle_id=step.lifecycle_id or 0,
                from_state="Draft",
                to_state="Submitted",
                event="Submit",
                event_code=10,
                actor="ann",
                occurred_at=later(-60),
                created=START,
                activities=[_activity(mail.runtime_id, "Mail", "sent", actor="bot", data={"to": ["x"]})],
                receipts=[
                    _receipt(step.ack_guid, status="Processed", delivered_at=later(5), processed_at=later(10)),
                    _receipt(step.hook_ack_guids[0], kind="hook", route="APP.LEAVE.DECIDE"),
                ],
                truncated=False,
            )
        ],
        other_activities=[_activity(note.runtime_id, "Note", "open")],
        next_seq=None,
        truncated=False,
    )


def _activity(runtime_id: int, activity: str, status: str, **more: Any) -> TimelineActivity:
    fields = {"actor": None, "state": "Submitted", "frozen": False, "data": None, "created": later(10), "modified": later(10)} | more
    return TimelineActivity(runtime_id=runtime_id, activity=activity, status=status, **fields)


def _receipt(ack_guid: str | None, **more: Any) -> TimelineReceipt:
    fields = {"kind": "transition", "route": None, "consumer": "c1", "status": "Pending", "sends": 1, "first_sent_at": START, "delivered_at": None}
    return TimelineReceipt(**{"ack_guid": ack_guid, **fields, "processed_at": None, "gave_up": None, **more})


@pytest.mark.scenario(84)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_timeline_equals_the_tables_after_a_hundred_mixed_operations(bench: Workbench, reads: Reads, rows: Rows, seed: int):
    lamp(bench, "c1", "c2", policy=policy_lamp([{"state": "On", "emit": [{"route": "APP.LIGHT"}, {"route": "APP.BILL"}]}]))
    chance = random.Random(seed)  # noqa: S311  # a repeatable mixture
    guid = bench.trigger("Switch on", "R-1", "Lamp").instance_guid
    for number in range(100):
        bench.clock.advance(chance.randint(0, 30))
        chance.choice((_move, _move, _acknowledge, _report, _freeze))(bench, reads, chance, guid, number)
    pages = _pages(reads, guid, limit=7)
    whole = reads.timeline(guid)
    steps = [step for page in pages for step in page.timeline]
    assert whole.timeline == steps
    assert whole.other_activities == pages[0].other_activities
    assert all(not page.other_activities for page in pages[1:])
    assert [_step_facts(step) for step in steps] == _stored_steps(rows)
    assert [_receipt_facts(step.seq, receipt) for step in steps for receipt in step.receipts] == _stored_receipts(rows)
    linked = [(step.lifecycle_id, *_activity_facts(activity)) for step in steps for activity in step.activities]
    unlinked = [(0, *_activity_facts(activity)) for activity in whole.other_activities]
    assert sorted(linked + unlinked) == _stored_activities(rows)


def _move(bench: Workbench, _reads: Reads, chance: random.Random, guid: str, number: int) -> None:
    bench.trigger(chance.choice((1, 2, 3)), instance_guid=guid, actor=chance.choice((None, "ann", "Öl")), payload={"n": number})


def _acknowledge(bench: Workbench, _reads: Reads, chance: random.Random, _guid: str, _number: int) -> None:
    message = chance.choice(bench.publisher.messages)
    bench.ack(message.webhook_id, chance.choice(("Delivered", "Processed", "Failed", "Retry")), message.consumer)


def _report(bench: Workbench, reads: Reads, chance: random.Random, guid: str, number: int) -> None:
    steps = bench.sql("SELECT id FROM lifecycle ORDER BY seq")
    step = chance.choice([None, *(row["id"] for row in steps)])
    reads.report(guid, chance.choice(("Mail", "mail ", "Print")), f"state {number}", lifecycle_id=step, actor=chance.choice((None, "bot")))


def _freeze(bench: Workbench, reads: Reads, chance: random.Random, _guid: str, _number: int) -> None:
    for row in bench.sql("SELECT id FROM runtime ORDER BY id LIMIT 1"):
        chance.choice((reads.freeze, reads.unfreeze))(row["id"])


def _pages(reads: Reads, guid: str, limit: int) -> list[Timeline]:
    pages = [reads.timeline(guid, limit=limit)]
    while (after := pages[-1].next_seq) is not None:
        pages.append(reads.timeline(guid, limit=limit, after_seq=after))
    return pages


def _step_facts(step: TimelineStep) -> tuple[Any, ...]:
    return (step.seq, step.lifecycle_id, step.from_state, step.event_code, step.event, step.to_state, step.actor, time_text(step.created))


def _stored_steps(rows: Rows) -> list[tuple[Any, ...]]:
    found = rows.run(
        "SELECT l.seq, l.id, f.name, e.code, e.name, t.name, d.actor, l.created FROM lifecycle l JOIN lifecycle_data d ON d.lifecycle_id = l.id "
        "JOIN state f ON f.id = l.from_state JOIN state t ON t.id = l.to_state JOIN events e ON e.id = l.event_id ORDER BY l.seq"
    )
    return [(*row[:-1], _text(row[-1])) for row in found]


def _receipt_facts(seq: int, receipt: TimelineReceipt) -> tuple[Any, ...]:
    times = (receipt.first_sent_at, receipt.delivered_at, receipt.processed_at)
    shown = tuple(time_text(moment) if moment else None for moment in times)
    return (seq, receipt.route, receipt.consumer, receipt.ack_guid, receipt.kind, receipt.status, receipt.sends, *shown, receipt.gave_up)


def _stored_receipts(rows: Rows) -> list[tuple[Any, ...]]:
    found = rows.run(
        "SELECT ac.seq, h.route, CONVERT(c.consumer_guid USING utf8mb4), a.guid, ac.kind, ac.status, ac.sends, ac.first_sent_at, "
        "ac.delivered_at, ac.processed_at FROM ack_consumer ac JOIN ack a ON a.id = ac.ack_id JOIN consumer c ON c.id = ac.consumer_id "
        "LEFT JOIN hook_ack ha ON ha.ack_id = a.id LEFT JOIN hook h ON h.id = ha.hook_id ORDER BY ac.seq, h.position, c.consumer_guid"
    )
    return [(*row[:4], ("transition", "hook")[row[4] - 1], AckStatus(row[5]).label, row[6], *map(_text, row[7:]), None) for row in found]


def _activity_facts(activity: TimelineActivity) -> tuple[Any, ...]:
    times = (time_text(activity.created), time_text(activity.modified))
    return (activity.runtime_id, activity.activity, activity.status, activity.actor or "", activity.state, activity.frozen, *times)


def _stored_activities(rows: Rows) -> list[tuple[Any, ...]]:
    found = rows.run(
        "SELECT r.lifecycle_id, r.id, r.activity, r.status, CONVERT(r.actor USING utf8mb4), s.name, r.is_frozen, r.created, r.modified "
        "FROM runtime r JOIN state s ON s.id = r.state_id"
    )
    return sorted((*row[:6], bool(row[6]), *map(_text, row[7:])) for row in found)


def _text(moment: Any) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"


def test_an_activity_whose_step_is_gone_is_shown_beside_the_steps(rows: Rows, reads: Reads):
    instance = rows.instance(rows.definition())
    other = rows.instance(instance.definition)
    rows.step(instance)
    rows.activity(instance, "Orphan", lifecycle_id=77)
    rows.activity(instance, "Foreign", lifecycle_id=rows.step(other))
    shown = reads.timeline(instance.guid)
    assert [activity.activity for activity in shown.other_activities] == ["Orphan", "Foreign"]
    assert shown.timeline[0].activities == []


def test_an_instance_that_nothing_has_moved_has_an_empty_timeline(rows: Rows, reads: Reads):
    instance = rows.instance(rows.definition())
    shown = reads.timeline(instance.guid)
    assert (shown.timeline, shown.other_activities, shown.next_seq, shown.instance.last_event) == ([], [], None, None)


def test_one_query_reads_the_whole_page(rows: Rows, reads: Reads):
    instance = rows.instance(rows.definition())
    for _ in range(20):
        rows.step(instance)
        rows.ack(instance, [])
    reads.timeline(instance.guid)
    before = reads.bench.dal.round_trips
    assert len(reads.timeline(instance.guid).timeline) == 20
    assert reads.bench.dal.round_trips - before == 1


def test_pages_follow_each_other_without_gap_or_repeat(rows: Rows, reads: Reads):
    instance = rows.instance(rows.definition())
    for _ in range(7):
        rows.step(instance)
    pages = _pages(reads, instance.guid, limit=3)
    assert [[step.seq for step in page.timeline] for page in pages] == [[1, 2, 3], [4, 5, 6], [7]]
    assert [page.next_seq for page in pages] == [3, 6, None]
    assert reads.timeline(instance.guid, limit=7).next_seq is None
    assert reads.timeline(instance.guid, after_seq=7).timeline == []


def test_an_unknown_instance_has_no_timeline(reads: Reads):
    with pytest.raises(NotFoundError):
        reads.timeline(str(uuid4()))


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 201}, {"after_seq": -1}])
def test_a_page_outside_the_limits_is_refused(reads: Reads, wrong: dict[str, int]):
    with pytest.raises(ValidationError):
        reads.timeline(str(uuid4()), **wrong)


def test_an_answer_stays_under_four_megabytes_and_is_cut_between_steps(rows: Rows, reads: Reads):
    instance = rows.instance(rows.definition())
    data = json.dumps("ä" * 8_000, ensure_ascii=False)
    for _ in range(100):
        lifecycle_id = rows.step(instance)
        rows.activity(instance, "Big", lifecycle_id=lifecycle_id, data=data)
    rows.activity(instance, "Beside", data=data)
    pages = _pages(reads, instance.guid, limit=200)
    assert len(pages) > 1
    assert [step.seq for page in pages for step in page.timeline] == list(range(1, 101))
    assert all(len(json.dumps(page.model_dump(mode="json"))) < 4_000_000 for page in pages)
    assert not any(step.truncated for page in pages for step in page.timeline)


def test_a_step_with_more_receipts_than_an_answer_holds_says_that_it_is_cut(rows: Rows, reads: Reads):
    instance, consumer = rows.instance(rows.definition()), rows.consumer()
    rows.step(instance)
    rows.step(instance)
    hooks = {"lifecycle_id": instance.steps[0], "instance_id": instance.instance_id, "route": "APP.X", "on_entry": 1, "created": START}
    first = rows.many_acks(12_000, instance_id=instance.instance_id, consumer_id=consumer.consumer_id, status=int(AckStatus.PROCESSED), kind=2)
    rows.many("hook", 12_000, id=Sql(f"{first} + n"), position=Sql("n"), **hooks)
    rows.many("hook_ack", 12_000, hook_id=Sql(f"{first} + n"), ack_id=Sql(f"{first} + n"))
    pages = _pages(reads, instance.guid, limit=200)
    assert [[(step.seq, step.truncated) for step in page.timeline] for page in pages] == [[(1, True)], [(2, False)]]
    assert len(pages[0].timeline[0].receipts) == 10_000
    assert len(pages[0].model_dump_json()) < 4_000_000


def test_activities_of_no_step_are_cut_to_a_share_of_the_answer(rows: Rows, reads: Reads):
    instance = rows.instance(rows.definition())
    rows.many_activities(instance, 600, data=json.dumps("x" * 10_000))
    shown = reads.timeline(instance.guid)
    assert shown.truncated
    assert 0 < len(shown.other_activities) < 100
    assert len(shown.model_dump_json()) < 1_100_000
