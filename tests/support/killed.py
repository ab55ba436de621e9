"""Engine work in a process of its own that really dies: SIGKILL at a chosen packet or at a chosen message.

`Nursery` starts one process that has everything loaded and forks a sandbox for each piece of work; run as a module, this file is that process.
"""

import base64
import json
import os
import pickle
import pkgutil
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Self

import pymysql
from pymysql.cursors import DictCursor

from local.database.url import DatabaseUrl
from tests.support.engine import FakeClock, RecordingPublisher, Workbench
from workflow_engine import dal, engine, models
from workflow_engine.dal import Deadline, Statement
from workflow_engine.engine.ports import PublishFailure
from workflow_engine.models.enums import EventKind
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.options import WorkFlowEngineOptions

_ROOT = Path(__file__).parents[2]
_PATIENCE = 60
_TIMES = ("first_sent_at", "claimed_due")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """`program` ("module:function") is called with the bench, the journal and `argument`; SIGKILL before or after the nth message, if one is given."""

    url: str
    looking_url: str
    journal: Path
    program: str
    argument: Any = None
    at: datetime
    options: dict[str, Any] = field(default_factory=dict)
    dies_before_message: int | None = None
    dies_after_message: int | None = None


class Journal:
    """What a sandbox did outside of the database, line by line, each written before the next thing happens: a kill loses none of it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, what: str, value: Any) -> None:
        with self._path.open("ab", buffering=0) as file:
            file.write(json.dumps([what, value], default=str).encode() + b"\n")

    def read(self, what: str) -> list[Any]:
        if not self._path.exists():
            return []
        lines = [json.loads(line) for line in self._path.read_text().splitlines()]
        return [value for kind, value in lines if kind == what]

    def messages(self) -> list[WorkMessage]:
        return [_message(value) for value in self.read("message")]


@dataclass
class JournalPublisher(RecordingPublisher):
    """Publishes into the journal, one message at a time, and dies where it is told to."""

    journal: Journal | None = None
    dies_before: int | None = None
    dies_after: int | None = None

    def publish(self, messages: Sequence[WorkMessage], deadline: Deadline) -> list[PublishFailure]:  # noqa: ARG002  # the port's shape
        assert self.journal is not None
        for message in messages:
            self._die(self.dies_before, len(self.messages) + 1)
            self.journal.write("message", asdict(message))
            self.messages.append(message)
            self._die(self.dies_after, len(self.messages))
        return []

    def publish_notices(self, notices: Sequence[LifeCycleNotice], deadline: Deadline) -> None:  # noqa: ARG002  # the port's shape
        assert self.journal is not None
        for notice in notices:
            self.journal.write("notice", notice.code.value)

    def _die(self, planned: int | None, number: int) -> None:
        if planned == number:
            os.kill(os.getpid(), signal.SIGKILL)


class SandboxBench(Workbench):
    """Looks into the tables past the wire, over one connection without TLS: a life is short."""

    def __init__(self, work: Work, publisher: RecordingPublisher) -> None:
        super().__init__(work.url, WorkFlowEngineOptions(**work.options), FakeClock(work.at), publisher)
        place = DatabaseUrl.parse(work.looking_url)
        login = {"host": place.host, "port": place.port, "user": place.user, "password": place.password, "database": place.name}
        self._look = pymysql.connect(**login, ssl_disabled=True, autocommit=True, cursorclass=DictCursor)

    def sql(self, text: str) -> list[dict[str, Any]]:
        with self._look.cursor() as cursor:
            cursor.execute(text)
            return list(cursor.fetchall())


class Nursery:
    """Forks sandboxes, one at a time; `kill` is to be called from elsewhere while one runs."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(_ROOT / "layers/workflow_engine/python"), str(_ROOT)])
        command = [sys.executable, "-m", "tests.support.killed"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT, env=os.environ | {"PYTHONPATH": path})
        self._pid = 0
        self._is_born = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._pipe(self._process.stdin).close()
        self._process.wait(_PATIENCE)
        self._pipe(self._process.stdout).close()

    def run(self, work: Work) -> str:
        """Return "done", "killed", or what went wrong."""
        self.begin(work)
        return self.end()

    def begin(self, work: Work) -> None:
        self._is_born.clear()
        pipe = self._pipe(self._process.stdin)
        pipe.write(base64.b64encode(pickle.dumps(work)) + b"\n")
        pipe.flush()
        self._pid = int(self._line())
        self._is_born.set()

    def end(self) -> str:
        found = self._line()
        # Its number may be another process's from now on.
        self._is_born.clear()
        return found

    def kill(self) -> None:
        """The process runs no more code of its own once this returns."""
        assert self._is_born.wait(_PATIENCE)
        os.kill(self._pid, signal.SIGKILL)

    def freeze(self) -> None:
        """Stop it where it is, as Lambda stops a sandbox between two invocations."""
        assert self._is_born.wait(_PATIENCE)
        os.kill(self._pid, signal.SIGSTOP)

    def _line(self) -> str:
        pipe = self._pipe(self._process.stdout)
        ready, _, _ = select.select([pipe], [], [], _PATIENCE)
        assert ready, "the sandbox does not end"
        return pipe.readline().decode().strip()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


