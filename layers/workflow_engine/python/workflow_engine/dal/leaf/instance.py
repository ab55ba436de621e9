"""Statements of `instance`."""

from collections.abc import Sequence
from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.ack import AckInstanceRow
from workflow_engine.models.due import DueInstanceRow, InstanceIdRow
from workflow_engine.models.enums import StateDueKind
from workflow_engine.models.instance import InstanceRow
from workflow_engine.models.transition import InstanceState, NewInstance, StateDue
from workflow_engine.queries.instance import QRY_INSTANCE


class InstanceDAL:
    def lock_by_ref(self, definition_id: int, external_ref: str) -> Query[InstanceRow]:
        return query(QRY_INSTANCE.GET_LOCKED_BY_REF, InstanceRow, DEFINITION_ID=definition_id, EXTERNAL_REF=external_ref)

    def lock_by_guid(self, instance_guid: str) -> Query[InstanceRow]:
        return query(QRY_INSTANCE.GET_LOCKED_BY_GUID, InstanceRow, INSTANCE_GUID=instance_guid)

    def lock_by_ack_guid(self, ack_guid: str) -> Query[InstanceRow]:
        return query(QRY_INSTANCE.GET_LOCKED_BY_ACK_GUID, InstanceRow, ACK_GUID=ack_guid)

    def lock_by_ids(self, instance_ids: Sequence[int]) -> Query[InstanceRow]:
        return query(QRY_INSTANCE.LIST_LOCKED_BY_IDS, InstanceRow, INSTANCE_IDS=sorted(instance_ids))

    def lock_free_by_ids(self, instance_ids: Sequence[int]) -> Query[InstanceRow]:
        return query(QRY_INSTANCE.LIST_UNLOCKED_BY_IDS, InstanceRow, INSTANCE_IDS=sorted(instance_ids))

    def list_existing(self, instance_ids: Sequence[int]) -> Query[InstanceIdRow]:
        """Tell a missing instance from one that somebody else has locked."""
        return query(QRY_INSTANCE.LIST_EXISTING, InstanceIdRow, INSTANCE_IDS=list(instance_ids))

    def list_ids_by_ack_guids(self, ack_guids: Sequence[str]) -> Query[AckInstanceRow]:
        return query(QRY_INSTANCE.LIST_IDS_BY_ACK_GUIDS, AckInstanceRow, ACK_GUIDS=list(ack_guids))

    def list_due_paged(self, kind: StateDueKind, now: datetime, after: tuple[datetime, int], take: int) -> Query[DueInstanceRow]:
        return query(QRY_INSTANCE.LIST_DUE_PAGED, DueInstanceRow, STATE_DUE_KIND=kind, NOW=now, AFTER_DUE=after[0], AFTER_INSTANCE_ID=after[1], TAKE=take)

    def insert(self, new: NewInstance, state: InstanceState, now: datetime) -> Statement:
        return statement(
            QRY_INSTANCE.INSERT,
            INSTANCE_ID=new.instance_id,
            INSTANCE_GUID=new.instance_guid,
            DEFINITION_ID=new.definition_id,
            DEF_VERSION_ID=new.def_version_id,
            POLICY_ID=new.policy_id,
            EXTERNAL_REF=new.external_ref,
            STATE_ID=state.state_id,
            EVENT_ID=state.event_id,
            FLAGS=state.flags,
            SEQ=state.seq,
            STAY_ID=state.stay_id,
            STATE_ENTERED_AT=state.entered_at,
            STALE_AT=state.due.stale_at,
            STATE_DUE_KIND=state.due.kind,
            STATE_DUE_AT=state.due.due_at,
            NOW=now,
        )

    def update_state_cas(self, before: InstanceRow, state: InstanceState, now: datetime) -> Statement:
        return statement(
            QRY_INSTANCE.UPDATE_STATE_CAS,
            INSTANCE_ID=before.instance_id,
            FROM_STATE_ID=before.current_state_id,
            FROM_SEQ=before.seq,
            FROM_FLAGS=before.flags,
            STATE_ID=state.state_id,
            EVENT_ID=state.event_id,
            FLAGS=state.flags,
            SEQ=state.seq,
            STAY_ID=state.stay_id,
            STATE_ENTERED_AT=state.entered_at,
            STALE_AT=state.due.stale_at,
            STATE_DUE_KIND=state.due.kind,
            STATE_DUE_AT=state.due.due_at,
            NOW=now,
        )

    def update_flags(self, after: InstanceRow, due: StateDue, now: datetime) -> Statement:
        return statement(
            QRY_INSTANCE.UPDATE_FLAGS,
            INSTANCE_ID=after.instance_id,
            FLAGS=after.flags,
            SUSPENDED_BY=after.suspended_by,
            MESSAGE=after.message,
            STATE_DUE_KIND=due.kind,
            STATE_DUE_AT=due.due_at,
            NOW=now,
        )

    def update_due(self, instance_id: int, due: StateDue) -> Statement:
        return statement(QRY_INSTANCE.UPDATE_DUE, INSTANCE_ID=instance_id, STALE_AT=due.stale_at, STATE_DUE_KIND=due.kind, STATE_DUE_AT=due.due_at)
