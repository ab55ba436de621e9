"""Notices as they are stored and read."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.consumers import ConsumerDesk, deadline, rows_read
from tests.support.engine import START
from tests.support.rows import Sql
from workflow_engine.errors import InvalidRequestError
from workflow_engine.models.enums import NoticeCode, NoticeKind
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.notices_api import ListNoticesRequest, NoticeFilter

GUID = "5f0c1a9e-0000-4000-8000-000000000001"
OTHER_GUID = "5f0c1a9e-0000-4000-8000-000000000002"
ACK_GUID = "5f0c1a9e-0000-4000-8000-00000000000a"


def notice(code: NoticeCode = NoticeCode.ACK_RETRY, seconds: float = 0, **more: Any) -> LifeCycleNotice:
    return LifeCycleNotice(code=code, occurred_at=START + timedelta(seconds=seconds), **more)


def store(desk: ConsumerDesk, notices: Sequence[LifeCycleNotice]) -> None:
    ids = desk.dal.unit_ids()
    desk.dal.run(deadline(), lambda load: desk.dal.write(load, [desk.dal.notice.insert([(ids.next_id(), one) for one in notices])]))


def codes(desk: ConsumerDesk, **query: Any) -> list[str]:
    return [item.code for item in desk.notices(**query).items]


@pytest.mark.scenario(90)
def test_a_notice_is_read_as_it_was_published(desk: ConsumerDesk):
    full = notice(
        env_code=1,
        instance_id=5,
        instance_guid=GUID,
        external_ref="VENDOR-1 ü🙂 ",
        consumer_id=7,
        consumer="Billing ",
        ack_guid=ACK_GUID,
        data={"attempts": 3, "stage": "pending", "nested": {"ü": [1, None, True]}},
    )
    store(desk, [full, notice(NoticeCode.MONITOR_ERROR, -1)])
    items = [item.model_dump(mode="json") for item in desk.notices().items]
    assert items == [full.body(), notice(NoticeCode.MONITOR_ERROR, -1).body()]


def test_notices_come_newest_first_a_page_at_a_time_with_none_lost_or_doubled(desk: ConsumerDesk):
    store(desk, [notice(seconds=number // 4, data={"n": number}) for number in range(23)])
    seen: list[tuple[str, int]] = []
    page = desk.notices(limit=5)
    while True:
        seen += [(item.model_dump(mode="json")["occurred_at"], item.data["n"]) for item in page.items]
        if page.cursor is None:
            break
        # Newer ones that arrive meanwhile do not shift the pages.
        store(desk, [notice(seconds=1_000, data={"n": 99})])
        page = desk.notices(limit=5, cursor=page.cursor)
    assert [number for _, number in seen] == sorted(range(23), key=lambda number: (-(number // 4), -number))
    assert len(page.items) == 3


def test_a_page_that_ends_with_the_last_notice_has_no_cursor(desk: ConsumerDesk):
    store(desk, [notice(seconds=number) for number in range(4)])
    assert desk.notices(limit=4).cursor is None
    assert desk.notices().cursor is None


def test_notices_are_filtered_by_everything_that_identifies_them(desk: ConsumerDesk):
    store(
        desk,
        [
            notice(NoticeCode.ACK_RETRY, 1, env_code=1, instance_guid=GUID, consumer="c1"),
            notice(NoticeCode.DEFAULT_STATE_STALE, 2, env_code=1, instance_guid=OTHER_GUID, consumer="c2"),
            notice(NoticeCode.TIMEOUT_FIRED, 3, env_code=2, instance_guid=GUID),
            notice(NoticeCode.MONITOR_ERROR, 4),
        ],
    )
    assert codes(desk, env_code=1) == ["DEFAULT_STATE_STALE", "ACK_RETRY"]
    assert codes(desk, code="ACK_RETRY") == ["ACK_RETRY"]
    assert codes(desk, kind="Info") == ["TIMEOUT_FIRED"]
    assert codes(desk, kind="Warn") == ["ACK_RETRY"]
    assert codes(desk, kind="OverDue", env_code=1) == ["DEFAULT_STATE_STALE"]
    assert codes(desk, kind="Error") == ["MONITOR_ERROR"]
    assert codes(desk, kind="Error", code="ACK_RETRY") == []
    assert codes(desk, kind="Warn", code="ACK_RETRY") == ["ACK_RETRY"]
    assert codes(desk, instance_guid=GUID) == ["TIMEOUT_FIRED", "ACK_RETRY"]
    assert codes(desk, consumer="c1") == ["ACK_RETRY"]
    assert codes(desk, consumer="C1") == []
    assert codes(desk, env_code=2, instance_guid=GUID, code="TIMEOUT_FIRED", kind="Info") == ["TIMEOUT_FIRED"]
    assert codes(desk, env_code=0) == []


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "WyJjb25zdW1lcnMiLDEsMl0",
        "WyJub3RpY2VzIiwxXQ",
        "WyJub3RpY2VzIiwiMSIsMl0",
        "WyJub3RpY2VzIiwtMSwyXQ",
        "WyJub3RpY2VzIiwxZTk5LDJd",
        "WyJub3RpY2VzIiw5OTk5OTk5OTk5OTk5OTk5OTk5OTksMV0",
    ],
)
def test_a_cursor_that_this_list_did_not_give_out_is_refused(desk: ConsumerDesk, cursor: str):
    with pytest.raises(InvalidRequestError) as caught:
        desk.notices(cursor=cursor)
    assert caught.value.code == "INVALID_REQUEST"


@pytest.mark.parametrize(
    "query", [{"limit": 0}, {"limit": 201}, {"code": "NOTHING"}, {"kind": "warn"}, {"env_code": "x"}, {"instance_guid": "x"}, {"consumer": ""}, {"more": 1}]
)
def test_a_wrong_filter_is_refused(query: dict[str, Any]):
    with pytest.raises(ValidationError):
        ListNoticesRequest.model_validate(query)


def test_query_strings_are_taken_as_they_come(desk: ConsumerDesk):
    store(desk, [notice(env_code=3)])
    assert codes(desk, env_code="3", limit="10") == ["ACK_RETRY"]


def test_old_notices_are_forgotten_oldest_first_a_page_at_a_time(desk: ConsumerDesk):
    store(desk, [notice(seconds=number, data={"n": number}) for number in range(6)])
    with desk.dal.begin(deadline()) as load:
        assert desk.dal.write(load, [desk.dal.notice.delete_before(START + timedelta(seconds=4), 3)]) == [3]
    assert [item.data["n"] for item in desk.notices().items] == [5, 4, 3]


def test_a_page_reads_about_what_it_shows(desk: ConsumerDesk):
    moments = Sql(f"DATE_ADD('{START:%Y-%m-%d}', INTERVAL n SECOND)")
    columns = {"kind": "Warn", "data": "{}", "occurred_at": moments, "env_code": Sql("n MOD 2")}
    guids = Sql("CONCAT('00000000-0000-4000-8000-', LPAD(n MOD 500, 12, '0'))")
    desk.rows.many("notice", 20_000, id=Sql("5000000 + n"), code=Sql("IF(n MOD 2000 = 0, 'TIMEOUT_FIRED', 'ACK_RETRY')"), instance_guid=guids, **columns)
    desk.rows.run("ANALYZE TABLE notice")
    guid = "00000000-0000-4000-8000-000000000499"
    middle = START + timedelta(seconds=10_000) - timedelta(hours=12)
    filters = [filter_of(), filter_of(before=middle), filter_of(env_code=1), filter_of(env_code=1, before=middle), filter_of(instance_guid=guid)]
    filters += [
        filter_of(codes=(NoticeCode.TIMEOUT_FIRED,)),
        filter_of(codes=(NoticeCode.ACK_RETRY,), before=middle),
        filter_of(codes=kind_codes(NoticeKind.INFO)),
    ]
    read = [sum(rows_read(desk.dal, query) for query in desk.dal.notice.list_paged(chosen, 51)) for chosen in filters]
    assert max(read) <= 110, read


def filter_of(before: datetime = START + timedelta(days=300), **more: Any) -> NoticeFilter:
    nothing = {"env_code": None, "codes": None, "instance_guid": None, "consumer": None}
    return NoticeFilter(**{**nothing, **more}, before=before, before_notice_id=0)


def kind_codes(kind: NoticeKind) -> tuple[NoticeCode, ...]:
    return tuple(code for code in NoticeCode if code.kind is kind)
