"""Statements that load definition versions and policies."""

from workflow_engine.dal.packet import Query, query
from workflow_engine.models.blueprint import BlueprintEdge, BlueprintEvent, BlueprintState, DefinitionRef, LatestVersionRow, PolicyRow, TimeoutRow, VersionRow
from workflow_engine.queries.blueprint import QRY_BLUEPRINT

# More than import lets through.
_TAKE = 10_000


class BlueprintDAL:
    def get_definition(self, env_code: int, def_key: str) -> Query[DefinitionRef]:
        return query(QRY_BLUEPRINT.GET_DEFINITION, DefinitionRef, ENV_CODE=env_code, DEF_KEY=def_key)

    def get_latest(self, definition_id: int) -> Query[LatestVersionRow]:
        return query(QRY_BLUEPRINT.GET_LATEST, LatestVersionRow, DEFINITION_ID=definition_id)

    def get_version(self, def_version_id: int) -> Query[VersionRow]:
        return query(QRY_BLUEPRINT.GET_VERSION, VersionRow, DEF_VERSION_ID=def_version_id)

    def list_states(self, def_version_id: int) -> Query[BlueprintState]:
        return query(QRY_BLUEPRINT.LIST_STATES, BlueprintState, DEF_VERSION_ID=def_version_id, TAKE=_TAKE)

    def list_events(self, def_version_id: int) -> Query[BlueprintEvent]:
        return query(QRY_BLUEPRINT.LIST_EVENTS, BlueprintEvent, DEF_VERSION_ID=def_version_id, TAKE=_TAKE)

    def list_edges(self, def_version_id: int) -> Query[BlueprintEdge]:
        return query(QRY_BLUEPRINT.LIST_EDGES, BlueprintEdge, DEF_VERSION_ID=def_version_id, TAKE=_TAKE)

    def list_timeouts_by_version(self, def_version_id: int) -> Query[TimeoutRow]:
        return query(QRY_BLUEPRINT.LIST_TIMEOUTS_BY_VERSION, TimeoutRow, DEF_VERSION_ID=def_version_id, TAKE=_TAKE)

    def list_timeouts_by_policy(self, policy_id: int) -> Query[TimeoutRow]:
        return query(QRY_BLUEPRINT.LIST_TIMEOUTS_BY_POLICY, TimeoutRow, POLICY_ID=policy_id, TAKE=_TAKE)

    def get_policy(self, policy_id: int) -> Query[PolicyRow]:
        return query(QRY_BLUEPRINT.GET_POLICY, PolicyRow, POLICY_ID=policy_id)
