"""Statements of `lc_timeout`."""

from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.due import FiringsRow
from workflow_engine.queries.lc_timeout import QRY_LC_TIMEOUT


class LcTimeoutDAL:
    def get_firings(self, instance_id: int, stay_id: int) -> Query[FiringsRow]:
        return query(QRY_LC_TIMEOUT.GET_FIRINGS, FiringsRow, INSTANCE_ID=instance_id, STAY_ID=stay_id)

    def insert(self, stay: tuple[int, int], firing: int, lifecycle_id: int | None, now: datetime) -> Statement:
        """A second firing of the same number fails on the key and starts the unit again."""
        return statement(QRY_LC_TIMEOUT.INSERT, INSTANCE_ID=stay[0], STAY_ID=stay[1], FIRING=firing, LIFECYCLE_ID=lifecycle_id, NOW=now)
