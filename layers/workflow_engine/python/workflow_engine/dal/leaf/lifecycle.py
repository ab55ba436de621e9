"""Statements of `lifecycle` and `lifecycle_data`."""

from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.lifecycle import LifecycleStampRow
from workflow_engine.models.transition import NewLifecycle
from workflow_engine.queries.lifecycle import QRY_LIFECYCLE, QRY_LIFECYCLE_DATA


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
