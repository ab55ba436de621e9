"""Puts the rows of the timeline's query together: a page of whole steps, oldest first, under the size of an answer."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from workflow_engine.models.enums import AckStatus, EventKind, GaveUp
from workflow_engine.models.instance import EventView
from workflow_engine.models.timeline import Timeline, TimelineActivity, TimelineCaps, TimelineHead, TimelinePart, TimelineReceipt, TimelineRow, TimelineStep

# An answer stays under 4 MB, its frame included; activities of no step may take a quarter of it.
MAX_BYTES = 3_900_000
MAX_OTHER_BYTES = 1_000_000
Json = dict[str, Any]
Model = TypeVar("Model", bound=BaseModel)


def timeline_of(rows: Sequence[TimelineRow], caps: TimelineCaps, limit: int) -> Timeline | None:
    """Return the page that the rows make; None when there is no such instance."""
    parts: defaultdict[int, list[tuple[int, Json]]] = defaultdict(list)
    for row in rows:
        parts[row.part].append((row.seq, json.loads(row.body)))
    if not parts[TimelinePart.HEAD]:
        return None
    others = _activities(body for _, body in parts[TimelinePart.OTHER_ACTIVITY])
    shown = _fitting(others, MAX_OTHER_BYTES)
    steps = _steps(parts)
    whole = steps[: _whole_steps(steps, parts, caps, limit)]
    page = _page(whole, is_first_cut=_is_first_cut(steps, parts, caps), room=MAX_BYTES - _size(shown))
    return Timeline(
        instance=_head(parts[TimelinePart.HEAD][0][1]),
        timeline=page,
        other_activities=shown,
        next_seq=page[-1].seq if page and len(page) < len(steps) else None,
        truncated=len(shown) < len(others) or len(others) >= caps.other_activities > 0,
    )


def _steps(parts: defaultdict[int, list[tuple[int, Json]]]) -> list[TimelineStep]:
    activities, receipts = _by_seq(parts[TimelinePart.ACTIVITY]), _by_seq(parts[TimelinePart.RECEIPT])
    return [_step(seq, body, activities[seq], receipts[seq]) for seq, body in sorted(parts[TimelinePart.STEP], key=lambda part: part[0])]


def _whole_steps(steps: list[TimelineStep], parts: defaultdict[int, list[tuple[int, Json]]], caps: TimelineCaps, limit: int) -> int:
    """Count the steps that are surely whole: where a part was cut, its last step may lack something. The first one is shown in any case."""
    cuts = [_last_seq(parts[part]) for part, cap in _capped(caps) if len(parts[part]) >= cap]
    whole = [step for step in steps[:limit] if not cuts or step.seq < min(cuts)]
    return max(1, len(whole))


def _is_first_cut(steps: list[TimelineStep], parts: defaultdict[int, list[tuple[int, Json]]], caps: TimelineCaps) -> bool:
    return any(len(parts[part]) >= cap and _last_seq(parts[part]) == steps[0].seq for part, cap in _capped(caps))


def _capped(caps: TimelineCaps) -> tuple[tuple[TimelinePart, int], ...]:
    return ((TimelinePart.ACTIVITY, caps.activities), (TimelinePart.RECEIPT, caps.receipts))


def _last_seq(part: list[tuple[int, Json]]) -> int:
    return max(seq for seq, _ in part)


def _page(steps: list[TimelineStep], *, is_first_cut: bool, room: int) -> list[TimelineStep]:
    if not steps:
        return []
    first = _cut_to(steps[0].model_copy(update={"truncated": is_first_cut}), room)
    return [first, *_fitting(steps[1:], room - _size([first]))]


def _cut_to(step: TimelineStep, room: int) -> TimelineStep:
    """Leave out the later half of the larger list until the step fits by itself."""
    while _size([step]) > room:
        name = "receipts" if _size(step.receipts) > _size(step.activities) else "activities"
        kept = getattr(step, name)
        step = step.model_copy(update={name: kept[: len(kept) // 2], "truncated": True})
    return step


def _fitting(models: Sequence[Model], room: int) -> list[Model]:
    fitting: list[Model] = []
    for model in models:
        room -= _size([model])
        if room < 0:
            break
        fitting.append(model)
    return fitting


def _size(models: Sequence[BaseModel]) -> int:
    """The bytes that the models take in an answer, in the longest way of writing them."""
    return sum(len(json.dumps(model.model_dump(mode="json"))) + 2 for model in models)


def _by_seq(part: list[tuple[int, Json]]) -> defaultdict[int, list[Json]]:
    found: defaultdict[int, list[Json]] = defaultdict(list)
    for seq, body in part:
        found[seq].append(body)
    return found


def _head(body: Json) -> TimelineHead:
    last_event = None if body["event_code"] is None else EventView(code=body["event_code"], name=body["event_name"])
    return TimelineHead(
        id=body["id"],
        guid=body["guid"],
        external_ref=body["external_ref"],
        def_version=body["def_version"],
        current_state=body["current_state"],
        last_event=last_event,
        created=_time(body["created"]),
        modified=_time(body["modified"]),
    )


def _step(seq: int, body: Json, activities: list[Json], receipts: list[Json]) -> TimelineStep:
    return TimelineStep(
        seq=seq,
        lifecycle_id=body["lifecycle_id"],
        from_state=body["from_state"],
        to_state=body["to_state"],
        event=body["event"],
        event_code=body["event_code"],
        actor=body["actor"],
        occurred_at=_time(body["occurred_at"]),
        created=_time(body["created"]),
        activities=_activities(activities),
        receipts=[_receipt(receipt) for receipt in sorted(receipts, key=_receipt_order)],
        truncated=False,
    )


def _activities(bodies: Iterable[Json]) -> list[TimelineActivity]:
    return [_activity(body) for body in sorted(bodies, key=lambda body: (body["created"], body["runtime_id"]))]


def _activity(body: Json) -> TimelineActivity:
    return TimelineActivity(
        runtime_id=body["runtime_id"],
        activity=body["activity"],
        status=body["status"],
        actor=body["actor"] or None,
        state=body["state"],
        frozen=bool(body["frozen"]),
        data=None if body["data"] is None else json.loads(body["data"]),
        created=_time(body["created"]),
        modified=_time(body["modified"]),
    )


def _receipt_order(body: Json) -> tuple[int, str]:
    return (body["position"], body["consumer"] or "")


def _receipt(body: Json) -> TimelineReceipt:
    return TimelineReceipt(
        ack_guid=body["ack_guid"],
        kind=EventKind(body["kind"]).label,
        route=body["route"],
        consumer=body["consumer"] or "",
        status=AckStatus(body["status"]).label,
        sends=body["sends"],
        first_sent_at=_optional_time(body["first_sent_at"]),
        delivered_at=_optional_time(body["delivered_at"]),
        processed_at=_optional_time(body["processed_at"]),
        gave_up=None if body["gave_up"] is None else GaveUp(body["gave_up"]).label,
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _optional_time(text: str | None) -> datetime | None:
    return None if text is None else _time(text)
