"""`make invoke`: an event through a built function against a running stack, and what is said when something is wrong."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.request import urlopen

import pytest

from local.database.url import DatabaseUrl
from local.lambdas import invoke
from local.lambdas.build import Build
from local.lambdas.target import deployed_target, host_target, local_target
from local.lambdas.template import lambda_template
from local.machine import ROOT, LocalSetupError

SUBMIT = "events/trigger/submit.json"
SECONDS_TO_END = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A stack in a process of its own."""

    port: str
    database_url: str

    def free_the_lease(self) -> None:
        """A monitor that was killed keeps its lease for a while, and the next one would wait."""
        connection = DatabaseUrl.parse(self.database_url).connect()
        with closing(connection), connection.cursor() as cursor:
            cursor.execute("UPDATE monitor_lease SET owner = NULL, expires_at = '2000-01-01'")
            connection.commit()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    # Its own monitor has time: those of the tests shall have the lease.
    environment = environment_with(WFE_PORT="0", WFE_MONITOR_INTERVAL_SECONDS="50")
    with (tmp_path_factory.mktemp("served") / "progress").open("w+") as progress:
        command = [sys.executable, "-m", "local.serve"]
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=progress, text=True) as process:
            assert process.stdout
            ready = process.stdout.readline().split()
            try:
                assert ready[:1] == ["ready"], progress.seek(0) or progress.read()
                with urlopen(f"{ready[1]}/_local") as about:  # noqa: S310  # the stack's own address
                    yield Served(port=ready[1].rpartition(":")[2], database_url=json.load(about)["database"])
            finally:
                process.terminate()


