"""Without programs and packages the server of an official image is run: same data, same settings, nothing left behind."""

import fcntl
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from local import database, machine
from local.database import instance as database_instance
from local.database import main, running_server
from local.database import ways as database_ways
from local.database.docker import IMAGES, Docker, container_name, docker_program
from local.database.programs import Seat
from local.database.url import DatabaseUrl
from local.database.ways import ensure_program
from local.machine import ROOT, LocalSetupError

PARENT = """
import dataclasses, json, pathlib, sys
from local import machine
from local.database import instance as database_instance
from local.database import ways as database_ways
machine.SERVER_FOLDERS, database_ways.MYSQL_ROOT, database_instance.LOCAL = (), pathlib.Path(sys.argv[2], "none"), pathlib.Path(sys.argv[2])
database_ways.LOCAL = database_instance.LOCAL
from local.database import running_server
with running_server(sys.argv[1], "fast") as server:
    print(json.dumps(dataclasses.asdict(server)), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def kind(monkeypatch):
    monkeypatch.delenv("WFE_DATABASE_URL", raising=False)
    monkeypatch.delenv("WFE_BIND", raising=False)
    return os.environ.get("DB") or "mariadb"


@pytest.fixture
def state(kind, monkeypatch, tmp_path):
    """A machine that has docker and nothing else; the stand-in runs the programs that this machine has, unless it has docker only."""
    program, docker = ensure_program(kind), machine.find_command("docker")
    folder, programs = tmp_path / "docker", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    if program.removal:
        (programs / "docker").symlink_to(docker)
    else:
        server, filler = program.command.args[0], program.fill.args[1]
        known = {"mariadbd": server, "mariadb-install-db": filler} if kind == "mariadb" else {"mysqld": server}
        (folder / "programs.json").write_text(json.dumps({"programs": known, "path": os.environ["PATH"]}))
        stand_in(programs / "docker", folder)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(machine, "SERVER_FOLDERS", ())
    monkeypatch.setattr(database_ways, "MYSQL_ROOT", tmp_path / "none")
    for module in (database_instance, database_ways):
        monkeypatch.setattr(module, "LOCAL", tmp_path / "local")
    return folder


def stand_in(path: Path, folder: Path) -> None:
    path.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(Path(__file__).with_name("stand_in_docker.py")), str(folder)])} "$@"\n')
    path.chmod(0o755)


def containers() -> list[str]:
    docker = machine.find_command("docker")
    asked = subprocess.run([docker, "ps", "--filter", "name=wfe-", "--format", "{{.Names}}"], capture_output=True, text=True, check=True)
    return asked.stdout.split()


@pytest.mark.usefixtures("state")
def test_the_server_of_the_official_image_runs_for_the_block_and_nothing_of_it_stays(kind):
    with running_server(kind, "fast") as server:
        assert DatabaseUrl.parse(server.url).execute("SELECT @@innodb_flush_log_at_trx_commit") == 0
        assert container_name(Path(server.directory)) in containers()
    assert container_name(Path(server.directory)) not in containers()
    assert not Path(server.directory).exists()


@pytest.mark.usefixtures("state")
def test_its_data_stays_in_a_given_folder(kind, tmp_path):
    with running_server(kind, directory=tmp_path / "kept") as server:
        DatabaseUrl.parse(server.url).execute("CREATE TABLE kept AS SELECT 'still here' AS word")
    assert container_name(tmp_path / "kept") not in containers()
    with running_server(kind, directory=tmp_path / "kept") as server:
        assert DatabaseUrl.parse(server.url).execute("SELECT word FROM kept") == "still here"


@pytest.mark.usefixtures("state")
def test_a_killed_parent_leaves_neither_container_nor_folder_behind(kind, tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, kind, tmp_path], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with parent:
        server = json.loads(parent.stdout.readline())
        with (Path(server["directory"]) / "lock").open("a") as lock:
            parent.kill()
            released = threading.Thread(target=fcntl.flock, args=(lock, fcntl.LOCK_EX), daemon=True)
            released.start()
            released.join(20)
            assert not released.is_alive()
    assert container_name(Path(server["directory"])) not in containers()
    assert not Path(server["directory"]).exists()


@pytest.mark.usefixtures("state")
def test_a_container_whose_client_was_killed_makes_room_for_the_next(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(database, "SERVERS", tmp_path)
    folder = tmp_path / f"{kind}.default"
    try:
        assert main(["start", "--kind", kind, "--profile", "fast"]) == 0
        left = database_instance.running_in(folder)
        os.kill(left.pid, signal.SIGKILL)
        database_instance.OUTLIVING[-1].wait()
        assert container_name(folder) in containers()
        assert database_instance.running_in(folder) is None
        assert main(["start", "--kind", kind, "--profile", "fast"]) == 0
        assert database_instance.running_in(folder).url != left.url
        assert container_name(folder) in containers()
    finally:
        assert main(["stop", "--kind", kind]) == 0
    assert container_name(folder) not in containers()


@pytest.fixture
def stood_in(monkeypatch, tmp_path):
    """A machine with the stand-in alone; the server in its image says its version and no more."""
    (tmp_path / "docker").mkdir()
    server = ["/bin/sh", "-c", "echo mysqld Ver 10.11.9-MariaDB for Linux"]
    (tmp_path / "docker" / "programs.json").write_text(json.dumps({"programs": {"mariadbd": server}, "path": ""}))
    (tmp_path / "bin").mkdir()
    stand_in(tmp_path / "bin" / "docker", tmp_path / "docker")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(machine, "SERVER_FOLDERS", ())
    return tmp_path / "docker"


@pytest.mark.usefixtures("stood_in")
def test_an_image_that_is_missing_is_pulled_once_with_its_progress_shown(capfd):
    assert docker_program("mariadb").title == "MariaDB 10.11.9"
    assert [line for line in capfd.readouterr().err.splitlines() if "ull" in line] == [
        "· Docker: pulling mariadb:10.11, once (100 to 250 MB)",
        "mariadb:10.11: Pulling from library, 3 layers of 8",
    ]
    assert docker_program("mariadb").title == "MariaDB 10.11.9"
    assert "ulling" not in capfd.readouterr().err


def test_an_image_that_cannot_be_pulled_is_named_with_dockers_reason(stood_in):
    (stood_in / "offline").touch()
    with pytest.raises(LocalSetupError, match=r"(?s)image mariadb:10\.11 cannot be pulled:.*no such host.*try `docker pull mariadb:10\.11` by hand"):
        docker_program("mariadb")


def test_a_daemon_that_does_not_answer_is_to_be_started(stood_in):
    (stood_in / "silent").touch()
    with pytest.raises(LocalSetupError, match=r"(?s)its daemon does not answer:.*Cannot connect.*start it \(Docker Desktop.*until `docker info` works"):
        docker_program("mariadb")


def test_a_daemon_that_hangs_is_given_up(stood_in, monkeypatch):
    (stood_in.parent / "bin" / "docker").write_text("#!/bin/sh\nexec /bin/cat /dev/zero > /dev/null\n")
    monkeypatch.setattr("local.database.docker.SECONDS_TO_ANSWER", 0.2)
    with pytest.raises(LocalSetupError, match=r"does not answer:\nno answer within 0\.2 s"):
        docker_program("mariadb")


def test_a_machine_without_docker_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine, "SERVER_FOLDERS", ())
    with pytest.raises(LocalSetupError, match="there is no docker command"):
        docker_program("mariadb")


def test_the_files_of_a_container_are_ours_also_where_the_daemon_runs_without_root(stood_in, tmp_path):
    (stood_in / "rootless").touch()
    seat = Seat(directory=tmp_path, address="127.0.0.1", port=3306)
    command = docker_program("mariadb").command(seat)
    assert command[command.index("--user") + 1] == "0:0"
    assert "--user=root" in command
    (stood_in / "rootless").unlink()
    command = docker_program("mariadb").command(seat)
    assert command[command.index("--user") + 1] == f"{os.getuid()}:{os.getgid()}"


def test_the_command_line_shares_the_folder_lets_in_one_address_and_can_be_removed_by_name(tmp_path):
    docker = Docker(program="docker", image=IMAGES["mysql"], user="501:20")
    name = container_name(tmp_path)
    assert docker.serve("mysqld", Seat(directory=tmp_path, address="172.17.0.1", port=3307)) == (
        *("docker", "run", "--rm", "--pull=never", "--user", "501:20", "--mount", f"type=bind,source={tmp_path},target={tmp_path}", "--workdir", str(tmp_path)),
        *("--name", name, "--publish", "172.17.0.1:3307:3307", "--tmpfs", "/run/server", "--entrypoint", "mysqld", "mysql:8.4"),
        *("--no-defaults", "--socket=/run/server/server.sock", "--bind-address=0.0.0.0"),
    )
    assert docker.remove(tmp_path) == ("docker", "rm", "--force", "--volumes", name)
    assert container_name(tmp_path / "other") != name
