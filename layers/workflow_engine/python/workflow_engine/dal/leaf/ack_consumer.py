"""Statements of `ack_consumer`."""

from collections.abc import Sequence
from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, bulk, query, statement
from workflow_engine.models.ack import AckConsumerRow, DueRow, HeldLaneRow, OldestDueRow
from workflow_engine.models.enums import AckStatus
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.transition import NewAckConsumer
from workflow_engine.queries.ack_consumer import QRY_ACK_CONSUMER

# Far above what one topic can serve.
_CONSUMERS = 10_000


class AckConsumerDAL:
    def get_by_guid(self, ack_guid: str, consumer_id: int) -> Query[AckConsumerRow]:
        return query(QRY_ACK_CONSUMER.GET_BY_GUID, AckConsumerRow, ACK_GUID=ack_guid, CONSUMER_ID=consumer_id)

    def list_by_guids(self, ack_guids: Sequence[str], consumer_id: int) -> Query[AckConsumerRow]:
        return query(QRY_ACK_CONSUMER.LIST_BY_GUIDS, AckConsumerRow, ACK_GUIDS=list(ack_guids), CONSUMER_ID=consumer_id)

    def list_lane(self, lane: tuple[int, int], status: AckStatus, take: int) -> Query[AckConsumerRow]:
        return query(QRY_ACK_CONSUMER.LIST_LANE_BY_STATUS, AckConsumerRow, CONSUMER_ID=lane[0], INSTANCE_ID=lane[1], ACK_STATUS=status, TAKE=take)

    def list_lane_by_guid(self, consumer_id: int, ack_guid: str, status: AckStatus, take: int) -> Query[AckConsumerRow]:
        return query(QRY_ACK_CONSUMER.LIST_LANE_BY_ACK_GUID, AckConsumerRow, CONSUMER_ID=consumer_id, ACK_GUID=ack_guid, ACK_STATUS=status, TAKE=take)

    def list_lowest_held(self, lane: tuple[int, int]) -> Query[AckConsumerRow]:
        return query(QRY_ACK_CONSUMER.LIST_LOWEST_HELD, AckConsumerRow, CONSUMER_ID=lane[0], INSTANCE_ID=lane[1], HELD=AckStatus.HELD)

    def list_lowest_held_by_guid(self, consumer_id: int, ack_guid: str) -> Query[AckConsumerRow]:
        return query(QRY_ACK_CONSUMER.LIST_LOWEST_HELD_BY_ACK_GUID, AckConsumerRow, CONSUMER_ID=consumer_id, ACK_GUID=ack_guid, HELD=AckStatus.HELD)

    def list_by_instance(self, instance_id: int, status: AckStatus, take: int) -> Query[AckConsumerRow]:
        return query(QRY_ACK_CONSUMER.LIST_BY_INSTANCE_AND_STATUS, AckConsumerRow, INSTANCE_ID=instance_id, ACK_STATUS=status, TAKE=take)

    def list_by_ack_instance(self, ack_guid: str, status: AckStatus, take: int) -> Query[AckConsumerRow]:
        return query(QRY_ACK_CONSUMER.LIST_BY_ACK_GUID_AND_STATUS, AckConsumerRow, ACK_GUID=ack_guid, ACK_STATUS=status, TAKE=take)

    def list_gave_up(self, instance_id: int, status: AckStatus, take: int) -> Query[AckConsumerRow]:
        return query(QRY_ACK_CONSUMER.LIST_GAVE_UP, AckConsumerRow, INSTANCE_ID=instance_id, ACK_STATUS=status, TAKE=take)

    def list_held_lanes(self, instance_id: int) -> Query[HeldLaneRow]:
        return query(QRY_ACK_CONSUMER.LIST_HELD_LANES, HeldLaneRow, INSTANCE_ID=instance_id, HELD=AckStatus.HELD, TAKE=_CONSUMERS)

    def get_oldest_due(self, consumer_id: int, now: datetime) -> Query[OldestDueRow]:
        return query(QRY_ACK_CONSUMER.GET_OLDEST_DUE, OldestDueRow, CONSUMER_ID=consumer_id, NOW=now)

    def list_due_paged(self, consumer_id: int, now: datetime, after: tuple[datetime, int], take: int) -> Query[DueRow]:
        return query(QRY_ACK_CONSUMER.LIST_DUE_PAGED, DueRow, CONSUMER_ID=consumer_id, NOW=now, AFTER_DUE=after[0], AFTER_ACK_ID=after[1], TAKE=take)

    def list_due_of_page(self, consumer_id: int, ack_ids: Sequence[int], status: AckStatus, now: datetime) -> Query[AckConsumerRow]:
        return query(QRY_ACK_CONSUMER.LIST_DUE_OF_PAGE, AckConsumerRow, CONSUMER_ID=consumer_id, ACK_IDS=list(ack_ids), ACK_STATUS=status, NOW=now)

    def insert(self, rows: Sequence[NewAckConsumer], now: datetime) -> Statement:
        return bulk(
            QRY_ACK_CONSUMER.INSERT,
            [
                {
                    "ACK_ID": row.ack_id,
                    "CONSUMER_ID": row.consumer_id,
                    "INSTANCE_ID": row.instance_id,
                    "SEQ": row.seq,
                    "KIND": row.kind,
                    "ACK_STATUS": row.status,
                    "NEXT_DUE": row.next_due,
                    "TRIGGER_COUNT": row.trigger_count,
                    "SENDS": row.trigger_count,
                    "RETRY_COUNT": 0,
                    "FIRST_SENT_AT": row.first_sent_at,
                    "NOW": now,
                }
                for row in rows
            ],
        )

    def update(self, row: AckConsumerRow) -> Statement:
        """Write the row as it now is; the caller holds the instance's lock."""
        return statement(
            QRY_ACK_CONSUMER.UPDATE,
            ACK_ID=row.ack_id,
            CONSUMER_ID=row.consumer_id,
            ACK_STATUS=row.status,
            NEXT_DUE=row.next_due,
            TRIGGER_COUNT=row.trigger_count,
            SENDS=row.sends,
            RETRY_COUNT=row.retry_count,
            FIRST_SENT_AT=row.first_sent_at,
            DELIVERED_AT=row.delivered_at,
            PROCESSED_AT=row.processed_at,
            GAVE_UP=row.gave_up,
            NOW=row.modified,
        )

    def update_sent(self, row: AckConsumerRow) -> Statement:
        return statement(
            QRY_ACK_CONSUMER.UPDATE_SENT,
            ACK_ID=row.ack_id,
            CONSUMER_ID=row.consumer_id,
            TRIGGER_COUNT=row.trigger_count,
            SENDS=row.sends,
            FIRST_SENT_AT=row.first_sent_at,
            LAST_RETRY=row.modified,
            NEXT_DUE=row.next_due,
            NOW=row.modified,
        )

    def update_message(self, row: AckConsumerRow, message: str | None, last_retry: datetime | None) -> Statement:
        return statement(QRY_ACK_CONSUMER.UPDATE_MESSAGE, ACK_ID=row.ack_id, CONSUMER_ID=row.consumer_id, MESSAGE=message, LAST_RETRY=last_retry)

    def give_back(self, message: WorkMessage, next_due: datetime, now: datetime) -> Statement:
        return statement(
            QRY_ACK_CONSUMER.UPDATE_GIVEN_BACK,
            ACK_ID=message.ack_id,
            CONSUMER_ID=message.consumer_id,
            ONE=1,
            SENDS=message.attempt - 1,
            FIRST_SENT_AT=message.first_sent_at if message.attempt > 1 else None,
            NEXT_DUE=next_due,
            NOW=now,
            CLAIMED_SENDS=message.attempt,
            CLAIMED_DUE=message.claimed_due,
        )

    def disarm(self, consumer_id: int, ack_ids: Sequence[int], now: datetime) -> Statement:
        return statement(QRY_ACK_CONSUMER.UPDATE_DISARMED, CONSUMER_ID=consumer_id, ACK_IDS=list(ack_ids), NOW=now)

    def rearm(self, consumer_id: int, ack_ids: Sequence[int], most_attempts: int, now: datetime) -> Statement:
        return statement(QRY_ACK_CONSUMER.UPDATE_REARMED, CONSUMER_ID=consumer_id, ACK_IDS=list(ack_ids), MOST_ATTEMPTS=most_attempts, NOW=now)
