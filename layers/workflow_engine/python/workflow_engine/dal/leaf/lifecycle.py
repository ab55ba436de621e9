"""Statements of `lifecycle`, `lifecycle_data`, `hook` and `request_log`."""

from collections.abc import Sequence
from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, bulk, query, statement
from workflow_engine.models.lifecycle import LifecycleStampRow, RequestLogRow
from workflow_engine.models.transition import NewHook, NewLifecycle, NewRequestLog
from workflow_engine.queries.lifecycle import QRY_HOOK, QRY_LIFECYCLE, QRY_LIFECYCLE_DATA, QRY_REQUEST_LOG


class LifecycleDAL:
    def get_stamp(self, lifecycle_id: int) -> Query[LifecycleStampRow]:
        return query(QRY_LIFECYCLE.GET_STAMP, LifecycleStampRow, LIFECYCLE_ID=lifecycle_id)

    def insert_after_cas(self, new: NewLifecycle, now: datetime) -> Statement:
        return statement(
            QRY_LIFECYCLE.INSERT_AFTER_CAS,
            LIFECYCLE_ID=new.lifecycle_id,
            INSTANCE_ID=new.instance_id,
            SEQ=new.seq,
            FROM_STATE_ID=new.from_state_id,
            STATE_ID=new.to_state_id,
            EVENT_ID=new.event_id,
            LOG_FLAGS=new.log_flags,
            OCCURRED_AT=new.occurred_at,
            NOW=now,
        )

    def insert_data(self, new: NewLifecycle) -> Statement:
        return statement(QRY_LIFECYCLE_DATA.INSERT, LIFECYCLE_ID=new.lifecycle_id, ACTOR=new.actor, REQUEST_ID=new.request_id, PAYLOAD=new.payload)


class HookDAL:
    def insert(self, lifecycle_id: int, instance_id: int, hooks: Sequence[NewHook], now: datetime) -> Statement:
        return bulk(
            QRY_HOOK.INSERT,
            [
                {
                    "HOOK_ID": hook.hook_id,
                    "LIFECYCLE_ID": lifecycle_id,
                    "INSTANCE_ID": instance_id,
                    "POSITION": hook.position,
                    "ROUTE": hook.route,
                    "LABEL": hook.label,
                    "ON_ENTRY": hook.on_entry,
                    "HOOK_TYPE": hook.hook_type,
                    "HOOK_ORDER": hook.order,
                    "HOOK_GROUP": hook.group,
                    "ACK_MODE": hook.ack_mode,
                    "SEND": hook.send,
                    "NOT_BEFORE": hook.not_before,
                    "HOOK_DEADLINE": hook.deadline,
                    "ON_SUCCESS": hook.on_success,
                    "ON_FAILURE": hook.on_failure,
                    "NOW": now,
                }
                for hook in hooks
            ],
        )


class RequestLogDAL:
    def get_by_ref(self, definition_id: int, external_ref: str, request_id: str) -> Query[RequestLogRow]:
        return query(QRY_REQUEST_LOG.GET_BY_REF, RequestLogRow, DEFINITION_ID=definition_id, EXTERNAL_REF=external_ref, REQUEST_ID=request_id)

    def get_by_guid(self, instance_guid: str, request_id: str) -> Query[RequestLogRow]:
        return query(QRY_REQUEST_LOG.GET_BY_GUID, RequestLogRow, INSTANCE_GUID=instance_guid, REQUEST_ID=request_id)

    def insert(self, new: NewRequestLog, now: datetime) -> Statement:
        return statement(
            QRY_REQUEST_LOG.INSERT,
            INSTANCE_ID=new.instance_id,
            REQUEST_ID=new.request_id,
            UNIT_ID=new.unit_id,
            FINGERPRINT=new.fingerprint,
            ANSWER=new.answer,
            NOW=now,
        )
