"""Statements of `notice`."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from workflow_engine.dal.packet import Query, Statement, bulk, query, statement
from workflow_engine.models.enums import NoticeCode
from workflow_engine.models.notice import LifeCycleNotice, NoticeRow
from workflow_engine.models.notices_api import NoticeFilter
from workflow_engine.queries.notice import QRY_NOTICE


class NoticeDAL:
    def insert(self, notices: Sequence[tuple[int, LifeCycleNotice]]) -> Statement:
        """Store notices under the given ids, as one statement; at least one must be given."""
        return bulk(QRY_NOTICE.INSERT, [_values(notice_id, notice) for notice_id, notice in notices])

    def list_paged(self, chosen: NoticeFilter, take: int) -> list[Query[NoticeRow]]:
        """Return the queries whose answers together hold the page: one, or one a code; each is newest first."""
        if chosen.instance_guid is not None:
            return [self._by_instance(chosen, chosen.instance_guid, take)]
        if chosen.codes is not None:
            return [self._by_code(chosen, code, take) for code in chosen.codes]
        return [self._by_time(chosen, take) if chosen.env_code is None else self._by_env(chosen, chosen.env_code, take)]

    def delete_before(self, before: datetime, take: int) -> Statement:
        """Forget a page of notices that are older than their time to live."""
        return statement(QRY_NOTICE.DELETE_BEFORE, BEFORE=before, TAKE=take)

    def _by_instance(self, chosen: NoticeFilter, instance_guid: str, take: int) -> Query[NoticeRow]:
        codes = [code.value for code in chosen.codes or ()]
        return query(
            QRY_NOTICE.LIST_BY_INSTANCE,
            NoticeRow,
            INSTANCE_GUID=instance_guid,
            ENV_CODE=chosen.env_code,
            NOTICE_CODE=codes[0] if codes else None,
            # An empty list is no SQL; without codes the condition before it decides.
            NOTICE_CODES=codes or [""],
            CONSUMER=chosen.consumer,
            BEFORE=chosen.before,
            BEFORE_NOTICE_ID=chosen.before_notice_id,
            TAKE=take,
        )

    def _by_code(self, chosen: NoticeFilter, code: NoticeCode, take: int) -> Query[NoticeRow]:
        return query(
            QRY_NOTICE.LIST_BY_CODE,
            NoticeRow,
            NOTICE_CODE=code.value,
            ENV_CODE=chosen.env_code,
            CONSUMER=chosen.consumer,
            BEFORE=chosen.before,
            BEFORE_NOTICE_ID=chosen.before_notice_id,
            TAKE=take,
        )

    def _by_env(self, chosen: NoticeFilter, env_code: int, take: int) -> Query[NoticeRow]:
        return query(
            QRY_NOTICE.LIST_BY_ENV,
            NoticeRow,
            ENV_CODE=env_code,
            CONSUMER=chosen.consumer,
            BEFORE=chosen.before,
            BEFORE_NOTICE_ID=chosen.before_notice_id,
            TAKE=take,
        )

    def _by_time(self, chosen: NoticeFilter, take: int) -> Query[NoticeRow]:
        return query(QRY_NOTICE.LIST_BY_TIME, NoticeRow, CONSUMER=chosen.consumer, BEFORE=chosen.before, BEFORE_NOTICE_ID=chosen.before_notice_id, TAKE=take)


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
