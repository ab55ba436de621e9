"""Statements that find who is told, and what a monitor notes of a consumer."""

from collections.abc import Sequence
from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.blueprint import DefinitionRef
from workflow_engine.models.enums import AckStatus
from workflow_engine.models.subscriber import DispatchConsumerRow, SubscriberRow
from workflow_engine.queries.dispatch import QRY_DISPATCH

ANY_KEY = "*"
# SNS takes 200 filter policies a topic unless the quota is raised; this is far above it.
_TAKE = 10_000


class DispatchDAL:
    def list_subscribers_by_ref(self, definition: DefinitionRef, external_ref: str) -> Query[SubscriberRow]:
        return query(
            QRY_DISPATCH.LIST_SUBSCRIBERS_BY_REF,
            SubscriberRow,
            DEFINITION_ID=definition.definition_id,
            EXTERNAL_REF=external_ref,
            PENDING=AckStatus.PENDING,
            HELD=AckStatus.HELD,
            PARKED=AckStatus.PARKED,
            ENV_ID=definition.env_id,
            DEF_KEY=definition.name_key,
            ANY_KEY=ANY_KEY,
            TAKE=_TAKE,
        )

    def list_subscribers_by_guid(self, instance_guid: str) -> Query[SubscriberRow]:
        return query(
            QRY_DISPATCH.LIST_SUBSCRIBERS_BY_GUID,
            SubscriberRow,
            INSTANCE_GUID=instance_guid,
            PENDING=AckStatus.PENDING,
            HELD=AckStatus.HELD,
            PARKED=AckStatus.PARKED,
            ANY_KEY=ANY_KEY,
            TAKE=_TAKE,
        )

    def get_consumer(self, consumer_id: int) -> Query[DispatchConsumerRow]:
        return query(QRY_DISPATCH.GET_CONSUMER, DispatchConsumerRow, CONSUMER_ID=consumer_id)

    def get_consumer_by_guid(self, env_code: int, consumer: str) -> Query[DispatchConsumerRow]:
        return query(QRY_DISPATCH.GET_CONSUMER_BY_GUID, DispatchConsumerRow, ENV_CODE=env_code, CONSUMER=consumer, NOT_DELETED=0)

    def list_consumers_by_ids(self, consumer_ids: Sequence[int]) -> Query[DispatchConsumerRow]:
        return query(QRY_DISPATCH.LIST_CONSUMERS_BY_IDS, DispatchConsumerRow, CONSUMER_IDS=sorted(consumer_ids))

    def list_consumers(self) -> Query[DispatchConsumerRow]:
        return query(QRY_DISPATCH.LIST_CONSUMERS, DispatchConsumerRow, NOT_DELETED=0, TAKE=_TAKE)

    def note_down(self, consumer_id: int, now: datetime) -> Statement:
        return statement(QRY_DISPATCH.UPDATE_DOWN_NOTICED, CONSUMER_ID=consumer_id, NOW=now)

    def note_closed(self, consumer_id: int, closed_ack_id: int | None) -> Statement:
        return statement(QRY_DISPATCH.UPDATE_CLOSED, CONSUMER_ID=consumer_id, CLOSED_ACK_ID=closed_ack_id)
