"""One private server in its folder: copy of the template, start until it answers, stop."""

import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import pymysql

from local.database import guard
from local.database.ports import LOOPBACK, check_port, free_port, reached_at
from local.database.programs import Kind, Seat, ServerProgram
from local.database.settings import BY_KIND, BY_PROFILE, COMMON, DATABASE, INIT, USER, Profile
from local.database.url import DatabaseUrl
from local.machine import LOCAL, LocalSetupError, exclusive, last_lines, take_lock

SECONDS_TO_START = 60
SECONDS_TO_ANSWER = 2
PORT_TRIES = 5
TEMPORARY = "tmp"
PORT_TAKEN = ("already in use", "already allocated")

# Detached servers are meant to outlive us; Python warns of a child that is forgotten while it runs.
OUTLIVING: list["subprocess.Popen[bytes]"] = []

FAILED = """{title} {reason}. Its log ({directory}) ends with:
{log}
If the data folder is broken or was made by another version, delete {directory} (its data is lost) and {template}, and start again: both are made anew."""

UNUSABLE = """the server's folder {directory} cannot be used: {error}
Make it yours and see that its disk has room, or delete it (its data is lost), and start again"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseServer:
    """A server that answers; `directory` and `pid` are None when somebody else runs it."""

    kind: Kind
    version: str
    url: str
    directory: str | None = None
    pid: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a server is started: `detached` outlives us, `scratch` deletes the folder at the end."""

    program: ServerProgram
    directory: Path
    profile: Profile = "durable"
    address: str = LOOPBACK
    port: int | None = None
    detached: bool = False
    scratch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    server: DatabaseServer
    process: "subprocess.Popen[bytes]"


def start(launch: Launch) -> Started:
    """Start the server and return when it has answered a query."""
    try:
        launch.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for _ in range(PORT_TRIES):
            started = _try_start(launch, launch.port or free_port(launch.address))
            if started:
                return started
    except OSError as error:
        raise LocalSetupError(UNUSABLE.format(directory=launch.directory, error=error)) from error
    raise LocalSetupError(f"{launch.program.title} found no free port in {PORT_TRIES} tries: try again")


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End the server; the guard of a guarded one sees the pipe close."""
    if process.stdin:
        process.stdin.close()
    else:
        process.terminate()
    process.wait(guard.SECONDS_TO_END * 2)


def stop_detached(directory: Path) -> bool:
    """End the server that runs in the folder on its own; False when none does."""
    server = running_in(directory)
    if server is None or server.pid is None:
        return False
    os.kill(server.pid, signal.SIGTERM)
    deadline = time.monotonic() + guard.SECONDS_TO_END
    while running_in(directory):
        if time.monotonic() > deadline:
            raise LocalSetupError(f"the server with process id {server.pid} does not stop: end it with `kill -9 {server.pid}`")
        time.sleep(0.05)
    return True


def running_in(directory: Path) -> DatabaseServer | None:
    """Return the server that runs in the folder; its lock says whether it lives, so a stale note harms nothing."""
    note = directory / "server.json"
    if not note.is_file():
        return None
    lock = take_lock(directory / "lock")
    if lock:
        lock.close()
        return None
    return DatabaseServer(**json.loads(note.read_text()))


def _try_start(launch: Launch, port: int) -> Started | None:
    """Start the server on the port; None when somebody took a port of our own choice in between."""
    if launch.port:
        check_port(launch.address, port)
    url = DatabaseUrl(user=USER, password=secrets.token_hex(16), host=reached_at(launch.address), port=port, name=DATABASE)
    with _locked(launch.directory) as lock:
        _prepare_data(launch)
        _forget_container(launch)
        _write_private(launch.directory / "init.sql", INIT.format(database=DATABASE, user=USER, password=url.password))
        process = _spawn(launch, port, lock)
    server = DatabaseServer(kind=launch.program.kind, version=launch.program.version, url=str(url), directory=str(launch.directory), pid=process.pid)
    _write_private(launch.directory / "server.json", json.dumps(asdict(server)))
    with ExitStack() as cleanup:
        cleanup.callback(stop, process)
        if _answers(url, process):
            cleanup.pop_all()
            return Started(server=server, process=process)
        log = _log(launch.directory)
        if launch.port is None and any(words in log for words in PORT_TAKEN):
            return None
        reason = f"did not answer within {SECONDS_TO_START} s" if process.poll() is None else "stopped while starting"
        raise LocalSetupError(
            FAILED.format(title=launch.program.title, reason=reason, directory=launch.directory, log=last_lines(log), template=_template(launch.program))
        )


def _template(program: ServerProgram) -> Path:
    return LOCAL / program.kind / f"template-{program.version}"


@contextmanager
def _locked(directory: Path) -> Generator[IO[str]]:
    lock = take_lock(directory / "lock")
    if lock is None:
        raise LocalSetupError(f"a server already runs in {directory}: stop it or choose another folder")
    with lock:
        yield lock


def _prepare_data(launch: Launch) -> None:
    """Copy the template, made once per version: many times quicker than filling a data folder anew."""
    data, program = launch.directory / "data", launch.program
    (launch.directory / TEMPORARY).mkdir(exist_ok=True)
    if data.exists():
        return
    template = _template(program)
    with exclusive(LOCAL / program.kind / "template.lock"):
        if not template.is_dir():
            fresh = template.with_name("template.part")
            shutil.rmtree(fresh, ignore_errors=True)
            program.fill(fresh)
            fresh.rename(template)
    part = launch.directory / "data.part"
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(template, part)
    part.rename(data)


def _forget_container(launch: Launch) -> None:
    """Whoever holds the folder's lock is its only server: a container of its name was left by a client that was killed."""
    if launch.program.removal:
        guard.remove([*launch.program.removal(launch.directory)])


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)


