"""One database server for the whole test run, and an empty database of its own for every worker."""

import os
import secrets
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any, get_args

import pytest

from local.database import DatabaseServer, Kind, running_server
from local.database.programs import TITLES
from local.database.url import DatabaseUrl
from local.machine import LocalSetupError

SERVER = pytest.StashKey[DatabaseServer]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand the one server to each xdist worker; the process that leads the run owns it."""
    node.workerinput["database_server"] = asdict(server_of(node.config))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    server = config.stash.get(SERVER, None)
    if server:
        terminalreporter.write_line(f"database: {TITLES[server.kind]} {server.version}")


@pytest.fixture(scope="session")
def database_server(request: pytest.FixtureRequest) -> DatabaseServer:
    """The server of this run: MariaDB, or what the environment variable DB says; WFE_DATABASE_URL names one that runs already."""
    handed = getattr(request.config, "workerinput", None)
    return DatabaseServer(**handed["database_server"]) if handed else server_of(request.config)


@pytest.fixture(scope="session")
def database_url(database_server: DatabaseServer) -> Generator[str]:
    """The address of an empty database that belongs to this worker alone."""
    url = create_database(database_server.url)
    yield url
    drop_database(url)


def server_of(config: pytest.Config) -> DatabaseServer:
    """Start the server at the first call; it ends with the run."""
    if SERVER not in config.stash:
        kind = os.environ.get("DB") or "mariadb"
        if kind not in get_args(Kind):
            pytest.exit(f"DB={kind} is unknown: choose one of {', '.join(get_args(Kind))}", returncode=pytest.ExitCode.USAGE_ERROR)
        stack = ExitStack()
        try:
            config.stash[SERVER] = stack.enter_context(running_server(kind, profile="fast"))
        except LocalSetupError as error:
            pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
        config.add_cleanup(stack.close)
    return config.stash[SERVER]


def create_database(url: str) -> str:
    """Make an empty utf8mb4 database on the server and return its address."""
    created = DatabaseUrl.parse(url).with_name(f"wfe_test_{secrets.token_hex(6)}")
    created.with_name("").execute(f"CREATE DATABASE {created.name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
    return str(created)


def drop_database(url: str) -> None:
    database = DatabaseUrl.parse(url)
    database.with_name("").execute(f"DROP DATABASE {database.name}")
