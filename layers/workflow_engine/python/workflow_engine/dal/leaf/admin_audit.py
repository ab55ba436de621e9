"""Statements of `admin_audit`."""

import json
from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.admin import AuditEntry, AuditIdRow
from workflow_engine.queries.admin_audit import QRY_ADMIN_AUDIT


class AdminAuditDAL:
    def get(self, audit_id: int) -> Query[AuditIdRow]:
        return query(QRY_ADMIN_AUDIT.GET, AuditIdRow, AUDIT_ID=audit_id)

    def insert(self, entry: AuditEntry, now: datetime) -> Statement:
        return statement(
            QRY_ADMIN_AUDIT.INSERT,
            AUDIT_ID=entry.audit_id,
            ACTION=entry.action,
            ACTOR=entry.actor[:600],
            REASON=entry.reason,
            ENV_CODE=entry.env_code,
            TARGET=entry.target[:300],
            DATA=json.dumps(entry.data),
            NOW=now,
        )
