"""A real MySQL or MariaDB for development and tests: `running_server` for programs, `python -m local.database` for people."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import pymysql

from local.database.instance import DatabaseServer, Launch, running_in, start, stop, stop_detached
from local.database.ports import BIND, bind_address
from local.database.programs import TITLES, Kind
from local.database.settings import Profile
from local.database.url import DatabaseUrl
from local.database.ways import default_kind, ensure_program
from local.machine import LOCAL, LocalSetupError, say

SERVERS = LOCAL / "servers"
GIVEN = "WFE_DATABASE_URL"


@contextmanager
def running_server(kind: Kind = "mariadb", profile: Profile = "durable", directory: Path | None = None, port: int | None = None) -> Generator[DatabaseServer]:
    """Run a private server for the time of the block; it ends with this process, however that ends.

    A given directory keeps its data, without one the data is gone afterwards. WFE_DATABASE_URL, when set, names the server to use instead;
    WFE_BIND, the address that a private one listens on.
    """
    if text := os.environ.get(GIVEN):
        yield given_server(text)
        return
    program = ensure_program(kind)
    folder = directory or _scratch_folder(kind)
    try:
        started = start(Launch(program=program, directory=folder, profile=profile, address=bind_address(), port=port, scratch=directory is None))
        try:
            yield started.server
        finally:
            stop(started.process)
    finally:
        if directory is None:
            shutil.rmtree(folder, ignore_errors=True)


def given_server(text: str) -> DatabaseServer:
    """Return the server that somebody else runs, after it has answered."""
    url = DatabaseUrl.parse(text)
    try:
        version = str(url.with_name("").execute("SELECT VERSION()"))
    except pymysql.MySQLError as error:
        raise LocalSetupError(
            f"the server that {GIVEN} names ({url.place}) cannot be used: {error}\nStart it, correct address and login, or unset {GIVEN} for a private server"
        ) from error
    return DatabaseServer(kind="mariadb" if "MariaDB" in version else "mysql", version=version, url=text)


def _scratch_folder(kind: Kind) -> Path:
    SERVERS.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=SERVERS))


def _install(options: argparse.Namespace) -> str:
    return f"{GIVEN} is used" if os.environ.get(GIVEN) else f"{ensure_program(options.kind).title} is ready to be started"


def _start(options: argparse.Namespace) -> str:
    if text := os.environ.get(GIVEN):
        return given_server(text).url
    folder = _folder(options)
    if running := running_in(folder):
        say(f"{TITLES[running.kind]} {running.version} already runs, process {running.pid}")
        return running.url
    program, address = ensure_program(options.kind), bind_address()
    launch = Launch(program=program, directory=folder, profile=options.profile, address=address, port=options.port, detached=True)
    server = start(launch).server
    say(f"{launch.program.title} runs in {folder}, process {server.pid}")
    return server.url


def _stop(options: argparse.Namespace) -> str:
    stopped = stop_detached(_folder(options))
    return "stopped" if stopped else "no such server was running"


def _url(options: argparse.Namespace) -> str:
    if text := os.environ.get(GIVEN):
        return text
    running = running_in(_folder(options))
    if not running:
        raise LocalSetupError(f"no such server runs: start it with `python -m local.database start --kind {options.kind} --name {options.name}`")
    return running.url


def _kind(_options: argparse.Namespace) -> str:
    return default_kind()


def _folder(options: argparse.Namespace) -> Path:
    return SERVERS / f"{options.kind}.{options.name}"


COMMANDS = {
    "install": (_install, "make sure that the server's programs are on this machine"),
    "start": (_start, "start a server that keeps its data and runs until it is stopped; prints its address"),
    "stop": (_stop, "stop it; its data stays"),
    "kind": (_kind, "print which server is taken when none is named"),
    "url": (_url, "print the address of the running server"),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.database",
        description=f"A private database server under .local/. {GIVEN}, when set, is used instead; {BIND} is what it listens on.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (action, help_text) in COMMANDS.items():
        command = commands.add_parser(name, help=help_text, description=help_text)
        command.add_argument("--kind", choices=get_args(Kind), default="mariadb", help="which server (default: %(default)s)")
        command.add_argument("--name", default="default", help="several servers of a kind have different names (default: %(default)s)")
        command.set_defaults(action=action)
        if name == "start":
            command.add_argument(
                "--profile", choices=get_args(Profile), default="durable", help="durable: a commit survives a crash; fast: for tests (default: %(default)s)"
            )
            command.add_argument("--port", type=int, help="listen here (default: any free port)")
    return parser


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        print(options.action(options))
    except LocalSetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
