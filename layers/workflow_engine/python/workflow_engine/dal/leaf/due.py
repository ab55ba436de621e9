"""Statements of passes A and C, and of closing what a deleted consumer left open."""

from collections.abc import Sequence

from workflow_engine.dal.packet import Query, query
from workflow_engine.models.ack import AckConsumerRow
from workflow_engine.models.due import ClosedBadlyRow, OpenOfDeletedRow, StayRow
from workflow_engine.models.enums import AckStatus
from workflow_engine.queries.due import QRY_DUE


class DueDAL:
    def list_stays(self, instance_ids: Sequence[int]) -> Query[StayRow]:
        return query(
            QRY_DUE.LIST_STAYS, StayRow, INSTANCE_IDS=list(instance_ids), HELD=AckStatus.HELD, PENDING=AckStatus.PENDING, DELIVERED=AckStatus.DELIVERED
        )

    def list_closed_badly(self, instance_ids: Sequence[int]) -> Query[ClosedBadlyRow]:
        statuses = [AckStatus.FAILED, AckStatus.PARKED, AckStatus.SUSPENDING]
        return query(QRY_DUE.LIST_CLOSED_BADLY, ClosedBadlyRow, INSTANCE_IDS=list(instance_ids), ACK_STATUSES=statuses)

    def list_due_of_deleted(self, consumer_id: int, take: int) -> Query[OpenOfDeletedRow]:
        return query(QRY_DUE.LIST_DUE_OF_DELETED, OpenOfDeletedRow, CONSUMER_ID=consumer_id, TAKE=take)

    def list_others_of_deleted(self, consumer_id: int, after_ack_id: int, take: int) -> Query[OpenOfDeletedRow]:
        return query(QRY_DUE.LIST_OTHERS_OF_DELETED, OpenOfDeletedRow, CONSUMER_ID=consumer_id, AFTER_ACK_ID=after_ack_id, TAKE=take)

    def list_by_ack_ids(self, consumer_id: int, ack_ids: Sequence[int]) -> Query[AckConsumerRow]:
        return query(QRY_DUE.LIST_BY_ACK_IDS, AckConsumerRow, CONSUMER_ID=consumer_id, ACK_IDS=list(ack_ids))
