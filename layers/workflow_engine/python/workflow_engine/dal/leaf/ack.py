"""Statements of `ack`, `lc_ack` and `hook_ack`."""

from collections.abc import Sequence
from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, bulk, query, statement
from workflow_engine.models.ack import AckBodyRow
from workflow_engine.models.transition import NewAck
from workflow_engine.queries.ack import QRY_ACK, QRY_HOOK_ACK, QRY_LC_ACK


class AckDAL:
    def list_bodies_by_ids(self, ack_ids: Sequence[int]) -> Query[AckBodyRow]:
        return query(QRY_ACK.LIST_BODIES_BY_IDS, AckBodyRow, ACK_IDS=list(ack_ids))

    def insert(self, instance_id: int, acks: Sequence[NewAck], now: datetime) -> Statement:
        return bulk(
            QRY_ACK.INSERT, [{"ACK_ID": ack.ack_id, "ACK_GUID": ack.ack_guid, "INSTANCE_ID": instance_id, "BODY": ack.body, "NOW": now} for ack in acks]
        )

    def link_lifecycle(self, lifecycle_id: int, ack_id: int) -> Statement:
        return statement(QRY_LC_ACK.INSERT, LIFECYCLE_ID=lifecycle_id, ACK_ID=ack_id)

    def link_hooks(self, acks: Sequence[NewAck]) -> Statement:
        return bulk(QRY_HOOK_ACK.INSERT, [{"HOOK_ID": ack.hook_id, "ACK_ID": ack.ack_id} for ack in acks])
