"""Statements of `request_log`."""

from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.lifecycle import RequestLogRow
from workflow_engine.models.transition import NewRequestLog
from workflow_engine.queries.request_log import QRY_REQUEST_LOG


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
