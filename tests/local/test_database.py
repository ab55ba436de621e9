"""Private database servers: they start, keep data, keep apart, end with their parent, and say what to do when they cannot."""

import fcntl
import json
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pymysql
import pytest

from local import database, machine
from local.database import instance as database_instance
from local.database import main, running_server
from local.database import ways as database_ways
from local.database.instance import Launch, server_command
from local.database.ports import EVERYWHERE, bind_address, free_port, reached_at
from local.database.programs import TITLES
from local.database.url import DatabaseUrl
from local.database.ways import ensure_program
from local.machine import ROOT, LocalSetupError

PARENT = """
import dataclasses, json, sys
from local.database import running_server
with running_server(sys.argv[1], "fast") as server:
    print(json.dumps(dataclasses.asdict(server)), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def kind(monkeypatch):
    """The kind of server this run is about; the tests start their own, whatever server the run was given."""
    monkeypatch.delenv("WFE_DATABASE_URL", raising=False)
    monkeypatch.delenv("WFE_BIND", raising=False)
    return os.environ.get("DB") or "mariadb"


def answers(url: str) -> bool:
    try:
        return DatabaseUrl.parse(url).execute("SELECT 1") == 1
    except pymysql.MySQLError:
        return False


def test_a_server_answers_inside_the_block_and_is_gone_with_its_folder_after_it(kind):
    with running_server(kind, "fast") as server:
        assert answers(server.url)
        assert server.kind == kind
    assert not answers(server.url)
    assert not Path(server.directory).exists()


def test_a_failure_inside_the_block_ends_the_server_too(kind):
    with pytest.raises(ZeroDivisionError), running_server(kind, "fast") as server:
        raise ZeroDivisionError
    assert not answers(server.url)
    assert not Path(server.directory).exists()


def test_a_durable_server_keeps_its_data_over_a_restart(kind, tmp_path):
    folder = tmp_path / "server"
    with running_server(kind, directory=folder) as server:
        url = DatabaseUrl.parse(server.url)
        assert url.execute("SELECT @@innodb_flush_log_at_trx_commit") == 1
        url.execute("CREATE TABLE kept AS SELECT 'still here' AS word")
    with running_server(kind, directory=folder) as server:
        assert DatabaseUrl.parse(server.url).execute("SELECT word FROM kept") == "still here"


def test_a_folder_with_a_very_long_name_holds_a_server(kind, tmp_path):
    folder = tmp_path / ("a-long-name-" * 8) / ("and-a-longer-one-" * 6)
    with running_server(kind, "fast", directory=folder) as server:
        assert answers(server.url)


def test_a_data_folder_is_filled_where_the_path_has_spaces(kind, tmp_path):
    data = tmp_path / "a folder" / "template"
    data.parent.mkdir()
    ensure_program(kind).fill(data)
    assert (data / "ibdata1").is_file()


def test_two_servers_run_side_by_side_with_their_own_data(kind):
    with running_server(kind, "fast") as one, running_server(kind, "fast") as other:
        DatabaseUrl.parse(one.url).execute("CREATE TABLE mine (number INT)")
        assert DatabaseUrl.parse(one.url).port != DatabaseUrl.parse(other.url).port
        assert DatabaseUrl.parse(other.url).execute("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'mine'") == 0


def test_the_settings_are_those_of_the_deployed_database(kind):
    wanted = {"wait_timeout": 60, "innodb_lock_wait_timeout": 5, "max_allowed_packet": 64 * 1024 * 1024, "time_zone": "+00:00", "log_bin": 0}
    with running_server(kind, "fast") as server:
        url = DatabaseUrl.parse(server.url)
        found = {name: url.execute(f"SELECT @@GLOBAL.{name}") for name in wanted}
        isolation = url.execute(
            "SELECT variable_value FROM information_schema.global_variables WHERE variable_name = 'TX_ISOLATION'"
            if kind == "mariadb"
            else "SELECT @@transaction_isolation"
        )
        assert found == wanted
        assert isolation == "READ-COMMITTED"
        assert url.execute("SELECT @@character_set_database") == "utf8mb4"


def test_the_user_of_the_address_may_make_users_and_grant_them_rights(kind):
    with running_server(kind, "fast") as server:
        url = DatabaseUrl.parse(server.url)
        url.execute("CREATE USER 'runtime'@'%' IDENTIFIED BY 'secret of a test'")
        url.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON wfe.* TO 'runtime'@'%'")
        runtime = DatabaseUrl(user="runtime", password="secret of a test", host=url.host, port=url.port, name=url.name)
        assert runtime.execute("SELECT CURRENT_USER()") == "runtime@%"


@pytest.mark.parametrize("signal_name", ["kill", "terminate"])
def test_a_killed_parent_leaves_neither_server_nor_folder_behind(kind, signal_name):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, kind], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with parent:
        server = json.loads(parent.stdout.readline())
        with (Path(server["directory"]) / "lock").open("a") as lock:
            getattr(parent, signal_name)()
            released = threading.Thread(target=fcntl.flock, args=(lock, fcntl.LOCK_EX), daemon=True)
            released.start()
            released.join(20)
            assert not released.is_alive()
    assert not answers(server["url"])
    assert not Path(server["directory"]).exists()


def test_a_second_server_in_the_same_folder_is_refused_at_once(kind, tmp_path):
    with (
        running_server(kind, "fast", directory=tmp_path),
        pytest.raises(LocalSetupError, match="already runs in"),
        running_server(kind, "fast", directory=tmp_path),
    ):
        pass


def test_a_port_in_use_is_named(kind, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LocalSetupError, match=f"port {port} is in use: choose another"), running_server(kind, "fast", directory=tmp_path, port=port):
            pass


def test_a_port_lost_in_between_is_replaced_by_another(kind, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = iter([taken.getsockname()[1], free_port()])
        monkeypatch.setattr(database_instance, "free_port", lambda _address: next(ports))
        with running_server(kind, "fast") as server:
            assert answers(server.url)


def test_a_server_listens_where_it_is_told_to(kind, monkeypatch):
    monkeypatch.setenv("WFE_BIND", EVERYWHERE)
    with running_server(kind, "fast") as server:
        url = DatabaseUrl.parse(server.url)
        assert (url.host, url.execute("SELECT @@bind_address")) == ("127.0.0.1", EVERYWHERE)


def test_without_a_word_a_server_listens_on_the_loopback_alone(kind, monkeypatch, tmp_path):
    monkeypatch.setenv("WFE_BIND", "")
    launch = Launch(program=ensure_program(kind), directory=tmp_path, address=bind_address())
    said = [word for word in server_command(launch, 3307) if word.startswith("--bind-address=") or word.endswith(":3307:3307")]
    assert said in (["--bind-address=127.0.0.1"], ["127.0.0.1:3307:3307", f"--bind-address={EVERYWHERE}"])


def test_an_address_names_the_place_that_both_sides_reach():
    assert (reached_at("172.17.0.1"), reached_at(EVERYWHERE), reached_at("127.0.0.1")) == ("172.17.0.1", "127.0.0.1", "127.0.0.1")


@pytest.mark.parametrize("port", [None, 13306])
def test_an_address_of_another_machine_is_refused_by_name(kind, monkeypatch, tmp_path, port):
    monkeypatch.setenv("WFE_BIND", "203.0.113.7")
    with (
        pytest.raises(LocalSetupError, match=r"nothing can listen on 203\.0\.113\.7, which WFE_BIND names"),
        running_server(kind, directory=tmp_path, port=port),
    ):
        pass


def test_a_folder_that_is_none_says_what_to_do(kind, tmp_path):
    (tmp_path / "data").write_text("a file")
    (tmp_path / "file").write_text("another")
    with pytest.raises(LocalSetupError, match=r"stopped while starting"), running_server(kind, "fast", directory=tmp_path):
        pass
    with pytest.raises(LocalSetupError, match=r"(?s)cannot be used: .*or delete it"), running_server(kind, "fast", directory=tmp_path / "file"):
        pass


def test_a_broken_data_folder_shows_the_log_and_what_to_delete(kind, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "ibdata1").write_bytes(b"not a table space")
    with (
        pytest.raises(LocalSetupError, match=r"(?s)stopped while starting.*\[ERROR\].*delete .*its data is lost.* and .*template-.*, and start again"),
        running_server(kind, "fast", directory=tmp_path),
    ):
        pass


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine with nothing but what the test puts into the folder."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine, "SERVER_FOLDERS", ())
    monkeypatch.setattr(database_ways, "MYSQL_ROOT", tmp_path / "mysql")
    monkeypatch.setattr(database_ways, "LOCAL", tmp_path)
    return tmp_path


def put(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.usefixtures("bare")
def test_a_missing_program_that_cannot_be_brought_here_says_why_and_what_to_do(kind):
    ways = r"this machine: there is no .*packages: .*Homebrew: there is no brew command.*Docker: there is no docker command"
    actions = r"apt-get install.*install Docker.*WFE_DATABASE_URL=mysql://"
    with pytest.raises(LocalSetupError, match=f"(?s)no {TITLES[kind]} that works is on this machine.*{ways}.*{actions}"), running_server(kind):
        pass


def test_a_program_that_is_too_old_is_refused(kind, bare):
    put(bare / "mysqld", f"echo mysqld Ver 5.5.1{'-MariaDB' if kind == 'mariadb' else ''} for Linux")
    put(bare / "mariadb-install-db", "true")
    with pytest.raises(LocalSetupError, match=r"5\.5\.1 is too old, \d+\.\d is the oldest that works"), running_server(kind):
        pass


@pytest.mark.parametrize(
    ("programs", "taken"),
    [
        ({}, "mariadb"),
        ({"mysqld": "8.0.36"}, "mysql"),
        ({"mysqld": "8.0.36", "mariadbd": "10.11.1-MariaDB"}, "mariadb"),
        ({"mysqld": "10.11.1-MariaDB"}, "mariadb"),
    ],
)
def test_where_nobody_chose_the_server_that_the_machine_has_is_taken(bare, programs, taken, capsys):
    for name, version in programs.items():
        put(bare / name, f"echo {name} Ver {version} for Linux")
    assert main(["kind"]) == 0
    assert capsys.readouterr().out.strip() == taken


def test_a_server_without_the_program_that_fills_its_folder_is_said_to_be_incomplete(bare):
    put(bare / "mariadbd", "echo mariadbd Ver 10.11.1-MariaDB for Linux")
    with pytest.raises(LocalSetupError, match=r"mariadbd is there, but mariadb-install-db is not"):
        ensure_program("mariadb")


@pytest.mark.parametrize("script", ["echo no library >&2; exit 127", ""])
def test_a_program_that_does_not_run_is_left_aside_with_its_reason(bare, script, capsys):
    put(bare / "mysqld", script)
    if not script:
        (bare / "mysqld").write_bytes(b"\x7fELF, broken")
    with pytest.raises(LocalSetupError, match="there is no mysqld"):
        ensure_program("mysql")
    assert re.search(r"mysqld is left aside: .*(exit code 127|cannot be run)", capsys.readouterr().err)


def test_a_server_of_the_other_kind_that_comes_first_on_the_path_is_passed_over(bare, monkeypatch):
    for folder, version in {"first": "11.4.2-MariaDB", "second": "8.4.3"}.items():
        (bare / folder).mkdir()
        put(bare / folder / "mysqld", f"echo mysqld Ver {version} for Linux")
    put(bare / "first" / "mariadb-install-db", "true")
    monkeypatch.setenv("PATH", f"{bare / 'first'}{os.pathsep}{bare / 'second'}")
    assert (ensure_program("mariadb").title, ensure_program("mysql").title) == ("MariaDB 11.4.2", "MySQL 8.4.3")


@pytest.mark.parametrize(("formula", "version", "title"), [("mariadb", "11.8.2-MariaDB", "MariaDB 11.8.2"), ("mysql", "9.7.1", "MySQL 9.7.1")])
def test_homebrew_brings_the_programs_without_a_service(bare, capfd, formula, version, title):
    (bare / "poured").mkdir()
    put(bare / "poured" / "mysqld", f"echo mysqld Ver {version} for macos")
    put(bare / "poured" / "mariadb-install-db", "true")
    put(bare / "brew", f'echo "==> Pouring $*"\n/bin/cp {bare}/poured/* {bare}')
    assert ensure_program(formula).title == title
    assert f"==> Pouring install --skip-post-install {formula}\n" in capfd.readouterr().err


def test_what_homebrew_complains_about_is_told(bare):
    put(bare / "brew", "echo Error: no bottle available >&2; exit 1")
    with pytest.raises(LocalSetupError, match=r"(?s)Homebrew: .*exit code 1:.*no bottle available.*Docker: there is no docker"):
        ensure_program("mariadb")


def test_a_given_server_is_used_as_it_is(database_server, monkeypatch):
    monkeypatch.setenv("WFE_DATABASE_URL", database_server.url)
    with running_server() as server:
        assert (server.url, server.kind, server.directory, server.pid) == (database_server.url, database_server.kind, None, None)
    assert answers(database_server.url)


def test_a_given_server_that_is_silent_is_named_without_its_password(monkeypatch):
    monkeypatch.setenv("WFE_DATABASE_URL", f"mysql://me:hush@127.0.0.1:{free_port()}/wfe")
    with pytest.raises(LocalSetupError, match=r"WFE_DATABASE_URL names \(127\.0\.0\.1:\d+\) cannot be used") as error, running_server():
        pass
    assert "hush" not in str(error.value)


def test_the_command_line_starts_finds_and_stops_a_server_that_outlives_it(kind, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(database, "SERVERS", tmp_path)
    assert main(["url", "--kind", kind]) == 1
    assert main(["start", "--kind", kind, "--profile", "fast"]) == 0
    try:
        assert main(["start", "--kind", kind]) == 0
        assert main(["url", "--kind", kind]) == 0
        first, again, found = capsys.readouterr().out.split()
        assert first == again == found
        assert answers(first)
    finally:
        assert main(["stop", "--kind", kind]) == 0
    assert not answers(first)
    assert main(["stop", "--kind", kind]) == 0
    assert capsys.readouterr().out.splitlines() == ["stopped", "no such server was running"]


def test_an_address_survives_being_written_and_read():
    url = DatabaseUrl(user="me@home", password="p/w:d?%", host="127.0.0.1", port=3307, name="wfe")
    assert DatabaseUrl.parse(str(url)) == url


@pytest.mark.parametrize("text", ["", "wfe", "postgres://me:pw@host/db", "mysql://host/db"])
def test_an_address_of_another_form_is_refused(text):
    with pytest.raises(LocalSetupError, match="mysql://user:password@host:port/name"):
        DatabaseUrl.parse(text)


def test_a_server_that_starts_leaves_the_temporary_tables_of_the_others_alone(kind):
    with running_server(kind, "fast") as one, running_server(kind, "fast") as other:
        folders = [DatabaseUrl.parse(server.url).execute("SELECT @@tmpdir") for server in (one, other)]
        assert folders == [str(Path(server.directory) / "tmp") for server in (one, other)]
