"""Statements of `monitor_lease`; its times are the wall clock's, not the engine's."""

from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.health import MonitorLeaseRow
from workflow_engine.queries.monitor_lease import QRY_MONITOR_LEASE

_LEASE_NAME = "monitor"


class MonitorLeaseDAL:
    def get(self) -> Query[MonitorLeaseRow]:
        return query(QRY_MONITOR_LEASE.GET, MonitorLeaseRow, LEASE_NAME=_LEASE_NAME)

    def take(self, owner: str, now: datetime, expires_at: datetime) -> Statement:
        """Take the lease if it is free or has run out, or renew one's own; `get` in the same packet shows who holds it now."""
        return statement(QRY_MONITOR_LEASE.UPDATE_OWNER, LEASE_NAME=_LEASE_NAME, LEASE_OWNER=owner, NOW=now, EXPIRES_AT=expires_at)

    def release(self, owner: str, now: datetime) -> Statement:
        return statement(QRY_MONITOR_LEASE.UPDATE_RELEASED, LEASE_NAME=_LEASE_NAME, LEASE_OWNER=owner, NOW=now)

    def note_pass(self, now: datetime) -> Statement:
        """A pass has come to its end: this is what health calls the monitor's age."""
        return statement(QRY_MONITOR_LEASE.UPDATE_LAST_RUN, LEASE_NAME=_LEASE_NAME, NOW=now)