def hold_lock(bench: Workbench, journal: Journal, argument: tuple[str, int]) -> None:
    """A program that locks an instance and gets no further; the server ends its connection after so many idle seconds."""
    instance_guid, idle_seconds = argument
    load = bench.dal.reading(bench.deadline())
    bench.db.send(load, [Statement(sql="SET SESSION wait_timeout = %(SECONDS)s", values={"SECONDS": idle_seconds})])
    with bench.dal.begin(bench.deadline()) as locking:
        bench.dal.first(locking, bench.dal.instance.lock_by_guid(instance_guid))
        journal.write("locked", instance_guid)
        signal.pause()


def _message(value: dict[str, Any]) -> WorkMessage:
    times = {name: value[name] and datetime.fromisoformat(value[name]) for name in _TIMES}
    return WorkMessage(**(value | times | {"kind": EventKind(value["kind"])}))


def _sandbox(work: Work) -> None:
    """What the forked process does."""
    journal = Journal(work.journal)
    publisher = JournalPublisher(journal=journal, dies_before=work.dies_before_message, dies_after=work.dies_after_message)
    bench = SandboxBench(work, publisher)
    module, name = work.program.split(":")
    program: Callable[[Workbench, Journal, Any], None] = getattr(import_module(module), name)
    program(bench, journal, work.argument)
    bench.close()


def _fork(work: Work) -> int:
    pid = os.fork()
    if pid:
        return pid
    # Nobody waits for a sandbox that hangs.
    signal.alarm(_PATIENCE)
    try:
        _sandbox(work)
    except BaseException as error:  # noqa: BLE001  # told to whoever asked for the work
        Journal(work.journal).write("error", f"{type(error).__name__}: {error}")
        os._exit(1)
    os._exit(0)


def _how_it_ended(status: int, journal: Journal) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        return "killed"
    return "done" if code == 0 else str(journal.read("error")[-1:] or code)


def _load_everything() -> None:
    """What the engine loads on first use, so that no sandbox has to do it again."""
    for package in (engine, dal, models):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(found.name)
    for program in ("tests.support.operations", "tests.support.walks"):
        import_module(program)


def main() -> None:
    _load_everything()
    for line in sys.stdin.buffer:
        work = pickle.loads(base64.b64decode(line))  # noqa: S301  # from our own parent
        pid = _fork(work)
        print(pid, flush=True)  # noqa: T201  # the answer
        _, status = os.waitpid(pid, 0)
        print(_how_it_ended(status, Journal(work.journal)).replace("\n", " "), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
