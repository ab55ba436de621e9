"""Statements that show a consumer its events."""

from workflow_engine.dal.packet import Query, query
from workflow_engine.models.ack_view import AckEventRow, PayloadRow
from workflow_engine.queries.ack_view import QRY_ACK_VIEW


class AckViewDAL:
    def get_event(self, ack_guid: str, consumer_id: int) -> Query[AckEventRow]:
        return query(QRY_ACK_VIEW.GET_EVENT, AckEventRow, ACK_GUID=ack_guid, CONSUMER_ID=consumer_id)

    def get_payload(self, ack_guid: str) -> Query[PayloadRow]:
        return query(QRY_ACK_VIEW.GET_PAYLOAD, PayloadRow, ACK_GUID=ack_guid)
