"""Statements of `notice`."""

import json
from collections.abc import Sequence
from typing import Any

from workflow_engine.dal.packet import Statement, bulk
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.queries.notice import QRY_NOTICE


class NoticeDAL:
    def insert(self, notices: Sequence[tuple[int, LifeCycleNotice]]) -> Statement:
        """Store notices under the given ids, as one statement; at least one must be given."""
        return bulk(QRY_NOTICE.INSERT, [_values(notice_id, notice) for notice_id, notice in notices])


def _values(notice_id: int, notice: LifeCycleNotice) -> dict[str, Any]:
    return {
        "NOTICE_ID": notice_id,
        "NOTICE_CODE": notice.code.value,
        "NOTICE_KIND": notice.code.kind.value,
        "ENV_CODE": notice.env_code,
        "INSTANCE_ID": notice.instance_id,
        "INSTANCE_GUID": notice.instance_guid,
        "EXTERNAL_REF": notice.external_ref,
        "CONSUMER_ID": notice.consumer_id,
        "CONSUMER": notice.consumer,
        "ACK_GUID": notice.ack_guid,
        "OCCURRED_AT": notice.occurred_at,
        "DATA": json.dumps(notice.data),
    }
