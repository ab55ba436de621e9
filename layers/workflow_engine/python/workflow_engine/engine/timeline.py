"""The timeline of an instance (guidelines 4.10)."""

from functools import partial
from typing import TYPE_CHECKING

from workflow_engine.engine.rules.guids import is_guid
from workflow_engine.engine.rules.timeline_page import timeline_of
from workflow_engine.errors import NotFoundError
from workflow_engine.models.timeline import Timeline, TimelineCaps, TimelineRequest

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, WorkFlowDAL

# Some 350 bytes a receipt; an activity may carry 16 KB of data.
_MAX_RECEIPTS = 10_000
_MAX_ACTIVITIES = 1_000
_MAX_OTHER_ACTIVITIES = 500


class TimelineReader:
    def __init__(self, dal: "WorkFlowDAL") -> None:
        self._dal = dal

    def get_timeline_json(self, guid: str, request: TimelineRequest, deadline: "Deadline") -> Timeline:
        """Return a page of the timeline from one query: steps oldest first, each with its activities and receipts."""
        timeline = self._dal.run_reading(deadline, partial(self._read, guid, request)) if is_guid(guid) else None
        if timeline is None:
            raise NotFoundError("instance", "no instance has this guid")
        return timeline

    def _read(self, guid: str, request: TimelineRequest, load: "DbExecutionLoad") -> Timeline | None:
        others = _MAX_OTHER_ACTIVITIES if request.after_seq == 0 else 0
        # One step more than asked for tells whether another page follows.
        caps = TimelineCaps(steps=request.limit + 1, activities=_MAX_ACTIVITIES, receipts=_MAX_RECEIPTS, other_activities=others)
        rows = self._dal.read(load, self._dal.timeline.get_timeline_json(guid, request.after_seq, caps))[0]
        return timeline_of(rows, caps, request.limit)
