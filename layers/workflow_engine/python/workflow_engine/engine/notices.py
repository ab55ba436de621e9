"""NoticeReader: what was said lately, newest first."""

import json
from datetime import UTC, datetime
from functools import partial
from itertools import chain

from workflow_engine.dal import DbExecutionLoad, Deadline, WorkFlowDAL
from workflow_engine.engine.rules.cursors import TimeKey, time_cursor, time_key
from workflow_engine.models.enums import NoticeCode
from workflow_engine.models.notice import NoticeRow
from workflow_engine.models.notices_api import ListNoticesRequest, NoticeFilter, NoticePage, NoticeView

_LIST_NAME = "notices"
_NEWEST = TimeKey(moment=datetime(9999, 12, 31, tzinfo=UTC), row_id=0)


class NoticeReader:
    def __init__(self, dal: WorkFlowDAL) -> None:
        self._dal = dal

    def list_notices(self, request: ListNoticesRequest, deadline: Deadline) -> NoticePage:
        before = time_key(_LIST_NAME, request.cursor) or _NEWEST
        codes = codes_of(request)
        if not codes:
            return NoticePage(items=[], cursor=None)
        chosen = NoticeFilter(
            env_code=request.env_code,
            codes=codes if len(codes) < len(NoticeCode) else None,
            instance_guid=request.instance_guid,
            consumer=request.consumer,
            before=before.moment,
            before_notice_id=before.row_id,
        )
        return self._dal.run_reading(deadline, partial(self._list, chosen, request.limit))

    def _list(self, chosen: NoticeFilter, limit: int, load: DbExecutionLoad) -> NoticePage:
        answers = self._dal.read_all(load, self._dal.notice.list_paged(chosen, limit + 1))
        rows = sorted(chain(*answers), key=lambda row: (row.occurred_at, row.notice_id), reverse=True)
        shown = rows[:limit]
        cursor = time_cursor(_LIST_NAME, TimeKey(moment=shown[-1].occurred_at, row_id=shown[-1].notice_id)) if len(rows) > limit else None
        return NoticePage(items=[notice_view(row) for row in shown], cursor=cursor)


def codes_of(request: ListNoticesRequest) -> tuple[NoticeCode, ...]:
    """The codes that fit both filters; a kind is nothing but its codes."""
    return tuple(code for code in NoticeCode if request.code in {None, code} and request.kind in {None, code.kind})


def notice_view(row: NoticeRow) -> NoticeView:
    return NoticeView(
        code=row.code,
        kind=row.kind,
        env_code=row.env_code,
        instance_id=row.instance_id,
        instance_guid=row.instance_guid,
        external_ref=row.external_ref,
        consumer_id=row.consumer_id,
        consumer=row.consumer,
        ack_guid=row.ack_guid,
        occurred_at=row.occurred_at,
        data=json.loads(row.data),
    )
