"""A built function in the Lambda runtime interface emulator that SAM brings along: no Docker, paths and variables as in Lambda."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, cast

from local.database import guard
from local.lambdas.build import Build, sam_program
from local.lambdas.target import architecture, runtime_client
from local.lambdas.template import LambdaFunction
from local.machine import LocalSetupError, last_lines

SECONDS_TO_START = 10
# Beyond the function's own time: loading it, and ending it when the time is up.
SECONDS_AROUND_A_CALL = 20
PORT_TRIES = 5
_INVOCATIONS = "/2015-03-31/functions/function/invocations"
_OK = 200
REGION = "eu-central-1"
# The emulator's own lines; its reports of time and memory are made up.
_CHATTER = re.compile(r"(?:\d+ \w+ \d+ [\d:,]+ \[\w+\] \(\w+\) |START RequestId: |END RequestId: |REPORT RequestId: )")
_RAISED = {"errorType", "errorMessage"}
_RAISED_MORE = _RAISED | {"stackTrace", "requestId"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A function of a build; `environment` is put over the template's variables, `on_line` gets the function's log."""

    function: LambdaFunction
    build: Build
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    on_line: Callable[[str], object] = lambda _line: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`answer` is what the function returned; `failure` says in one line why it did not."""

    answer: Any = None
    failure: str | None = None
    error_type: str | None = None


class Emulator:
    """One sandbox: calls come one at a time, for the emulator breaks when two come at once."""

    def __init__(self, port: int, timeout_seconds: int) -> None:
        self._port, self._timeout = port, timeout_seconds
        self._one = threading.Lock()

    def invoke(self, event: bytes) -> Outcome:
        with self._one:
            connection = HTTPConnection("127.0.0.1", self._port, timeout=self._timeout + SECONDS_AROUND_A_CALL)
            try:
                connection.request("POST", _INVOCATIONS, body=event)
                response = connection.getresponse()
                return outcome_of(response.status, response.read().decode("utf-8", "replace"))
            except (OSError, HTTPException) as error:
                return Outcome(failure=f"the emulator did not answer: {type(error).__name__} {error}", error_type="Emulator")
            finally:
                connection.close()


def outcome_of(status: int, text: str) -> Outcome:
    """The emulator says 200 also when the function raised or its time was up; only the body tells."""
    try:
        answer: Any = json.loads(text)
    except ValueError:
        return Outcome(failure=text.strip() or "the function returned nothing", error_type="Timeout" if "timed out" in text else "Unreadable")
    fields = cast("dict[str, Any]", answer) if isinstance(answer, dict) else dict[str, Any]()
    if _RAISED <= fields.keys() <= _RAISED_MORE:
        return Outcome(failure=f"{fields['errorType']}: {fields['errorMessage']}".splitlines()[0], error_type=str(fields["errorType"]))
    return Outcome(answer=answer) if status == _OK else Outcome(failure=f"the emulator answered {status}: {text}", error_type="Emulator")


@contextmanager
def running_emulator(launch: Launch) -> Generator[Emulator]:
    """Run the function's sandbox for the time of the block; it ends with this process, however that ends."""
    program, client, said = emulator_program(), runtime_client(launch.build.target), ""
    for _ in range(PORT_TRIES):
        ports = _free_ports()
        process, log = _spawn(launch, _command(program, launch, ports), environment_of(launch, client))
        try:
            if _listens(process, ports[0]):
                yield Emulator(ports[0], launch.function.timeout_seconds)
                return
        finally:
            said = _end(process, log)
        if "address already in use" not in said:
            break
    raise LocalSetupError(f"the Lambda runtime interface emulator did not start:\n{last_lines(said)}")


def _free_ports() -> tuple[int, int]:
    """Two at once, so that they differ."""
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1]), int(other.getsockname()[1])


def emulator_program() -> str:
    """Find the binary inside SAM CLI's environment."""
    found = list(Path(sam_program()).resolve().parents[1].glob(f"lib/python3*/site-packages/samcli/local/rapid/aws-lambda-rie-{architecture()}"))
    if sys.platform != "linux" or not found:
        raise LocalSetupError("the Lambda runtime interface emulator runs on Linux only: use `sam local invoke` with Docker instead (docs/sam_local.md)")
    return str(found[0])


def _command(program: str, launch: Launch, ports: tuple[int, int]) -> list[str]:
    # -S: what happens to be installed for this interpreter must not stand in for what a layer forgot.
    runtime = [launch.build.target.python, "-S", "-m", "awslambdaric", launch.function.handler]
    return [program, "--runtime-interface-emulator-address", f"127.0.0.1:{ports[0]}", "--runtime-api-address", f"127.0.0.1:{ports[1]}", *runtime]


def environment_of(launch: Launch, client: Path) -> dict[str, str]:
    """Nothing of this shell: what the template declares, what the stack adds, and what Lambda itself sets."""
    function, task_root = launch.function, launch.build.folder / launch.function.logical_id
    # In /opt a later layer covers an earlier one; /var/runtime comes last.
    path = [task_root, *(launch.build.folder / layer / "python" for layer in reversed(function.layers)), client]
    region = launch.environment.get("AWS_REGION", REGION)
    reserved = {
        # boto3 reads the one, people the other.
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{launch.build.target.version}",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
        "AWS_LAMBDA_FUNCTION_NAME": function.logical_id,
        "AWS_LAMBDA_FUNCTION_TIMEOUT": str(function.timeout_seconds),
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "HOME": "/nonexistent",
        "LAMBDA_RUNTIME_DIR": str(client),
        "LAMBDA_TASK_ROOT": str(task_root),
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": ":".join(map(str, path)),
        # /var/task and /opt are read-only in Lambda.
        "PYTHONDONTWRITEBYTECODE": "1",
        "TZ": ":UTC",
        "_HANDLER": function.handler,
    }
    return {**function.environment, **launch.environment, **reserved}


class _Log:
    """Reads what emulator and function print, so that neither ever waits for us."""

    def __init__(self, pipe: int, on_line: Callable[[str], object]) -> None:
        self._pipe, self._on_line = pipe, on_line
        self._lines: list[str] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with open(self._pipe, encoding="utf-8", errors="replace") as printed:  # noqa: PTH123  # a descriptor
            for line in printed:
                self._lines.append(line.rstrip("\n"))
                if not _CHATTER.match(line):
                    self._on_line(line.rstrip("\n"))

    def close(self) -> str:
        """Wait for the last line and return all of them."""
        self._thread.join()
        return "\n".join(self._lines)


def _spawn(launch: Launch, command: list[str], environment: dict[str, str]) -> tuple["subprocess.Popen[bytes]", _Log]:
    """In a session of its own: Ctrl-C reaches us, and we end it. The guard ends it also when we are killed."""
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", guard.__file__, "--", *command],
            cwd=launch.build.folder / launch.function.logical_id,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
            # The guard holds the reading end too: without it, an emulator that logs after our death dies of it, and leaves its function behind.
            pass_fds=[reading],
        )
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return process, _Log(reading, launch.on_line)


def _end(process: "subprocess.Popen[bytes]", log: _Log) -> str:
    """End the emulator, which ends its function at once; returns what was printed."""
    if process.stdin:
        process.stdin.close()
    process.wait(guard.SECONDS_TO_END * 2)
    return log.close()


def _listens(process: "subprocess.Popen[bytes]", port: int) -> bool:
    deadline = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.01)
        else:
            return True
    return False
