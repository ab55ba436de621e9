"""Statements that find out why an instance stands still."""

from workflow_engine.dal.packet import Query, query
from workflow_engine.models.enums import AckStatus
from workflow_engine.models.notice import NoticeRow
from workflow_engine.models.why import LaneRow, StandingRow, WhyAckRow
from workflow_engine.queries.why import QRY_WHY

_ANY_DEFINITION = "*"


class WhyDAL:
    def get_standing(self, instance_guid: str) -> Query[StandingRow]:
        return query(QRY_WHY.GET_STANDING, StandingRow, INSTANCE_GUID=instance_guid)

    def list_lanes(self, standing: StandingRow, take: int) -> Query[LaneRow]:
        return query(
            QRY_WHY.LIST_LANES,
            LaneRow,
            ENV_ID=standing.env_id,
            DEF_KEY=standing.def_key,
            ANY_KEY=_ANY_DEFINITION,
            INSTANCE_ID=standing.instance_id,
            PENDING=AckStatus.PENDING,
            DELIVERED=AckStatus.DELIVERED,
            HELD=AckStatus.HELD,
            PARKED=AckStatus.PARKED,
            SUSPENDING=AckStatus.SUSPENDING,
            TAKE=take,
        )

    def list_lane_rows(self, instance_id: int, consumer_id: int, status: AckStatus, take: int) -> Query[WhyAckRow]:
        return query(QRY_WHY.LIST_LANE_ROWS, WhyAckRow, INSTANCE_ID=instance_id, CONSUMER_ID=consumer_id, ACK_STATUS=status, TAKE=take)

    def list_failed_of_step(self, standing: StandingRow, take: int) -> Query[WhyAckRow]:
        values = {"INSTANCE_ID": standing.instance_id, "ENV_ID": standing.env_id, "SEQ": standing.seq}
        return query(QRY_WHY.LIST_FAILED_OF_STEP, WhyAckRow, FAILED=AckStatus.FAILED, TAKE=take, **values)

    def list_notices(self, instance_guid: str, take: int) -> Query[NoticeRow]:
        return query(QRY_WHY.LIST_NOTICES, NoticeRow, INSTANCE_GUID=instance_guid, TAKE=take)
