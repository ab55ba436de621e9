"""Statements of passes A and C, and of closing what a deleted consumer left open."""

from collections.abc import Sequence

from workflow_engine.dal.packet import Query, query
from workflow_engine.models.ack import AckConsumerRow
from workflow_engine.models.due import LastStepRow, OpenOfDeletedRow, StayAckRow
from workflow_engine.queries.due import QRY_DUE


class DueDAL:
    def list_last_steps(self, instance_ids: Sequence[int]) -> Query[LastStepRow]:
        return query(QRY_DUE.LIST_LAST_STEPS, LastStepRow, INSTANCE_IDS=list(instance_ids))

    def list_stay_acks(self, instance_id: int, stay_seq: int) -> Query[StayAckRow]:
        return query(QRY_DUE.LIST_STAY_ACKS, StayAckRow, INSTANCE_ID=instance_id, SEQ=stay_seq)

    def list_due_of_deleted(self, consumer_id: int, take: int) -> Query[OpenOfDeletedRow]:
        return query(QRY_DUE.LIST_DUE_OF_DELETED, OpenOfDeletedRow, CONSUMER_ID=consumer_id, TAKE=take)

    def list_others_of_deleted(self, consumer_id: int, after_ack_id: int, take: int) -> Query[OpenOfDeletedRow]:
        return query(QRY_DUE.LIST_OTHERS_OF_DELETED, OpenOfDeletedRow, CONSUMER_ID=consumer_id, AFTER_ACK_ID=after_ack_id, TAKE=take)

    def list_by_ack_ids(self, consumer_id: int, ack_ids: Sequence[int]) -> Query[AckConsumerRow]:
        return query(QRY_DUE.LIST_BY_ACK_IDS, AckConsumerRow, CONSUMER_ID=consumer_id, ACK_IDS=list(ack_ids))
