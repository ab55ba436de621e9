"""Statements of `environment`."""

from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.environment import EnvironmentRow
from workflow_engine.queries.environment import QRY_ENVIRONMENT


class EnvironmentDAL:
    def get_by_code(self, env_code: int) -> Query[EnvironmentRow]:
        return query(QRY_ENVIRONMENT.GET_BY_CODE, EnvironmentRow, ENV_CODE=env_code)

    def insert(self, env: EnvironmentRow, now: datetime) -> Statement:
        """Look first; when two insert at once, the duplicate key restarts the second unit."""
        return statement(QRY_ENVIRONMENT.INSERT, ENV_ID=env.env_id, ENV_CODE=env.env_code, ENV_NAME=env.env_name, NOW=now)

    def update_name(self, env_id: int, env_name: str) -> Statement:
        return statement(QRY_ENVIRONMENT.UPDATE_NAME, ENV_ID=env_id, ENV_NAME=env_name)
