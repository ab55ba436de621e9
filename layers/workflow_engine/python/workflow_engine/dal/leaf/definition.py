"""Statements of `definition`."""

from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.def_version import DefinitionListRow, DefinitionRow
from workflow_engine.queries.definition import QRY_DEFINITION


class DefinitionDAL:
    def lock_by_key(self, env_code: int, def_key: str) -> Query[DefinitionRow]:
        return query(QRY_DEFINITION.GET_LOCKED_BY_KEY, DefinitionRow, ENV_CODE=env_code, DEF_KEY=def_key)

    def get_active_by_key(self, env_code: int, def_key: str) -> Query[DefinitionListRow]:
        return query(QRY_DEFINITION.GET_ACTIVE_BY_KEY, DefinitionListRow, ENV_CODE=env_code, DEF_KEY=def_key)

    def list_paged(self, after: tuple[int, str], take: int) -> Query[DefinitionListRow]:
        return query(QRY_DEFINITION.LIST_PAGED, DefinitionListRow, AFTER_ENV_CODE=after[0], AFTER_DEF_KEY=after[1], TAKE=take)

    def list_by_env_paged(self, env_code: int, after_key: str, take: int) -> Query[DefinitionListRow]:
        return query(QRY_DEFINITION.LIST_BY_ENV_PAGED, DefinitionListRow, ENV_CODE=env_code, AFTER_DEF_KEY=after_key, TAKE=take)

    def insert(self, row: DefinitionRow, def_key: str, now: datetime) -> Statement:
        return statement(
            QRY_DEFINITION.INSERT,
            DEFINITION_ID=row.definition_id,
            ENV_ID=row.env_id,
            DEF_NAME=row.def_name,
            DEF_KEY=def_key,
            DESCRIPTION=row.description,
            DEF_VERSION_ID=row.active_version_id,
            NOW=now,
        )

    def update_active(self, definition_id: int, def_version_id: int) -> Statement:
        return statement(QRY_DEFINITION.UPDATE_ACTIVE, DEFINITION_ID=definition_id, DEF_VERSION_ID=def_version_id)

    def update_description(self, definition_id: int, description: str) -> Statement:
        return statement(QRY_DEFINITION.UPDATE_DESCRIPTION, DEFINITION_ID=definition_id, DESCRIPTION=description)
