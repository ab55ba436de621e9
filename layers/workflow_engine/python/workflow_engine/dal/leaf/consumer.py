"""Statements of `consumer`."""

import json
from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.consumer import Beat, ConsumerRow, PendingRow, Registration
from workflow_engine.models.rows import CountRow
from workflow_engine.queries.consumer import QRY_CONSUMER

_NOT_DELETED = 0
_FIRST_ACK_ID = 0
# More than anybody leaves behind; the next caller ends the rest.
_MAX_UNENDED = 20


class ConsumerDAL:
    def get_by_name(self, env_code: int, consumer: str) -> Query[ConsumerRow]:
        return query(QRY_CONSUMER.GET_BY_NAME, ConsumerRow, ENV_CODE=env_code, CONSUMER=consumer, NOT_DELETED=_NOT_DELETED)

    def get_by_id(self, consumer_id: int) -> Query[ConsumerRow]:
        """Find a consumer whether it was deleted or not."""
        return query(QRY_CONSUMER.GET_BY_ID, ConsumerRow, CONSUMER_ID=consumer_id)

    def get_by_endpoint(self, endpoint_hash: str | None) -> Query[ConsumerRow]:
        return query(QRY_CONSUMER.GET_BY_ENDPOINT, ConsumerRow, ENDPOINT_HASH=endpoint_hash)

    def list_unended(self, env_code: int, consumer: str) -> Query[ConsumerRow]:
        """Find deleted consumers of the name that still have a subscription."""
        return query(QRY_CONSUMER.LIST_UNENDED_BY_NAME, ConsumerRow, ENV_CODE=env_code, CONSUMER=consumer, NOT_DELETED=_NOT_DELETED, TAKE=_MAX_UNENDED)

    def count_others_on(self, subscription_arn: str, consumer_id: int) -> Query[CountRow]:
        return query(QRY_CONSUMER.COUNT_OTHERS_BY_SUBSCRIPTION, CountRow, SUBSCRIPTION_ARN=subscription_arn, CONSUMER_ID=consumer_id, NOT_DELETED=_NOT_DELETED)

    def list_paged(self, after_env_id: int, after_consumer: str, take: int) -> Query[ConsumerRow]:
        return query(QRY_CONSUMER.LIST_PAGED, ConsumerRow, AFTER_ENV_ID=after_env_id, AFTER_CONSUMER=after_consumer, NOT_DELETED=_NOT_DELETED, TAKE=take)

    def list_by_env_paged(self, env_code: int, after_consumer: str, take: int) -> Query[ConsumerRow]:
        return query(QRY_CONSUMER.LIST_BY_ENV_PAGED, ConsumerRow, ENV_CODE=env_code, AFTER_CONSUMER=after_consumer, NOT_DELETED=_NOT_DELETED, TAKE=take)

    def get_pending_by_name(self, env_code: int, consumer: str, take: int) -> Query[PendingRow]:
        return query(QRY_CONSUMER.GET_PENDING_BY_NAME, PendingRow, ENV_CODE=env_code, CONSUMER=consumer, NOT_DELETED=_NOT_DELETED, TAKE=take)

    def get_pending_by_id(self, consumer_id: int, take: int) -> Query[PendingRow]:
        return query(QRY_CONSUMER.GET_PENDING_BY_ID, PendingRow, CONSUMER_ID=consumer_id, TAKE=take)

    def insert(self, registration: Registration, now: datetime) -> Statement:
        """Look first; when two insert at once, the duplicate key restarts the second unit."""
        return statement(
            QRY_CONSUMER.INSERT,
            CONSUMER_ID=registration.consumer_id,
            ENV_ID=registration.env_id,
            CONSUMER=registration.consumer,
            NOT_DELETED=_NOT_DELETED,
            OWNER=registration.owner,
            PRINCIPALS=registration.principals,
            KINDS=registration.kinds,
            DEFINITIONS=registration.definitions,
            ROUTES=registration.routes,
            BEAT_SECONDS=registration.beat_seconds,
            IS_ALWAYS_LIVE=registration.is_always_live,
            ON_EXHAUSTED=registration.on_exhausted,
            ENDPOINT_PROTOCOL=registration.endpoint_protocol,
            ENDPOINT_ADDRESS=registration.endpoint_address,
            ENDPOINT_HASH=registration.endpoint_hash,
            NOW=now,
        )

    def update_registration(self, registration: Registration, now: datetime) -> Statement:
        return statement(
            QRY_CONSUMER.UPDATE_REGISTRATION,
            CONSUMER_ID=registration.consumer_id,
            NOT_DELETED=_NOT_DELETED,
            OWNER=registration.owner,
            PRINCIPALS=registration.principals,
            KINDS=registration.kinds,
            DEFINITIONS=registration.definitions,
            ROUTES=registration.routes,
            BEAT_SECONDS=registration.beat_seconds,
            IS_ALWAYS_LIVE=registration.is_always_live,
            ON_EXHAUSTED=registration.on_exhausted,
            ENDPOINT_PROTOCOL=registration.endpoint_protocol,
            ENDPOINT_ADDRESS=registration.endpoint_address,
            ENDPOINT_HASH=registration.endpoint_hash,
            NOW=now,
        )

    def update_owner(self, row: ConsumerRow, new_owner: str, principals: str, now: datetime) -> Statement:
        return statement(
            QRY_CONSUMER.UPDATE_OWNER,
            CONSUMER_ID=row.consumer_id,
            NOT_DELETED=_NOT_DELETED,
            OWNER=row.owner,
            NEW_OWNER=new_owner,
            PRINCIPALS=principals,
            NOW=now,
        )

    def update_deleted(self, row: ConsumerRow, now: datetime) -> Statement:
        """Free the name and the endpoint, and let the monitor close the open rows from the first on."""
        return statement(
            QRY_CONSUMER.UPDATE_DELETED, CONSUMER_ID=row.consumer_id, NOT_DELETED=_NOT_DELETED, OWNER=row.owner, FIRST_ACK_ID=_FIRST_ACK_ID, NOW=now
        )

    def stop_unless(self, row: ConsumerRow, owner: str, deleted_id: int = _NOT_DELETED) -> Statement:
        """Stop the packet, and so restart the unit, where the row does not have this owner and this deleted_id by now."""
        return statement(QRY_CONSUMER.INSERT_STOP_UNLESS_OWNED, ENV_ID=row.env_id, CONSUMER_ID=row.consumer_id, OWNER=owner, DELETED_ID=deleted_id)

    def update_beat(self, beat: Beat) -> Statement:
        """Move last_beat forward, for an owner only; whoever else asks changes nothing."""
        return statement(
            QRY_CONSUMER.UPDATE_BEAT,
            ENV_CODE=beat.env_code,
            CONSUMER=beat.consumer,
            NOT_DELETED=_NOT_DELETED,
            PRINCIPAL=beat.principal,
            PRINCIPAL_ENTRY=f",{json.dumps(beat.principal, ensure_ascii=False)}",
            COMMA=",",
            PROGRESS=beat.progress,
            NOW=beat.now,
        )

    def update_subscription(self, row: ConsumerRow, subscription_arn: str | None) -> Statement:
        """Keep the ARN, unless the endpoint was changed or the consumer deleted in the meantime."""
        return statement(
            QRY_CONSUMER.UPDATE_SUBSCRIPTION,
            CONSUMER_ID=row.consumer_id,
            DELETED_ID=row.deleted_id,
            ENDPOINT_HASH=row.endpoint_hash,
            SUBSCRIPTION_ARN=subscription_arn,
        )