def environment_with(**variables: str) -> dict[str, str]:
    """What a command of ours finds on a machine where nobody has set anything."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WFE_", "AWS_", "POWERTOOLS_"))}
    return kept | {"PYTHONPATH": f"{ROOT / 'layers/workflow_engine/python'}:{ROOT}"} | variables


@pytest.fixture
def stack(served: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setenv("WFE_PORT", served.port)
    return served


@pytest.fixture
def free_port(monkeypatch: pytest.MonkeyPatch) -> Generator[HTTPServer]:
    """A port that nobody else takes meanwhile; nothing is answered until a test serves it."""
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    monkeypatch.setenv("WFE_PORT", str(server.server_port))
    yield server
    server.server_close()


@pytest.mark.usefixtures("stack")
def test_the_answer_goes_to_standard_output_and_the_log_to_standard_error(local_build, capsys):
    assert invoke.main(["query", "events/query/health.json"], local_build) == 0
    said = capsys.readouterr()
    assert json.loads(json.loads(said.out)["body"])["database"] is True
    assert f"the stack on port {os.environ['WFE_PORT']} is used" in said.err
    assert [json.loads(line)["route"] for line in said.err.splitlines() if line.startswith("{")] == ["GET /v1/health"]


@pytest.mark.usefixtures("stack")
def test_a_function_may_be_named_by_its_logical_id_and_a_refusal_is_an_answer(local_build, capsys):
    assert invoke.main(["TriggerFunction", "events/trigger/unknown_definition.json"], local_build) == 0
    assert json.loads(capsys.readouterr().out)["statusCode"] == 404


@pytest.mark.usefixtures("stack")
def test_a_function_that_raised_ends_with_a_failure(local_build, capsys):
    assert invoke.main(["monitor", "events/monitor/malformed.json"], local_build) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1].startswith("error: MonitorFunction failed: ValidationError")


def test_an_option_of_this_shell_counts(stack, local_build, capsys, monkeypatch):
    stack.free_the_lease()
    monkeypatch.setenv("WFE_MONITOR_INTERVAL_SECONDS", "50")
    assert invoke.main(["monitor", "events/monitor/every_minute.json"], local_build) == 0
    assert json.loads(capsys.readouterr().out)["passes"] == 1


def test_without_a_stack_one_is_started_that_knows_what_the_events_speak_of(free_port, local_build):
    port = free_port.server_port
    free_port.server_close()
    process = started(local_build, "trigger", SUBMIT)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert json.loads(json.loads(out)["body"])["applied"] is True
    assert f"no stack runs on port {port}" in err


def test_a_port_with_something_else_on_it_is_told(free_port, local_build, capsys):
    thread = Thread(target=free_port.handle_request)
    thread.start()
    assert invoke.main(["trigger", SUBMIT], local_build) == 2
    thread.join()
    assert f"what listens on port {free_port.server_port} is no local stack" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["triger", SUBMIT], "error: there is no function 'triger': take FN= one of ack, admin, heartbeat, import, migrate, monitor, query, runtime, trigger"),
        (["", ""], "error: no function was named: take FN= one of ack, admin"),
        (
            ["monitor", ""],
            "error: no event was named: take one of your own, or\n    EVENT=events/monitor/every_minute.json\n    EVENT=events/monitor/malformed.json",
        ),
        (["monitor", "events/none.json"], "error: there is no file events/none.json: take one of your own, or\n    EVENT=events/monitor/every_minute.json"),
        (["monitor", "README.md"], "error: README.md is not JSON: Expecting value: line 1 column 1"),
    ],
)
def test_what_cannot_be_called_is_told_with_what_can(arguments, said, capsys):
    assert invoke.main(arguments) == 2
    assert said in capsys.readouterr().err


def test_an_event_that_lambda_would_not_take_is_told(tmp_path, capsys):
    large = tmp_path / "large.json"
    large.write_text(json.dumps({"body": "x" * invoke.MAX_EVENT_BYTES}))
    assert invoke.main(["trigger", str(large)]) == 2
    assert "and Lambda takes 6,291,456" in capsys.readouterr().err


def test_it_is_said_which_python_runs_the_function(capsys):
    chosen = invoke.choose_target()
    assert chosen == local_target()
    word = "runs the build that is deployed" if chosen == deployed_target() else f"Python {host_target().version} runs the same build made for it"
    assert word in capsys.readouterr().err


def test_on_a_machine_without_the_runtimes_python_the_hosts_is_taken(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", path_without(f"python{deployed_target().version}", tmp_path))
    assert invoke.choose_target() == host_target()
    assert "no Python 3.13 for x86_64 on this machine" in capsys.readouterr().err


def path_without(program: str, scratch: Path) -> str:
    """A PATH with every program of this machine but one."""
    for folder in filter(None, os.environ["PATH"].split(os.pathsep)):
        for file in Path(folder).glob("*"):
            link = scratch / file.name
            if file.name != program and not link.is_symlink():
                link.symlink_to(file)
    return str(scratch)


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)])
def test_however_it_is_ended_nothing_of_it_stays(stack, local_build, how, code):
    stack.free_the_lease()
    process = started(local_build, "monitor", "events/monitor/every_minute.json")
    assert process.stderr
    assert next((line for line in process.stderr if '"monitor pass"' in line), None), "the function made no pass"
    children = [os.pidfd_open(pid) for pid in descendants(process.pid)]
    process.send_signal(how)
    process.communicate()
    assert process.returncode == code
    assert len(children) == 3, "guard, emulator, function"
    for child in children:
        assert select.select([child], [], [], SECONDS_TO_END)[0], "a child outlives it"
        os.close(child)


def started(build: Build, *arguments: str) -> "subprocess.Popen[str]":
    """The command in a process of its own, with a build that is there already."""
    code = """
import sys
from pathlib import Path
from local.lambdas.build import Build
from local.lambdas.invoke import end_on_signals, main
from local.lambdas.target import local_target
end_on_signals()
sys.exit(main(sys.argv[2:], Build(target=local_target(), folder=Path(sys.argv[1]))))
"""
    environment = environment_with(WFE_PORT=os.environ["WFE_PORT"])
    command = [sys.executable, "-c", code, str(build.folder), *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def descendants(pid: int) -> list[int]:
    found = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    return [*found, *(grandchild for child in found for grandchild in descendants(child))]


def test_every_variable_of_a_function_has_a_value_that_the_template_gives():
    variables = lambda_template().function("trigger").environment
    assert (variables["WFE_MAX_RETRY_COUNT"], variables["WFE_DB_AUTH"], variables["WFE_DB_HOST"], variables["WFE_WORK_TOPIC_ARN"]) == ("12", "iam", "", "")
    assert "WFE_DB_RUNTIME_USER" in lambda_template().function("migrate").environment
    assert {function.name: function.timeout_seconds for function in lambda_template().functions if function.timeout_seconds != 28} == {
        "migrate": 280,
        "monitor": 58,
    }


def test_an_unknown_function_is_an_error():
    with pytest.raises(LocalSetupError, match="there is no function 'x'"):
        lambda_template().function("x")
