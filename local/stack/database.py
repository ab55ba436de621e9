"""The database of a local stack: a private one, or a given one that is emptied only when everything in it is ours."""

import os
import re
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

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
    with running_server(kind, directory=SERVERS / f"{kind}.{kept_as}" if kept_as else None) as server:
        _migrate(server.url)
        yield server.url


@contextmanager
def _given(url: DatabaseUrl, *, keep: bool) -> Generator[str]:
    url = url.with_name(url.name or DEFAULT_NAME)
    say(f"database: {url.place}/{url.name}, named by {GIVEN}")
    with running_server(), _claimed(url):
        url.with_name("").execute(f"CREATE DATABASE IF NOT EXISTS `{url.name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
        if not keep:
            _empty(url)
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


def _empty(url: DatabaseUrl) -> None:
    present, ours = _tables_in(url), set(_our_tables(SQL))
    if foreign := sorted(present - ours):
        names = ", ".join(foreign[:5])
        raise LocalSetupError(
            f"the database {url.name} on {url.place} has tables that are not the engine's ({names}), and each start empties it.\n"
            f"Name another database in {GIVEN} (it is created when it is missing), or set WFE_KEEP=1 to start without emptying it"
        )
    if present:
        url.with_name("").execute(f"DROP DATABASE `{url.name}`")
        url.with_name("").execute(f"CREATE DATABASE `{url.name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")


def _tables_in(url: DatabaseUrl) -> set[str]:
    with closing(url.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW TABLES")
        return {str(row[0]) for row in cursor.fetchall()}


def _our_tables(folder: Path) -> list[str]:
    return [name for file in folder.glob("*.sql") for name in re.findall(r"(?im)^CREATE TABLE (?:IF NOT EXISTS )?`?(\w+)", file.read_text("utf-8"))]


def _migrate(url: str) -> None:
    say("schema: applying sql/")
    apply_migrations(url_target(url), SQL)
