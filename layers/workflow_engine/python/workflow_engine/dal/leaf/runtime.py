"""Statements of `runtime`."""

from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.runtime import NewRuntime, RuntimeKey, RuntimePlaceRow, RuntimeRow
from workflow_engine.queries.runtime import QRY_RUNTIME


class RuntimeDAL:
    def get_place(self, key: RuntimeKey) -> Query[RuntimePlaceRow]:
        return query(QRY_RUNTIME.GET_PLACE, RuntimePlaceRow, INSTANCE_GUID=key.instance_guid, LIFECYCLE_ID=key.lifecycle_id)

    def get_by_key(self, key: RuntimeKey) -> Query[RuntimeRow]:
        values = {"ACTIVITY_KEY": key.activity_key, "ACTOR": key.actor}
        return query(QRY_RUNTIME.GET_BY_KEY, RuntimeRow, INSTANCE_GUID=key.instance_guid, LIFECYCLE_ID=key.lifecycle_id, **values)

    def get_by_id(self, runtime_id: int) -> Query[RuntimeRow]:
        return query(QRY_RUNTIME.GET_BY_ID, RuntimeRow, RUNTIME_ID=runtime_id)

    def insert(self, new: NewRuntime, key: RuntimeKey, now: datetime) -> Statement:
        return statement(
            QRY_RUNTIME.INSERT,
            RUNTIME_ID=new.runtime_id,
            INSTANCE_ID=new.instance_id,
            LIFECYCLE_ID=key.lifecycle_id,
            STATE_ID=new.state_id,
            ACTIVITY=new.activity,
            ACTIVITY_KEY=key.activity_key,
            ACTOR=key.actor,
            RUNTIME_STATUS=new.status,
            DATA=new.data,
            FROZEN=False,
            NOW=now,
        )

    def update_report(self, row: RuntimeRow, now: datetime) -> Statement:
        """Write status and data, unless the row is frozen."""
        return statement(QRY_RUNTIME.UPDATE_REPORT, RUNTIME_ID=row.runtime_id, RUNTIME_STATUS=row.status, DATA=row.data, FROZEN=False, NOW=now)

    def update_frozen(self, runtime_id: int, *, is_frozen: bool, now: datetime) -> Statement:
        return statement(QRY_RUNTIME.UPDATE_FROZEN, RUNTIME_ID=runtime_id, FROZEN=is_frozen, NOW=now)
