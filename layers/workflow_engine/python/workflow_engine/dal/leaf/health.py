"""Statements of the health answer."""

from datetime import datetime

from workflow_engine.dal.packet import Query, query
from workflow_engine.models.health import ConsumerBeatRow, ConsumerDueRow
from workflow_engine.models.rows import CountRow
from workflow_engine.queries.health import QRY_HEALTH

_NOT_DELETED = 0


class HealthDAL:
    def list_consumers(self, take: int) -> Query[ConsumerBeatRow]:
        return query(QRY_HEALTH.LIST_CONSUMERS, ConsumerBeatRow, NOT_DELETED=_NOT_DELETED, TAKE=take)

    def get_due(self, consumer_id: int, now: datetime, take: int) -> Query[ConsumerDueRow]:
        """Count one consumer's due rows, to a bound; the oldest is exact whatever the bound."""
        return query(QRY_HEALTH.GET_DUE_BY_CONSUMER, ConsumerDueRow, CONSUMER_ID=consumer_id, NOW=now, TAKE=take)

    def count_suspended(self, take: int) -> Query[CountRow]:
        return query(QRY_HEALTH.COUNT_SUSPENDED, CountRow, TAKE=take)
