"""Statements that show instances."""

from collections.abc import Sequence
from datetime import datetime

from workflow_engine.dal.packet import Query, query
from workflow_engine.models.enums import InstanceStatus
from workflow_engine.models.instances_api import InstanceKeyRow, InstanceViewRow, ScopeRow
from workflow_engine.queries.instance_view import QRY_INSTANCE_VIEW

# Far more definitions and versions than a list can be merged from.
_MOST = 5_000
# A byte that UTF-8 never uses: above everything that begins with the prefix.
_PAST_PREFIX = b"\xff"
Place = tuple[datetime, int]


class InstanceViewDAL:
    def get_by_guid(self, instance_guid: str) -> Query[InstanceViewRow]:
        return query(QRY_INSTANCE_VIEW.GET_BY_GUID, InstanceViewRow, INSTANCE_GUID=instance_guid)

    def list_by_ids(self, instance_ids: Sequence[int]) -> Query[InstanceViewRow]:
        return query(QRY_INSTANCE_VIEW.LIST_BY_IDS, InstanceViewRow, INSTANCE_IDS=list(instance_ids))

    def list_definitions(self, env_code: int | None, def_key: str | None) -> Query[ScopeRow]:
        return query(QRY_INSTANCE_VIEW.LIST_DEFINITIONS, ScopeRow, ENV_CODE=env_code, DEF_KEY=def_key, TAKE=_MOST)

    def list_states(self, env_code: int | None, def_key: str | None, state_key: str) -> Query[ScopeRow]:
        return query(QRY_INSTANCE_VIEW.LIST_STATES, ScopeRow, ENV_CODE=env_code, DEF_KEY=def_key, STATE_KEY=state_key, TAKE=_MOST)

    def list_keys_newest(self, before: Place, take: int) -> Query[InstanceKeyRow]:
        return query(QRY_INSTANCE_VIEW.LIST_KEYS_NEWEST, InstanceKeyRow, BEFORE_CREATED=before[0], BEFORE_INSTANCE_ID=before[1], TAKE=take)

    def list_keys_by_state(self, definition_id: int, state_id: int, before: Place, take: int) -> Query[InstanceKeyRow]:
        values = {"DEFINITION_ID": definition_id, "STATE_ID": state_id}
        return query(QRY_INSTANCE_VIEW.LIST_KEYS_BY_STATE, InstanceKeyRow, BEFORE_CREATED=before[0], BEFORE_INSTANCE_ID=before[1], TAKE=take, **values)

    def list_keys_by_status(self, definition_id: int, status: InstanceStatus, before: Place, take: int) -> Query[InstanceKeyRow]:
        values = {"DEFINITION_ID": definition_id, "INSTANCE_STATUS": status}
        return query(QRY_INSTANCE_VIEW.LIST_KEYS_BY_STATUS, InstanceKeyRow, BEFORE_CREATED=before[0], BEFORE_INSTANCE_ID=before[1], TAKE=take, **values)

    def list_keys_by_ref(self, definition_ids: Sequence[int], external_ref: str) -> Query[InstanceKeyRow]:
        return query(QRY_INSTANCE_VIEW.LIST_KEYS_BY_REF, InstanceKeyRow, DEFINITION_IDS=list(definition_ids), EXTERNAL_REF=external_ref, TAKE=_MOST)

    def list_keys_by_prefix(self, definition_id: int, prefix: str, take: int) -> Query[InstanceKeyRow]:
        start = prefix.encode()
        return query(QRY_INSTANCE_VIEW.LIST_KEYS_BY_PREFIX, InstanceKeyRow, DEFINITION_ID=definition_id, REF_FROM=start, REF_TO=start + _PAST_PREFIX, TAKE=take)
