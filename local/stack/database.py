"""The database of a local stack: a private one, or a given one that is emptied only when everything in it is ours."""

import os
import re
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pymysql

from local.database import GIVEN, SERVERS, running_server
from local.database.programs import TITLES, Kind
from local.database.url import DatabaseUrl
from local.machine import ROOT, LocalSetupError, say
from workflow_engine.adapters.database import url_target
from workflow_engine.dal.migrator import apply_migrations

SQL = ROOT / "sql"
DEFAULT_NAME = "workflow_engine"
# Longer than anybody leaves a stack alone: the connection that holds the claim is idle all the time.
_HELD_SECONDS = 7 * 86_400


@contextmanager
def prepared_database(kind: Kind, kept_as: str | None) -> Generator[str]:
    """Give the address of a database with the schema, empty unless it is kept; a private server runs for the time of the block."""
    if text := os.environ.get(GIVEN):
        with _given(DatabaseUrl.parse(text), keep=kept_as is not None) as url:
            yield url
        return
    say(f"{TITLES[kind]}: starting a private server" + (f" (its data stays in .local/servers/{kind}.{kept_as})" if kept_as else ""))
    with running_server(kind, directory=SERVERS / f"{kind}.{kept_as}" if kept_as else None) as server, _claimed(DatabaseUrl.parse(server.url)):
        _migrate(server.url)
        yield server.url


@contextmanager
def _given(url: DatabaseUrl, *, keep: bool) -> Generator[str]:
    url = url.with_name(url.name or DEFAULT_NAME)
    say(f"database: {url.place}/{url.name}, named by {GIVEN}")
    with running_server(), _claimed(url):
        try:
            url.with_name("").execute(f"CREATE DATABASE IF NOT EXISTS {url.quoted_name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
            _refuse_foreign(url)
            if not keep:
                _empty(url)
        except pymysql.MySQLError as error:
            raise LocalSetupError(
                f"the database {url.name} on {url.place} cannot be prepared: {error}\nName a user in {GIVEN} that may create it and change its tables"
            ) from error
        _migrate(str(url))
        yield str(url)


@contextmanager
def _claimed(url: DatabaseUrl) -> Generator[None]:
    """Two stacks on one database would empty it under each other's feet."""
    with closing(url.with_name("").connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION wait_timeout = %s", [_HELD_SECONDS])
        cursor.execute("SELECT GET_LOCK(%s, 0)", [f"workflow_engine.{url.name}"[:64]])
        row = cursor.fetchone()
        if row != (1,):
            raise LocalSetupError(f"another local stack uses the database {url.name} on {url.place}: stop it, or name another database in {GIVEN}")
        yield


def _refuse_foreign(url: DatabaseUrl) -> None:
    """Our tables have everyday names, so names prove nothing: what the migrations have left in schema_version does."""
    present = _tables_in(url)
    foreign = sorted(present - set(_our_tables(SQL))) or sorted(present if present and not _has_our_versions(url, present) else ())
    if foreign or _has_programs(url):
        names = ", ".join(foreign[:5]) or "stored programs"
        raise LocalSetupError(
            f"the database {url.name} on {url.place} holds what is not the engine's ({names}), and each start empties it.\n"
            f"Name another database in {GIVEN}; it is created when it is missing"
        )


def _has_our_versions(url: DatabaseUrl, present: set[str]) -> bool:
    if "schema_version" not in present:
        return False
    with closing(url.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW COLUMNS FROM schema_version")
        return {"version", "checksum"} <= {str(row[0]) for row in cursor.fetchall()}


def _has_programs(url: DatabaseUrl) -> bool:
    with closing(url.connect()) as connection, connection.cursor() as cursor:
        for statement in ("SHOW PROCEDURE STATUS WHERE Db = DATABASE()", "SHOW FUNCTION STATUS WHERE Db = DATABASE()", "SHOW TRIGGERS", "SHOW EVENTS"):
            cursor.execute(statement)
            if cursor.fetchall():
                return True
    return False


def _empty(url: DatabaseUrl) -> None:
    with closing(url.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SET foreign_key_checks = 0")
        for table in sorted(_tables_in(url)):
            cursor.execute(f"DROP TABLE `{table}`")


def _tables_in(url: DatabaseUrl) -> set[str]:
    with closing(url.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW TABLES")
        return {str(row[0]) for row in cursor.fetchall()}


def _our_tables(folder: Path) -> list[str]:
    return [name for file in folder.glob("*.sql") for name in re.findall(r"(?im)^CREATE TABLE (?:IF NOT EXISTS )?`?(\w+)", file.read_text("utf-8"))]


def _migrate(url: str) -> None:
    say("schema: applying sql/")
    apply_migrations(url_target(url), SQL)
