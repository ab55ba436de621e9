"""Statements of `schema_version` and of the runtime user."""

from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.rows import CountRow
from workflow_engine.models.schema_version import LockedVersionRow, SchemaVersionRow
from workflow_engine.queries.schema_version import QRY_RUNTIME_USER, QRY_SCHEMA_VERSION

_TABLE = "schema_version"
_LOCK_VERSION = 0
_MOST = 10_000


class SchemaVersionDAL:
    def exists_table(self) -> Query[CountRow]:
        return query(QRY_SCHEMA_VERSION.EXISTS_TABLE, CountRow, TABLE_NAME=_TABLE)

    def list_all(self) -> Query[SchemaVersionRow]:
        return query(QRY_SCHEMA_VERSION.LIST_ALL, SchemaVersionRow, TAKE=_MOST)

    def lock(self) -> Query[LockedVersionRow]:
        return query(QRY_SCHEMA_VERSION.GET_FOR_UPDATE, LockedVersionRow, SCHEMA_VERSION=_LOCK_VERSION)

    def insert(self, row: SchemaVersionRow) -> Statement:
        values = {"SCHEMA_VERSION": row.version, "FILE_NAME": row.name, "CHECKSUM": row.checksum}
        return statement(QRY_SCHEMA_VERSION.INSERT, **values, STATEMENTS_DONE=row.statements_done, APPLIED_AT=row.applied_at)

    def update_progress(self, version: int, checksum: str, statements_done: int, applied_at: datetime | None) -> Statement:
        values = {"SCHEMA_VERSION": version, "CHECKSUM": checksum, "STATEMENTS_DONE": statements_done}
        return statement(QRY_SCHEMA_VERSION.UPDATE_PROGRESS, **values, APPLIED_AT=applied_at)

    def set_lock_wait(self, seconds: int) -> Statement:
        return statement(QRY_SCHEMA_VERSION.SET_LOCK_WAIT, SECONDS=seconds)

    def set_idle_wait(self, seconds: int) -> Statement:
        return statement(QRY_SCHEMA_VERSION.SET_IDLE_WAIT, SECONDS=seconds)


class RuntimeUserDAL:
    def create_for_iam(self, user: str) -> list[Statement]:
        return [statement(QRY_RUNTIME_USER.CREATE_IAM, RUNTIME_USER=user), statement(QRY_RUNTIME_USER.ALTER_REQUIRE_TLS, RUNTIME_USER=user)]

    def create_with_password(self, user: str, password: str) -> list[Statement]:
        create = statement(QRY_RUNTIME_USER.CREATE_LOGIN, RUNTIME_USER=user, USER_PASSWORD=password)
        return [create, statement(QRY_RUNTIME_USER.ALTER_LOGIN, RUNTIME_USER=user, USER_PASSWORD=password)]

    def grant_rows(self, user: str) -> Statement:
        return statement(QRY_RUNTIME_USER.GRANT_ROWS, RUNTIME_USER=user)