def server_command(launch: Launch, port: int) -> list[str]:
    folder = launch.directory
    start = launch.program.command(Seat(directory=folder, address=launch.address, port=port))
    files = [
        f"--datadir={folder / 'data'}",
        # At its start MariaDB deletes what it takes for its own old work files here: in a shared folder those of another server, which crashes of it.
        f"--tmpdir={folder / TEMPORARY}",
        f"--pid-file={folder / 'server.pid'}",
        f"--log-error={folder / 'error.log'}",
        f"--init-file={folder / 'init.sql'}",
    ]
    return [*start, *files, f"--port={port}", *COMMON, *BY_KIND[launch.program.kind], *BY_PROFILE[launch.profile]]


def _spawn(launch: Launch, port: int, lock: IO[str]) -> "subprocess.Popen[bytes]":
    """Start the server, or its guard, in a session of its own: Ctrl-C reaches us, and we end it in order."""
    command = server_command(launch, port)
    # We hold the folder: the note beside the socket is of a server that was killed, and its process id may be somebody else's by now.
    for stale in ("error.log", "server.sock.lock"):
        (launch.directory / stale).unlink(missing_ok=True)
    with (launch.directory / "start.log").open("w") as log:
        if launch.detached:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, pass_fds=[lock.fileno()])
            OUTLIVING.append(process)
            return process
        remove = ["--remove", str(launch.directory)] if launch.scratch else []
        removal = ["--removal", shlex.join(launch.program.removal(launch.directory))] if launch.program.removal else []
        guarded = [sys.executable, "-I", guard.__file__, *remove, *removal, "--", *command]
        return subprocess.Popen(guarded, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True, pass_fds=[lock.fileno()])


def _answers(url: DatabaseUrl, process: "subprocess.Popen[bytes]") -> bool:
    """Wait for the first answered query; False when the server ends before it or takes too long."""
    deadline = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < deadline:
        try:
            return bool(url.execute("SELECT 1", patience=SECONDS_TO_ANSWER) == 1)
        except pymysql.MySQLError:
            time.sleep(0.02)
    return False


def _log(directory: Path) -> str:
    return "\n".join(path.read_text(errors="replace") for name in ("start.log", "error.log") if (path := directory / name).is_file())
