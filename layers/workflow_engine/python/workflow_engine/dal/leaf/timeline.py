"""The statement of the timeline."""

from workflow_engine.dal.packet import Query, query
from workflow_engine.models.timeline import TimelineCaps, TimelinePart, TimelineRow
from workflow_engine.queries.instance_view import QRY_INSTANCE_VIEW


class TimelineDAL:
    def get_timeline_json(self, instance_guid: str, after_seq: int, caps: TimelineCaps) -> Query[TimelineRow]:
        return query(
            QRY_INSTANCE_VIEW.GET_TIMELINE_JSON_BY_INSTANCE_ID,
            TimelineRow,
            INSTANCE_GUID=instance_guid,
            AFTER_SEQ=after_seq,
            TAKE=caps.steps,
            TAKE_RECEIPTS=caps.receipts,
            TAKE_ACTIVITIES=caps.activities,
            TAKE_OTHERS=caps.other_activities,
            # The transition's own event comes before those of its hooks, whose positions begin at 0.
            BEFORE_HOOKS=-1,
            NO_LIFECYCLE=0,
            HEAD=int(TimelinePart.HEAD),
            STEP=int(TimelinePart.STEP),
            ACTIVITY=int(TimelinePart.ACTIVITY),
            RECEIPT=int(TimelinePart.RECEIPT),
            OTHER_ACTIVITY=int(TimelinePart.OTHER_ACTIVITY),
        )
